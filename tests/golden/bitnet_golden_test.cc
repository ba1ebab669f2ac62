// Logits of small random BitNet models compared with Hugging Face transformers (tests/golden/bitnet/README.md).
#include <gtest/gtest.h>

#include "golden/golden_support.h"

namespace tern::golden {
namespace {

// The seeds of these models keep every activation far from the middle between two int8 values. So every float32
// computation has the same integers, and only float rounding remains.
TEST(BitnetGolden, ReferenceAgreesWithTransformers) {
  for (const Golden& golden : read_goldens("bitnet"))
    expect_close(golden, compute_logits(golden, {{.backend = BackendKind::kRef}}));
}

TEST(BitnetGolden, CpuAgreesWithTransformers) {
  const auto goldens = read_goldens("bitnet");
  ASSERT_GE(goldens.size(), 4u);
  for (const Golden& golden : goldens) {
    for (const bool fuse : {false, true}) {
      for (const int n_threads : {1, 3}) {
        const auto logits =
            compute_logits(golden, {{.backend = BackendKind::kCpu, .n_threads = n_threads, .fuse = fuse}});
        expect_close(golden, logits);
        expect_same_top1(golden, logits);
        EXPECT_LT(nmse(logits, golden.logits), 1e-9) << golden.name;
      }
    }
  }
}

TEST(BitnetGolden, GpuAgreesWithTransformers) {
  const auto goldens = read_goldens("bitnet");
  const auto probe = Engine::load({.model_path = goldens[0].model_path, .backend = BackendKind::kWebGpu});
  if (!probe) GTEST_SKIP() << probe.error().message;  // no GPU, or no such backend in this build
  for (const Golden& golden : goldens) {
    for (const bool fuse : {false, true}) {
      for (const int max_batch : {1, 16}) {  // vectors, then matrices
        const auto logits = compute_logits(
            golden,
            {{.backend = BackendKind::kWebGpu, .max_batch = max_batch, .fuse = fuse, .gpu = {.validation = true}}});
        expect_close(golden, logits);
        expect_same_top1(golden, logits);
      }
    }
  }
}

// An f16 cache changes keys and values by up to 2⁻¹² of their value. That alone changes logits little, but it moves
// some activations to the next int8 value. One such step moves a logit of these tiny models by 0.2
// (`one_flip_median_change`) of about 5. Hence 1e-3 here; a wrong weight or step gives 1e-1 and more.
TEST(BitnetGolden, AnF16CacheStaysClose) {
  for (const Golden& golden : read_goldens("bitnet")) {
    const auto logits = compute_logits(golden, {{.backend = BackendKind::kCpu}, KvType::kF16});
    EXPECT_LT(nmse(logits, golden.logits), 1e-3) << golden.name;
    expect_same_top1(golden, logits);
  }
}

// Thread counts, batch sizes and fusion affect only speed: no bit of the result may depend on them.
TEST(BitnetGolden, ResultsAreIdenticalHoweverTheyAreComputed) {
  for (const Golden& golden : read_goldens("bitnet")) {
    const auto expected = compute_logits(golden, {{.backend = BackendKind::kCpu, .n_threads = 1}});
    for (const int n_threads : {2, 5}) {
      for (const int max_batch : {1, 3, 16}) {
        EXPECT_EQ(
            compute_logits(golden, {{.backend = BackendKind::kCpu, .n_threads = n_threads, .max_batch = max_batch}}),
            expected);
      }
    }
    EXPECT_EQ(compute_logits(golden, {{.backend = BackendKind::kCpu, .n_threads = 2, .fuse = false}}), expected);
  }
}

}  // namespace
}  // namespace tern::golden
