#include <link.h>

#include <cstdint>
#include <filesystem>

#include "base/platform/process.h"

namespace tern::platform {
namespace {

struct Search {
  uintptr_t address = 0;
  int n_seen = 0;
  std::string name;  // as the loader has it
  bool is_program = false;
};

// The loader lists the program first.
int look_at(dl_phdr_info* module, size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  ++search.n_seen;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& segment = module->dlpi_phdr[i];
    const uintptr_t begin = module->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || search.address < begin || search.address - begin >= segment.p_memsz) continue;
    search.name = module->dlpi_name != nullptr ? module->dlpi_name : "";
    search.is_program = search.n_seen == 1;
    return 1;
  }
  return 0;
}

}  // namespace

std::string module_file(const void* address) {
  Search search;
  search.address = reinterpret_cast<uintptr_t>(address);
  if (::dl_iterate_phdr(look_at, &search) == 0) return "";
  std::error_code error;
  const bool is_program = search.is_program || search.name.empty();
  const auto path = is_program ? std::filesystem::read_symlink("/proc/self/exe", error)
                               : std::filesystem::canonical(search.name, error);
  return error ? "" : path.string();
}

}  // namespace tern::platform
