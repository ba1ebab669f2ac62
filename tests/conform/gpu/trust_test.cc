// Devices that pass the test of single operations, but compute a model's own matrices wrongly.
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>
#include <regex>

#include "backend/gpu/device/mutant_test_support.h"
#include "backend/gpu/run/executable.h"
#include "backend/gpu/run/webgpu_backend.h"
#include "conform/expert_model.h"
#include "conform/float_model.h"
#include "conform/gpu/small_tiles.h"
#include "plan/plan.h"
#include "support/checkout.h"

namespace tern {
namespace {

// Number of dispatches of attention on matrices.
int on_matrices = 0;

class CountingDevice : public gpu::RewritingDevice {
 public:
  using RewritingDevice::RewritingDevice;
  Result<void> submit(std::span<const gpu::Command> commands) override {
    on_matrices += static_cast<int>(std::ranges::count_if(commands, [](const gpu::Command& c) {
      return c.pipeline != nullptr && c.pipeline->module().name == "attention_on_matrices";
    }));
    return RewritingDevice::submit(commands);
  }
};

class GpuTrust : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  }

  // Compiles for a device whose kernels that match `kernels` read weights, or keys and values, from a wrong place.
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
        return std::unique_ptr<gpu::Device>(std::make_unique<CountingDevice>(std::move(device), rewrite));
      });
    });
  }
  static std::vector<float> logits_of_prompt(Executable& executable, int n_tokens) {
    const auto store = executable.new_kv_store(kKvBlock, KvType::kF16).value();
    std::vector<KvBlockId> blocks(static_cast<size_t>(kv_blocks_for(n_tokens)));
    std::iota(blocks.begin(), blocks.end(), 0);
    EXPECT_TRUE(store->reserve(static_cast<int>(blocks.size())));
    std::vector<TokenId> tokens(static_cast<size_t>(n_tokens));
    std::iota(tokens.begin(), tokens.end(), 100);
    const Slice slice{.tokens = tokens, .logits = WantLogits::kLast, .blocks = blocks, .n_ctx = n_tokens};
    const auto logits = executable.run(*store, {&slice, 1});
    EXPECT_TRUE(logits) << logits.error().message;
    return logits ? std::vector<float>(logits->begin(), logits->end()) : std::vector<float>();
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
  const Model model = open_model(source_path("models/tern-stories.gguf")).value();
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
  const auto right = compile(plan, "none");
  ASSERT_TRUE(right) << right.error().message;
  EXPECT_TRUE((*right)->gpu_adapter()->failed_tests.empty());
  expect_refused(plan, "normed_glu|ternary_glu", "blk.0.ffn_gate.weight: ");
  expect_refused(plan, "ternary_glu_matmul.*", "blk.0.ffn_gate.weight, of a prompt: ");
  expect_refused(plan, "attention.*", "attention of a prompt: ");
}

// If only attention is wrong, products stay on matrices.
TEST_F(GpuTrust, AttentionAloneLeavesMatricesOut) {
  const Model model = open_model(source_path("models/tern-stories.gguf")).value();
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
  const auto without = compile(plan, "none");
  ASSERT_TRUE(without) << without.error().message;
  const auto of_short = logits_of_prompt(**without, 20), of_long = logits_of_prompt(**without, 70);
  for (const bool is_wrong : {false, true}) {
    const auto made = compile(plan, is_wrong ? "attention_on_matrices" : "none");
    ASSERT_TRUE(made) << made.error().message;
    auto& executable = static_cast<gpu::GpuExecutable&>(**made);
    if (executable.device().features().matrices.empty()) GTEST_SKIP() << "no subgroup matrices";
    executable.set_layouts(with_matrices(executable.device()));
    const auto right = executable.check();
    EXPECT_TRUE(right) << right.error().message;
    EXPECT_TRUE(executable.gpu_adapter()->failed_tests.empty());
    // The first long prompt has attention checked before it runs; the check's dispatches are counted too.
    bool is_checked = false;
    for (const int n_tokens : {20, 70, 70}) {
      on_matrices = 0;
      const auto logits = logits_of_prompt(executable, n_tokens);
      EXPECT_EQ(on_matrices > 0, n_tokens == 70 && !(is_wrong && is_checked)) << n_tokens;
      is_checked = n_tokens == 70;
      EXPECT_EQ(executable.gpu_adapter()->failed_tests.size(), n_tokens == 70 && is_wrong ? 1u : 0u) << n_tokens;
      const std::vector<float>& expected = n_tokens == 20 ? of_short : of_long;
      ASSERT_EQ(logits.size(), expected.size());
      double error = 0, power = 0;
      for (size_t i = 0; i < logits.size(); ++i) {
        error += std::pow(logits[i] - expected[i], 2);
        power += std::pow(expected[i], 2);
      }
      EXPECT_LT(error, 0.02 * power) << n_tokens;
    }
    const auto found = executable.gpu_adapter()->failed_tests;
    ASSERT_EQ(found.size(), is_wrong ? 1u : 0u);
    if (is_wrong) {
      EXPECT_TRUE(found[0].starts_with("subgroup-matrix, in attention alone: ")) << found[0];
    }
    executable.set_layouts(with_matrices(executable.device()));  // as tuning does
    EXPECT_EQ(executable.layouts().attention_on_matrices_from == INT_MAX, is_wrong);
    executable.set_layouts(with_matrices(executable.device(), {.matrix_attention_subgroups = 2}));  // not checked yet
    EXPECT_NE(executable.layouts().attention_on_matrices_from, INT_MAX);
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

TEST_F(GpuTrust, ProductsOfExperts) {
  for (const bool has_biases : {false, true}) {
    const conform::ExpertModel model({}, has_biases);
    const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
    const auto right = compile(plan, "none");
    ASSERT_TRUE(right) << right.error().message;
    const std::string& name = model.weights.layers[0].ffn_gate_exps.name;
    expect_refused(plan, "expert_norm_glu", name + ": ");
    expect_refused(plan, "expert_glu_matmul.*", name + ", of a prompt: ");
  }
}

}  // namespace
}  // namespace tern
