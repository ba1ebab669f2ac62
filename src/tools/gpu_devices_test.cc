#include "tools/gpu_devices.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tern {
namespace {

std::string fact(const DeviceInfo& device, std::string_view name) {
  for (const auto& [key, value] : device.facts) {
    if (key == name) return value;
  }
  return "absent";
}

TEST(GpuDevices, SaysWhatIsThere) {
  gpu::AdapterInfo adapter;
  adapter.index = 1;
  adapter.name = "Some GPU";
  adapter.driver = "driver 5";
  adapter.type = gpu::AdapterType::kDiscrete;
  adapter.limits.buffer_bytes = uint64_t{4} << 30;
  adapter.features = {.f16 = true, .subgroups = true, .subgroup_min = 32, .subgroup_max = 32, .matrices = {}};
  adapter.features.matrices = {{wgsl::MatrixTypes::kI8ToI32, 16, 16, 32}, {wgsl::MatrixTypes::kF16ToF32, 16, 16, 16}};
  const DeviceInfo device = gpu_device(adapter);
  EXPECT_EQ(device.backend, "webgpu");
  EXPECT_EQ(device.name, "Some GPU");
  EXPECT_EQ(fact(device, "index"), "1");
  EXPECT_EQ(fact(device, "driver"), "driver 5");
  EXPECT_EQ(fact(device, "shader-f16"), "found: 16-bit floats");
  EXPECT_EQ(fact(device, "subgroups"), "found: of 32");
  EXPECT_EQ(fact(device, "subgroup-matrix"), "found: i8 to i32 16x16x32, f16 to f32 16x16x16");
  EXPECT_TRUE(fact(device, "packed dot").starts_with("not found"));
  EXPECT_EQ(fact(device, "largest buffer"), "4096 MiB");
}

TEST(GpuDevices, SaysWhatIsMissing) {
  gpu::AdapterInfo adapter;
  adapter.type = gpu::AdapterType::kSoftware;
  const DeviceInfo device = gpu_device(adapter);
  EXPECT_TRUE(fact(device, "type").starts_with("software"));
  EXPECT_TRUE(fact(device, "subgroups").starts_with("not found"));
  EXPECT_TRUE(fact(device, "subgroup-matrix").starts_with("not found"));
}

TEST(GpuDevices, EveryAdapterOrTheReasonForNone) {
  const auto devices = gpu_devices();
  const auto adapters = gpu::list_adapters();
  ASSERT_EQ(devices.size(), adapters ? adapters->size() : 1);
  EXPECT_EQ(devices[0].name, adapters ? adapters->front().name : "none");
}

}  // namespace
}  // namespace tern
