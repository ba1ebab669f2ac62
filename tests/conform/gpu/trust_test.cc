// Devices that pass the test of single operations, but get a model's own matrices wrong.
#include <gtest/gtest.h>

#include <climits>
#include <regex>

#include "backend/gpu/device/mutant_test_support.h"
#include "backend/gpu/run/executable.h"
#include "backend/gpu/webgpu_backend.h"
#include "conform/float_model.h"
#include "plan/plan.h"

namespace tern {
namespace {

class GpuTrust : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  }

  // What becomes of a model on a device that takes weights, or keys and values, from somewhere else in these kernels.
  static Result<std::unique_ptr<Executable>> compile(const Plan& plan, const std::string& kernels) {
    return gpu::compile(plan, {.gpu = {.without = {"serial"}}}, [=](const gpu::DeviceOptions& options) {
      return gpu::open_device(options).transform([&](std::unique_ptr<gpu::Device> device) {
        const auto rewrite = [=](const wgsl::Module& module) {
          wgsl::Module wrong = module;
          if (std::regex_match(module.name, std::regex(kernels))) {
            wrong.text = std::regex_replace(module.text, std::regex(R"(\b(w|w_gate|kv)\[([^\]]+)\])"), "$1[($2) ^ 1u]");
          }
          return wrong;
        };
        return std::unique_ptr<gpu::Device>(std::make_unique<gpu::RewritingDevice>(std::move(device), rewrite));
      });
    });
  }
  static void expect_refused(const Plan& plan, const std::string& kernels, const std::string& where) {
    const auto made = compile(plan, kernels);
    ASSERT_FALSE(made) << kernels;
    EXPECT_EQ(made.error().code, ErrorCode::kNotSupported);
    EXPECT_TRUE(made.error().message.contains("computes wrongly (")) << made.error().message;
    EXPECT_TRUE(made.error().message.contains(where)) << made.error().message;
  }
};

TEST_F(GpuTrust, TernaryProducts) {
  const Model model = open_model(TERN_SOURCE_DIR "/models/tern-stories.gguf").value();
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
  const auto right = compile(plan, "none");
  ASSERT_TRUE(right) << right.error().message;
  EXPECT_TRUE((*right)->gpu_adapter()->failed_tests.empty());
  expect_refused(plan, "normed_glu|ternary_glu", "blk.0.ffn_gate.weight: ");
  expect_refused(plan, "ternary_glu_matmul.*", "blk.0.ffn_gate.weight, of a prompt: ");
  expect_refused(plan, "attention.*", "attention of a prompt: ");
}

// Then products stay on matrices.
TEST_F(GpuTrust, AttentionAloneLeavesMatricesOut) {
  const Model model = open_model(TERN_SOURCE_DIR "/models/tern-stories.gguf").value();
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
  for (const bool is_wrong : {false, true}) {
    const auto made = compile(plan, is_wrong ? "attention_on_matrices" : "none");
    ASSERT_TRUE(made) << made.error().message;
    auto& executable = static_cast<gpu::GpuExecutable&>(**made);
    if (executable.device().features().matrices.empty()) GTEST_SKIP() << "no subgroup matrices";
    executable.set_layouts({.software_matrices = true});
    const auto right = executable.check();
    EXPECT_TRUE(right) << right.error().message;
    const auto found = executable.gpu_adapter()->failed_tests;
    ASSERT_EQ(found.size(), is_wrong ? 1u : 0u);
    if (is_wrong) {
      EXPECT_TRUE(found[0].starts_with("subgroup-matrix, in attention alone: ")) << found[0];
    }
    executable.set_layouts({.software_matrices = true});  // as tuning does
    EXPECT_EQ(executable.layouts().attention_on_matrices_from == INT_MAX, is_wrong);
  }
}

TEST_F(GpuTrust, FloatProducts) {
  const conform::FloatModel model;
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
  const auto right = compile(plan, "none");
  ASSERT_TRUE(right) << right.error().message;
  expect_refused(plan, "float_glu", "");
  expect_refused(plan, "float_glu_matmul.*", ", of a prompt: ");
  expect_refused(plan, "float_linear.*", "");
}

}  // namespace
}  // namespace tern
