// Finds the model and the other data files that come with Tern.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/result.h"
#include "engine/load/own_file.h"
#include "tern/data_folder.h"
#include "tern/engine.h"
#include "tern/version.h"

namespace tern {
namespace {

constexpr const char* kModel = "models/tern-stories.gguf";

std::atomic<const char*> data_dir = TERN_INSTALLED_DATA_DIR;

// In order of precedence: an installation that was moved, or unpacked next to another one, uses its own model.
std::vector<std::filesystem::path> data_dirs() {
  std::vector<std::filesystem::path> dirs;
  if (const std::filesystem::path file = own_file(); !file.empty()) {
    const auto above = file.parent_path().parent_path();  // the parent of PREFIX/bin or PREFIX/lib
    dirs.push_back(above / "share/tern");
    dirs.push_back(above.parent_path() / "share/tern");  // for PREFIX/lib/x86_64-linux-gnu
  }
  dirs.emplace_back(data_dir.load());
  return dirs;
}

}  // namespace

void internal::set_data_dir(const char* path) { data_dir = path; }

Result<std::string> default_model_path() {
  if (const char* path = std::getenv("TERN_MODEL"); path && *path) return std::string(path);
  const auto dirs = data_dirs();
  for (const auto& dir : dirs) {
    std::error_code error;
    if (const auto path = dir / kModel; std::filesystem::exists(path, error)) return path.string();
  }
  return fail(ErrorCode::kNotFound,
              "{}: the default model is not there, nor in {}; name a model, or set TERN_MODEL to the path of one",
              (dirs.front() / kModel).string(), dirs.back().string());
}

std::string data_folder(std::string_view name) {
  for (const auto& dir : data_dirs()) {
    std::error_code error;
    if (const auto path = dir / name; std::filesystem::is_directory(path, error)) return path.string();
  }
  return {};
}

std::string_view version() { return TERN_VERSION_STRING; }

}  // namespace tern
