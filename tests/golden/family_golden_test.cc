// Logits of small random models of every family compared with Hugging Face transformers (make_family_goldens.py).
#include <gtest/gtest.h>

#include "golden/golden_support.h"

namespace tern::golden {
namespace {

// The weights are f16, which every backend multiplies without conversion, so only float rounding remains. The ternary
// models' seeds keep activations far from the middle between two int8 values.
constexpr double kMostError = 1e-9;

TEST(FamilyGolden, ReferenceAgreesWithTransformers) {
  const auto goldens = read_goldens("families");
  ASSERT_GE(goldens.size(), 33u);
  for (const Golden& golden : goldens) {
    const auto logits = compute_logits(golden, {{.backend = BackendKind::kRef}});
    EXPECT_LT(nmse(logits, golden.logits), kMostError) << golden.name;
    expect_same_top1(golden, logits);
  }
}

TEST(FamilyGolden, CpuAgreesWithTransformers) {
  for (const Golden& golden : read_goldens("families")) {
    for (const bool fuse : {false, true}) {
      for (const int max_batch : {1, 5, 32}) {
        const auto logits = compute_logits(
            golden, {{.backend = BackendKind::kCpu, .n_threads = 2, .max_batch = max_batch, .fuse = fuse}});
        EXPECT_LT(nmse(logits, golden.logits), kMostError) << golden.name;
        expect_same_top1(golden, logits);
      }
    }
  }
}

TEST(FamilyGolden, GpuAgreesWithTransformers) {
  const auto goldens = read_goldens("families");
  const auto probe = Engine::load({.backend = BackendKind::kWebGpu});
  if (!probe) GTEST_SKIP() << probe.error().message;  // no GPU, or no such backend in this build
  // Vectors; float matrices; and the GPU's own matrices, if it has any, which round activations to f16: by 2^-11 each,
  // about 8e-8 in each of some fifteen products.
  const struct {
    int max_batch;
    std::vector<std::string> without;
    double most_error;
  } ways[] = {{1, {}, 1e-7}, {32, {"subgroup-matrix"}, 1e-7}, {32, {}, 3e-6}};
  for (const Golden& golden : goldens) {
    for (const bool fuse : {false, true}) {
      for (const auto& way : ways) {
        if (!fuse && way.most_error > 1e-7) continue;
        const auto logits = compute_logits(golden, {{.backend = BackendKind::kWebGpu,
                                                     .max_batch = way.max_batch,
                                                     .fuse = fuse,
                                                     .gpu = {.validation = true, .without = way.without}}});
        EXPECT_LT(nmse(logits, golden.logits), way.most_error) << golden.name << ", " << way.max_batch << " at once";
        expect_same_top1(golden, logits);
      }
    }
  }
}

// The last layer on the GPU, the others on the CPU.
TEST(FamilyGolden, DividedLayersAgreeWithTransformers) {
  const auto probe = Engine::load({.backend = BackendKind::kWebGpu});
  if (!probe) GTEST_SKIP() << probe.error().message;
  int n_divided = 0;
  for (const Golden& golden : read_goldens("families")) {
    const golden::Run run{.load = {.n_threads = 2,
                                   .max_batch = 32,
                                   .gpu_layers = 1,
                                   .gpu = {.adapter = probe->info().adapter->name, .without = {"subgroup-matrix"}}}};
    const auto logits = compute_logits(golden, run);
    EXPECT_LT(nmse(logits, golden.logits), 1e-7) << golden.name;
    expect_same_top1(golden, logits);
    LoadOptions load = run.load;
    load.model_path = golden.model_path;
    n_divided += Engine::load(load).value().info().backend.starts_with("layers on both") ? 1 : 0;
  }
  EXPECT_GE(n_divided, 25);
}

}  // namespace
}  // namespace tern::golden
