// Mesa's software driver lets LLVM compile kernels for the CPU that it detects. LLVM considers AMD's gathers slow, and
// without AVX-512 it turns each load of eight lanes into eight branches. A kernel with some hundred loads then has
// thousands of basic blocks and takes four times as long to compile: minutes for a test whose kernels are in no cache.
// So this file replaces the function with which the driver asks for the CPU's name: a library calls the program's
// function if both define one of that name. It returns a CPU with the same instructions and fast gathers.
#include "support/driver_cpu.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>

namespace llvm {

struct StringRef {  // laid out like LLVM's
  const char* data;
  size_t size;
};

namespace sys {
__attribute__((visibility("default"))) StringRef getHostCPUName();  // NOLINT(*-naming): LLVM's name
}
}  // namespace llvm

namespace tern {
namespace {

std::atomic<int> times_asked = 0;

// The result of the function that the library at this address would have called without this program.
llvm::StringRef ask_library(const void* caller) {
  Dl_info library = {};
  if (dladdr(caller, &library) == 0) return {"", 0};
  void* const handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return {"", 0};
  auto* const own = reinterpret_cast<llvm::StringRef (*)()>(dlsym(handle, "_ZN4llvm3sys14getHostCPUNameEv"));
  const llvm::StringRef name = own == nullptr || own == &llvm::sys::getHostCPUName ? llvm::StringRef{"", 0} : own();
  dlclose(handle);
  return name;
}

}  // namespace

int times_driver_asked_for_cpu() { return times_asked; }

std::string_view cpu_for_driver(std::string_view name) {
  constexpr std::array<std::string_view, 3> kSlowGathers = {"znver1", "znver2", "znver3"};
  return std::ranges::contains(kSlowGathers, name) ? "skylake" : name;
}

}  // namespace tern

llvm::StringRef llvm::sys::getHostCPUName() {
  ++tern::times_asked;
  const StringRef found = tern::ask_library(__builtin_return_address(0));
  const std::string_view name = tern::cpu_for_driver({found.data, found.size});
  return {name.data(), name.size()};
}
