#include "base/files/system_info.h"

#include <gtest/gtest.h>

namespace tern {
namespace {

constexpr std::string_view kXeon =
    "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Processor\n"
    "flags\t\t: fpu sse4_2 avx2 avx512f avx512_vnni amx_int8\n\nprocessor\t: 1\nmodel name\t: another\n";

TEST(SystemInfo, ReadsTheFirstProcessor) {
  const CpuInfo cpu = parse_cpu_info(kXeon);
  EXPECT_EQ(cpu.name, "Intel(R) Xeon(R) Processor");
  EXPECT_EQ(cpu.features.size(), 6u);
  EXPECT_TRUE(cpu.has("amx_int8"));
  EXPECT_FALSE(cpu.has("avx512"));
}

TEST(SystemInfo, ReadsArm) {
  const CpuInfo cpu = parse_cpu_info("processor : 0\nFeatures : fp asimd asimddp\nCPU part : 0xd0c\n");
  EXPECT_EQ(cpu.name, "");
  EXPECT_TRUE(cpu.has("asimddp"));
}

TEST(SystemInfo, ReadsMemory) {
  const MemoryInfo memory = parse_memory_info("MemTotal:       24576 kB\nMemFree: 1 kB\nMemAvailable:   2048 kB\n");
  EXPECT_EQ(memory.total_bytes, 24576u * 1024);
  EXPECT_EQ(memory.available_bytes, 2048u * 1024);
  EXPECT_EQ(parse_memory_info("").total_bytes, 0u);
  EXPECT_EQ(parse_cpu_info("").name, "");
}

}  // namespace
}  // namespace tern
