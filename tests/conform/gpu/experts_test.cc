// Mixtures of experts on the GPU: the choice against the reference, and whole models.
#include "backend/gpu/kernels/experts.h"

#include <array>

#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/run/executable.h"
#include "backend/gpu/run/memory_need.h"
#include "backend/gpu/run/webgpu_backend.h"
#include "backend/kv_cache.h"
#include "backend/ref/ops.h"
#include "backend/ref/ref_backend.h"
#include "base/bytes.h"
#include "conform/expert_model.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/gpu/small_tiles.h"

namespace tern::conform {
namespace {

using namespace wgsl;

class GpuExperts : public GpuConform {};

TEST_P(GpuExperts, RouteChoosesTheGreatestScores) {
  constexpr uint32_t kRows = 9;
  for (const auto& [n_experts, n_used] : {std::pair{7u, 3u}, {256u, 8u}, {4u, 4u}}) {
    for (const auto& [weighs_chosen, has_scale] : {std::pair{false, false}, {true, false}, {true, true}}) {
      auto scores = random(kRows * n_experts, 5);
      for (float& score : scores) score = std::round(score * 8) / 8;  // with many that are equal
      std::vector<float> expected(kRows * 2 * n_used), chosen = poisoned<float>(expected.size());
      const auto n = static_cast<int>(n_experts), used = static_cast<int>(n_used);
      const auto scale = random(n_experts, 6);
      ref::route({scores.data(),
                  kRows,
                  {.n = n, .n_used = used, .weighs_chosen = weighs_chosen},
                  expected.data(),
                  has_scale ? scale.data() : nullptr});
      const gpu::RouteConfig c{.n_experts = n_experts,
                               .n_used = n_used,
                               .weighs_chosen = weighs_chosen,
                               .workgroup = 64,
                               .has_scale = has_scale};
      bench().run(gpu::route(c), {.y = kRows}, in<F32>(scores), in<F32>(scale), out<F32>(chosen));
      for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(chosen[i], expected[i], 1e-5f) << i;
    }
  }
}

std::vector<float> magnitude(std::vector<float> values) {
  for (float& value : values) value = std::abs(value);
  return values;
}

TEST_P(GpuExperts, MixesTheResultsOfExperts) {
  constexpr int kRows = 5, kUsed = 3;
  for (const int width : {4, 100, 256}) {
    for (const bool has_shared : {false, true}) {
      const auto n = static_cast<size_t>(kRows * width);
      const auto x = random(n * kUsed, 1), chosen = random(size_t{kRows} * 2 * kUsed, 2), shared = random(n, 3),
                 gate = random(kRows, 4), before = random(n, 5);
      const auto mixed = [&](const std::vector<float>& of, const std::vector<float>& weights,
                             const std::vector<float>& beside) {
        std::vector<float> sums(n);
        ref::mix_experts({.in = of.data(),
                          .chosen = {weights.data(), kRows, kUsed},
                          .shared = has_shared ? beside.data() : nullptr,
                          .gate = gate.data(),
                          .width = width,
                          .out = sums.data()});
        return sums;
      };
      const auto expected = mixed(x, chosen, shared), terms = mixed(magnitude(x), magnitude(chosen), magnitude(shared));
      for (const gpu::Store store : {gpu::Store::kSet, gpu::Store::kAdd}) {
        const gpu::MixConfig c{
            .width = static_cast<uint32_t>(width), .n_used = kUsed, .has_shared = has_shared, .store = store};
        auto y = store == gpu::Store::kAdd ? before : poisoned<float>(n);
        bench().run(gpu::mix_experts(c), {.x = ceil_div(c.width, gpu::kElementwiseWorkgroup), .y = kRows}, in<F32>(x),
                    in<F32>(chosen), in<F32>(shared), in<F32>(gate), out<F32>(y));
        for (size_t i = 0; i < n; ++i) {
          const float should = store == gpu::Store::kAdd ? before[i] + expected[i] : expected[i];
          ASSERT_NEAR(y[i], should, 16 * kUlp * (terms[i] + std::abs(before[i]))) << width << " at " << i;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, GpuExperts, testing::ValuesIn(variants()),
                         [](const auto& info) { return info.param.name; });

// The logits of a whole model, of all tokens at once and of one after another: as on this device, as on a GPU, with
// each token's experts by themselves, and on subgroup matrices.
void expect_logits_of_the_reference(ExpertModel& model, double bound) {
  if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  Fusions fuse = Fusions::all();
  fuse.int8_on_read = false;  // activations as int8 would change which experts are chosen
  const Plan plan = make_plan(model.config, model.weights, {.fuse = fuse});
  const Plan unfused = make_plan(model.config, model.weights, {.fuse = Fusions::none()});
  const auto ref = ref::compile(unfused, {.max_batch = 16, .max_logit_rows = 16}).value();
  const std::vector<TokenId> tokens = {5, 80, 3, 411, 7, 7, 90, 1, 300, 12, 41, 9, 77, 200};
  const auto run = [&](Executable& on, size_t at_once) {
    const auto cache = on.new_cache(16, KvType::kF32).value();
    std::vector<float> all;
    for (size_t at = 0; at < tokens.size(); at += at_once) {
      const auto part = std::span(tokens).subspan(at, std::min(at_once, tokens.size() - at));
      const Slice slice{.tokens = part, .first_pos = static_cast<int>(at), .logits = WantLogits::kAll};
      const auto logits = on.run(*cache, slice).value();
      all.insert(all.end(), logits.begin(), logits.end());
    }
    return all;
  };
  const auto expected = run(*ref, tokens.size());
  std::vector<std::vector<float>> prompts;
  for (const std::vector<std::string>& without : {std::vector<std::string>{}, {"serial"}, {"serial", "expert-tiles"}}) {
    const auto compiled =
        gpu::compile(plan, {.max_batch = 16, .max_logit_rows = 16, .gpu = {.validation = true, .without = without}});
    ASSERT_TRUE(compiled) << compiled.error().message;
    prompts.push_back(run(**compiled, tokens.size()));
    EXPECT_LT(nmse(prompts.back(), expected), bound);
    EXPECT_LT(nmse(run(**compiled, 1), expected), bound);
    auto& on = static_cast<gpu::GpuExecutable&>(**compiled);
    if (without.size() != 1 || on.device().features().matrices.empty()) continue;
    on.set_layouts(with_matrices(on.device()));
    const auto on_matrices = run(on, tokens.size());
    EXPECT_LT(nmse(on_matrices, expected), std::max(bound, 1e-6));
    EXPECT_EQ(run(on, tokens.size()), on_matrices) << "again";
  }
  EXPECT_NE(prompts[1], prompts[2]) << "was anything in tiles?";
}

TEST(GpuExpertModel, ComputesFloats) {
  ExpertModel model(Format::kF32);
  expect_logits_of_the_reference(model, 1e-9);
}
TEST(GpuExpertModel, ComputesPackedWeights) {
  ExpertModel model;
  expect_logits_of_the_reference(model, 1e-4);
}
TEST(GpuExpertModel, AddsBiasesAndBoundsGates) {
  ExpertModel model(Format::kF32, /*has_biases=*/true);
  expect_logits_of_the_reference(model, 1e-9);
}

// As f16, and in tiles, every choice has a row of its own.
TEST(GpuExpertModel, NeedsMemoryForEveryChoice) {
  ExpertModel model;
  const auto need = [&](int n_used) {
    model.config.experts.n_used = n_used;
    const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
    return std::array{gpu::halves_bytes(plan, 256), gpu::expert_tiles_bytes(plan, 256),
                      gpu::memory_need(plan, {.max_batch = 256}, 0, KvType::kF16).activations};
  };
  const auto few = need(2), all = need(6);
  const auto rows = uint64_t{256} * 6;
  EXPECT_EQ(all[0], rows * 2 * static_cast<uint64_t>(model.config.experts.d_ff));
  EXPECT_GE(all[1], rows * 4 + rows * 4);  // a word and a factor
  EXPECT_GE(all[2] - few[2], all[0] - few[0] + all[1] - few[1]);
}

// The bounds of gates would hide such values.
TEST(GpuExpertModel, RefusesAScaleThatIsNoNumber) {
  if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  ExpertModel model({}, /*has_biases=*/true);
  Linear& w = model.weights.layers[1].ffn_up_exps;
  const Bytes bytes = w.data.resident();
  std::vector<std::byte> damaged(bytes.begin(), bytes.end());
  store(damaged.data() + row_bytes(w.format, w.cols) * 3, uint16_t{0x7c00});  // infinity
  w.data = std::span<const std::byte>(damaged);
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
  const auto refused = gpu::compile(plan, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kCorruption);
  EXPECT_TRUE(refused.error().message.contains("tensor " + w.name + " has values that are not finite"))
      << refused.error().message;
}

}  // namespace
}  // namespace tern::conform
