#include "base/files/system_info.h"

#include "base/files/mapped_file.h"

namespace tern {

CpuInfo read_cpu_info() { return parse_cpu_info(read_text_file("/proc/cpuinfo").value_or("")); }
MemoryInfo read_memory_info() { return parse_memory_info(read_text_file("/proc/meminfo").value_or("")); }

}  // namespace tern
