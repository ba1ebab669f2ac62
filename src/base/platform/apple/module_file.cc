#include <dlfcn.h>

#include <filesystem>

#include "base/platform/process.h"

namespace tern::platform {

std::string module_file(const void* address) {
  Dl_info info = {};
  if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code error;
  const auto path = std::filesystem::canonical(info.dli_fname, error);
  return error ? "" : path.string();
}

}  // namespace tern::platform
