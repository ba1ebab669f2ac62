// What the operating system says of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tern {

struct CpuInfo {
  std::string name;                   // "Intel(R) Xeon(R) Processor"; empty where unknown
  std::vector<std::string> features;  // as the kernel spells them: "avx2", "asimddp"

  bool has(std::string_view feature) const;
};

struct MemoryInfo {
  uint64_t total_bytes = 0;  // 0 where unknown
  uint64_t available_bytes = 0;
};

// From the text of /proc/cpuinfo and /proc/meminfo.
CpuInfo parse_cpu_info(std::string_view text);
MemoryInfo parse_memory_info(std::string_view text);

// Empty on systems without /proc. In a browser, memory is what the module may grow to and what of that it has not yet.
CpuInfo read_cpu_info();
MemoryInfo read_memory_info();

}  // namespace tern
