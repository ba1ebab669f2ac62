#include "base/files/system_info.h"

#include <sys/sysctl.h>

namespace tern {

CpuInfo read_cpu_info() {
  CpuInfo info;
  char name[128] = {};
  size_t size = sizeof(name) - 1;
  if (::sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0) info.name = name;
  return info;
}

// What is available is not known.
MemoryInfo read_memory_info() {
  uint64_t bytes = 0;
  size_t size = sizeof(bytes);
  if (::sysctlbyname("hw.memsize", &bytes, &size, nullptr, 0) != 0) bytes = 0;
  return {.total_bytes = bytes, .available_bytes = bytes};
}

}  // namespace tern
