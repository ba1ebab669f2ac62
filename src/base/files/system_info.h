// What the operating system reports about this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tern {

struct CpuInfo {
  std::string name;                   // "Intel(R) Xeon(R) Processor"; empty if unknown
  std::vector<std::string> features;  // the operating system kernel's names: "avx2", "asimddp"

  bool has(std::string_view feature) const;
};

struct MemoryInfo {
  uint64_t total_bytes = 0;  // 0 if unknown
  uint64_t available_bytes = 0;
};

// Parse the text of /proc/cpuinfo and /proc/meminfo.
CpuInfo parse_cpu_info(std::string_view text);
MemoryInfo parse_memory_info(std::string_view text);

// Linux names all features, other systems none. In a browser, total memory is the module's maximum, and available
// memory is what is left of it.
CpuInfo read_cpu_info();
MemoryInfo read_memory_info();

}  // namespace tern
