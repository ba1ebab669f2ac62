#include "backend/gpu/record/kernel_folder.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/files/mapped_file.h"
#include "base/fnv1a.h"
#include "base/text/format_text.h"

namespace fs = std::filesystem;

namespace tern::gpu {
namespace {

Result<void> write_file(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out) return {};
  return fail(ErrorCode::kIo, "{}: cannot write the kernel: {}", path.string(), std::strerror(errno));
}

Result<std::string> read_file(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return fail(ErrorCode::kIo, "{}: not a file; remove it", path.string());
  TRY(std::string text, read_text_file(path.string()));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return fail(ErrorCode::kCorruption, "{}: the kernel is empty; remove the file to have it written again",
                path.string());
  }
  return text;
}

class EditedKernels final : public KernelFolder {
 public:
  using KernelFolder::KernelFolder;
  Result<const Pipeline*> pipeline(Device& device, const wgsl::Module& module) override;

 private:
  std::map<std::string, const Pipeline*> loaded_;  // by file name
};

Result<const Pipeline*> EditedKernels::pipeline(Device& device, const wgsl::Module& module) {
  const std::string file = format_text("{}-{:016x}.wgsl", module.name, fnv1a(module.text));
  if (const auto found = loaded_.find(file); found != loaded_.end()) return found->second;
  const fs::path path = fs::path(path_) / file;
  wgsl::Module edited = module;
  std::error_code ignored;  // if the path cannot be read, writing to it reports why
  if (fs::exists(path, ignored)) {
    TRY(edited.text, read_file(path));
  } else {
    TRY_STATUS(write_file(path, module.text));
  }
  auto pipeline = device.pipeline(edited);
  if (!pipeline) {
    Error error = pipeline.error();
    if (error.code != ErrorCode::kDeviceLost && edited.text != module.text) error.code = ErrorCode::kCorruption;
    error.message = path.string() + ": " + error.message;
    return std::unexpected(std::move(error));
  }
  return loaded_[file] = *pipeline;
}

}  // namespace

std::unique_ptr<KernelFolder> edited_kernels(const std::string& folder) {
  return std::make_unique<EditedKernels>(folder);
}

}  // namespace tern::gpu
