#include <gtest/gtest.h>

#include <algorithm>

#include "tools/cpu_features.h"
#include "tools/tools_test_support.h"

namespace tern {
namespace {

constexpr std::string_view kXeon =
    "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Processor\n"
    "flags\t\t: fpu sse4_2 avx2 avx512f avx512_vnni amx_int8\n\nprocessor\t: 1\nmodel name\t: another\n";

std::string fact(const std::vector<std::pair<std::string, std::string>>& facts, std::string_view name) {
  for (const auto& [key, value] : facts) {
    if (key == name) return value;
  }
  return "absent";
}

TEST(FeatureFacts, SaysWhatIsUsedAndWhy) {
  const auto facts = feature_facts(parse_cpu_info(kXeon), "avx512vnni", false);
  EXPECT_EQ(fact(facts, "avx2"), "found, used: 256-bit vectors");
  EXPECT_TRUE(fact(facts, "avx512_vnni").starts_with("found, used"));
  EXPECT_EQ(fact(facts, "amx_int8"),
            "found, not used: the kernels that use it need other features that this machine lacks");
  EXPECT_EQ(fact(facts, "avx_vnni"), "not found");
  EXPECT_EQ(fact(facts, "asimd"), "absent");
}

TEST(FeatureFacts, AnOlderTargetUsesLess) {
  const auto facts = feature_facts(parse_cpu_info(kXeon), "avx2", false);
  EXPECT_TRUE(fact(facts, "avx2").starts_with("found, used"));
  EXPECT_TRUE(fact(facts, "avx512f").starts_with("found, not used"));
  EXPECT_EQ(feature_facts({}, "avx2", false).size(), 1u);
}

TEST(Devices, TheCpuIsThere) {
  const auto devices = list_devices();
  const auto cpu = std::ranges::find(devices, "cpu", &DeviceInfo::backend);
  ASSERT_NE(cpu, devices.end());
  EXPECT_NE(fact(cpu->facts, "kernels"), "absent");
  EXPECT_NE(fact(cpu->facts, "memory"), "absent");
  const auto gpu = std::ranges::find(devices, "webgpu", &DeviceInfo::backend);
  ASSERT_NE(gpu, devices.end());
#if TERN_HAVE_WEBGPU
  EXPECT_NE(gpu->name, "not part of this build");
#else
  EXPECT_EQ(gpu->name, "not part of this build");
#endif
}

TEST(Devices, SaysWhatAModelNeeds) {
  const auto devices = list_devices_for(kDefaultModel).value();
  EXPECT_EQ(devices.size(), list_devices().size());
  EXPECT_EQ(fact(devices.front().facts, "fits"), "yes");
  const uint64_t file_bytes = std::filesystem::file_size(kDefaultModel);
  EXPECT_EQ(fact(devices.front().facts, "model file"), std::to_string(file_bytes >> 20) + " MiB");
  EXPECT_EQ(fact(devices.front().facts, "KV cache"), "5 MiB for 1024 tokens of context, in f16");
  EXPECT_EQ(fact(list_devices_for(kDefaultModel, KvType::kF32)->front().facts, "KV cache"),
            "10 MiB for 1024 tokens of context, in f32");
  EXPECT_EQ(fact(list_devices().front().facts, "fits"), "absent");
  EXPECT_EQ(list_devices_for("/nowhere.gguf").error().code, ErrorCode::kNotFound);
}

// The reported kernels are those that an engine on this machine uses.
TEST(Devices, NamesTheKernelsThatRun) {
  const SynthModel file;
  const auto engine = Engine::load({.model_path = file.str(), .backend = BackendKind::kCpu, .n_threads = 1}).value();
  const std::string kernels = fact(list_devices().front().facts, "kernels");
  const std::string target = kernels.substr(0, kernels.find(';'));
  EXPECT_NE(engine.info().backend.find(target), std::string::npos) << engine.info().backend << " " << kernels;
}

}  // namespace
}  // namespace tern
