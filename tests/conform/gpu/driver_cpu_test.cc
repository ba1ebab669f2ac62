#include "support/driver_cpu.h"

#include <gtest/gtest.h>

#include "backend/gpu/device/device.h"

namespace tern {
namespace {

TEST(DriverCpu, IsOneWhoseGathersAreFast) {
  EXPECT_EQ(cpu_for_driver("znver1"), "skylake");
  EXPECT_EQ(cpu_for_driver("znver3"), "skylake");
  EXPECT_EQ(cpu_for_driver("znver4"), "znver4");
  EXPECT_EQ(cpu_for_driver("haswell"), "haswell");
}

// If the driver stops asking for the CPU this way, tests take minutes instead of seconds on some machines.
TEST(DriverCpu, IsWhatTheSoftwareDriverAsksFor) {
  gpu::DeviceOptions options;
  options.adapter = "llvmpipe";
  const auto device = gpu::open_device(options);
  if (!device) GTEST_SKIP() << device.error().message;
  EXPECT_GT(times_driver_asked_for_cpu(), 0);
}

}  // namespace
}  // namespace tern
