#include "engine/load/own_file.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <system_error>

namespace tern {

std::string own_file() {
  // The program itself has an empty name in the list of loaded modules.
  Dl_info info = {};
  const link_map* module = nullptr;
  const bool known = dladdr1(reinterpret_cast<const void*>(&own_file), &info,
                             reinterpret_cast<void**>(const_cast<link_map**>(&module)), RTLD_DL_LINKMAP) != 0;
  std::error_code error;
  if (known && module && module->l_name && *module->l_name) {
    const auto path = std::filesystem::canonical(module->l_name, error);
    return error ? std::string() : path.string();
  }
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : program.string();
}

}  // namespace tern
