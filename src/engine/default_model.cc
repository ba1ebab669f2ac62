// Where the model that comes with Tern lies.
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/result.h"
#include "tern/engine.h"

namespace tern {

Result<std::string> default_model_path() {
  if (const char* path = std::getenv("TERN_MODEL"); path && *path) return std::string(path);
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto path = program.parent_path().parent_path() / "share/tern/models/tern-stories.gguf";
  if (!error && std::filesystem::exists(path, error)) return path.string();
  return fail(ErrorCode::kNotFound, "{}: the default model is not there; name a model with -m FILE", path.string());
}

std::string_view version() { return "0.1.0"; }

}  // namespace tern
