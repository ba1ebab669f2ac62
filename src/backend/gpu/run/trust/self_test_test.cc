// Devices that compute wrong results on purpose, to simulate faulty shader compilers.
#include "backend/gpu/run/trust/self_test.h"

#include <regex>

#include "backend/gpu/device/device_test_support.h"
#include "backend/gpu/device/mutant_test_support.h"

namespace tern::gpu {
namespace {

// A compiler that replaces one text with another in every kernel.
OpenDevice compiler_that_takes(const std::string& find, const std::string& replace) {
  return [=](const DeviceOptions& options) -> Result<std::unique_ptr<Device>> {
    TRY(auto device, open_device(options));
    return std::make_unique<RewritingDevice>(std::move(device), [=](const wgsl::Module& module) {
      wgsl::Module wrong = module;
      wrong.text = std::regex_replace(module.text, std::regex(find), replace);
      return wrong;
    });
  };
}

class SelfTests : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto adapters = list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  }
};

TEST_F(SelfTests, RightDevicesPass) {
  for (const Restrictions& without : {Restrictions{}, Restrictions{.f16 = true, .subgroups = true, .packed_dot = true},
                                      Restrictions{.default_limits = true}}) {
    const auto trusted = open_trusted({.validation = true, .without = without}, open_device);
    ASSERT_TRUE(trusted) << trusted.error().message;
    EXPECT_TRUE(trusted->findings.empty()) << trusted->findings.front();
    EXPECT_EQ(trusted->device->features().f16, trusted->device->adapter().features.f16 && !without.f16);
  }
}

struct Fault {
  const char* name;
  const char *find, *replace;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }  // NOLINT(readability-identifier-naming)

// Faults in what every kernel needs.
class FatalFaults : public SelfTests, public testing::WithParamInterface<Fault> {};
TEST_P(FatalFaults, AreRefused) {
  const auto [name, find, replace] = GetParam();
  const auto trusted = open_trusted({.validation = true}, compiler_that_takes(find, replace));
  ASSERT_FALSE(trusted) << name;
  EXPECT_EQ(trusted.error().code, ErrorCode::kNotSupported);
  EXPECT_TRUE(trusted.error().message.contains("computes wrongly (shaders: ")) << trusted.error().message;
  EXPECT_TRUE(trusted.error().message.contains("use the cpu backend")) << trusted.error().message;
}
INSTANTIATE_TEST_SUITE_P(Gpu, FatalFaults,
                         testing::Values(Fault{"bitcast_to_f32", R"(bitcast<f32>\()", "f32("},
                                         Fault{"bitcast_to_u32", R"(bitcast<u32>\()", "u32("},
                                         Fault{"bitcast_of_vectors", R"(bitcast<vec4<f32>>\()", "vec4<f32>("},
                                         Fault{"unpack", R"(unpack2x16float\()", "unpack2x16snorm("},
                                         Fault{"shift", R"(bitcast<i32>\(([^()]*)\))", "i32($1 & 0x7FFFFFFFu)"},
                                         Fault{"round", R"(= bitcast<u32>\(round\()", "= bitcast<u32>(ceil("},
                                         Fault{"barrier", R"(part\[tid\] = (\w+) \+ \w+;)", "part[tid] = $1;"},
                                         Fault{"exp", R"(exp\(([a-z]+)\))", "exp($1 * 1.001f)"},
                                         Fault{"no_text", "fn self_test_basics", "fn something_else"}),
                         [](const auto& fault) { return std::string(fault.param.name); });

TEST_F(SelfTests, WrongFeaturesAreLeftOut) {
  const auto right = open_device({});
  ASSERT_TRUE(right) << right.error().message;
  const Features& has = (*right)->features();
  const struct {
    std::string feature, find, replace;
    bool has;
    bool (*left_out)(const Features&);
  } faults[] = {
      {"dot4", R"(dot4I8Packed\()", "2i * dot4I8Packed(", has.packed_dot,
       [](const Features& f) { return !f.packed_dot; }},
      {"f16", R"(f32\((x\[[67]u\])\))", "f32($1 + 1h)", has.f16, [](const Features& f) { return !f.f16; }},
      {"subgroups", R"(subgroupShuffleXor\(([a-z_0-9]+), )", "subgroupShuffleXor($1, 2u * ", has.subgroups,
       [](const Features& f) { return !f.subgroups; }},
  };
  for (const auto& fault : faults) {
    if (!fault.has) continue;
    const auto trusted = open_trusted({}, compiler_that_takes(fault.find, fault.replace));
    ASSERT_TRUE(trusted) << fault.feature << ": " << trusted.error().message;
    ASSERT_EQ(trusted->findings.size(), 1u) << fault.feature;
    EXPECT_TRUE(trusted->findings[0].starts_with(fault.feature + ": ")) << trusted->findings[0];
    EXPECT_TRUE(fault.left_out(trusted->device->features())) << fault.feature;
  }
}

}  // namespace
}  // namespace tern::gpu
