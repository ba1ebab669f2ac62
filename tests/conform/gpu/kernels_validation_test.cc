// Every kernel's golden text, compiled by Dawn and checked against the limits that every WebGPU device has.
#include <gtest/gtest.h>

#include <set>

#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/golden/golden_cases_test_support.h"

namespace tern::gpu {
namespace {

TEST(KernelTexts, AreValid) {
  const auto device = open_validation_device();
  ASSERT_TRUE(device) << device.error().message;
  for (const GoldenCase& c : golden_cases()) {
    if (c.module.needs.storage_buffers > (*device)->limits().storage_buffers) {
      // Recorders ask for the buffers of these, which tests/conform/gpu compiles on the device that is there.
      EXPECT_TRUE(c.file.contains("_leaving.") || c.file.contains("expert_norm_glu.")) << c.file;
      continue;
    }
    const auto pipeline = (*device)->pipeline(c.module);
    EXPECT_TRUE(pipeline) << c.file << ": " << pipeline.error().message;
  }
}

// A kernel that needs no optional feature runs everywhere.
TEST(KernelTexts, AskForNothingWithoutCapabilities) {
  for (const GoldenCase& c : golden_cases()) {
    const wgsl::Requirements& needs = c.module.needs;
    EXPECT_LE(needs.storage_buffers, 10u) << c.file;
    if (!c.file.contains(".none.")) continue;
    EXPECT_FALSE(needs.f16 || needs.subgroups || needs.packed_dot || needs.subgroup_matrix) << c.file;
    EXPECT_LE(needs.workgroup_bytes, 32u << 10) << c.file;
    EXPECT_LE(needs.invocations, 256u) << c.file;
  }
}

}  // namespace
}  // namespace tern::gpu
