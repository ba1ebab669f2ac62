#include "tools/gpu_devices.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/checkout.h"

namespace tern {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string fact(const Facts& facts, std::string_view name) {
  for (const auto& [key, value] : facts) {
    if (key == name) return value;
  }
  return "absent";
}
std::string fact(const DeviceInfo& device, std::string_view name) { return fact(device.facts, name); }

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

// The model that comes with Tern has 16 MB of weights and an f16 KV cache of 1,024 tokens in every layer.
TEST(GpuDevices, SaysWhetherAModelFits) {
  const Model model = open_model(source_path("models/tern-stories.gguf")).value();
  gpu::AdapterInfo adapter;
  adapter.limits.binding_bytes = 128u << 20;
  adapter.memory_bytes = uint64_t{1} << 30;
  const Facts facts = gpu_needs(adapter, model, KvType::kF16);
  EXPECT_EQ(fact(facts, "model weights"), "15 MiB");
  const uint64_t kv_bytes = uint64_t{4} * static_cast<uint64_t>(model.config.n_layers * model.config.kv_width()) * 1024;
  EXPECT_EQ(fact(facts, "KV cache"), std::to_string(kv_bytes >> 20) + " MiB for 1024 tokens of context, in f16");
  EXPECT_EQ(fact(gpu_needs(adapter, model, KvType::kF32), "KV cache"),
            std::to_string(kv_bytes >> 19) + " MiB for 1024 tokens of context, in f32");
  EXPECT_EQ(fact(facts, "fits"), "yes");
  EXPECT_EQ(fact(facts, "states"), "absent");
  const Model recurrent = open_model(source_path("tests/golden/families/qwen35.gguf")).value();
  EXPECT_EQ(fact(gpu_needs(adapter, recurrent, KvType::kF16), "states"), "0 MiB for one conversation");

  adapter.memory_bytes = 8u << 20;
  EXPECT_EQ(fact(gpu_needs(adapter, model, KvType::kF16), "fits"), "no: the GPU has 8 MiB");
  adapter.memory_bytes = 0;
  EXPECT_TRUE(fact(gpu_needs(adapter, model, KvType::kF16), "fits").starts_with("unknown"));
  adapter.limits.binding_bytes = 1024;
  EXPECT_TRUE(fact(gpu_needs(adapter, model, KvType::kF16), "fits").ends_with("one binding may have at most 0 MiB"));
}

}  // namespace
}  // namespace tern
