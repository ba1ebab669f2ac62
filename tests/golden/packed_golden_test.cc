// One small Qwen3 model in every packed format, in files that llama.cpp wrote (make_packed_goldens.py).
#include <gtest/gtest.h>

#include "golden/golden_support.h"

namespace tern::golden {
namespace {

// With float activations, as the model is defined.
TEST(PackedGolden, ReferenceGivesWhatTheBytesStandFor) {
  const auto goldens = read_goldens("packed");
  ASSERT_EQ(goldens.size(), 7u);
  for (const Golden& golden : goldens) {
    const auto logits = compute_logits(golden, {{.backend = BackendKind::kRef, .fuse = false}});
    EXPECT_LT(nmse(logits, golden.logits), 1e-9) << golden.name;
    expect_same_top1(golden, logits);
  }
}

// With activations quantized in blocks of 32, like llama.cpp's: as close to the exact logits as llama.cpp is, and as
// close to llama.cpp's logits as two such roundings are to each other.
TEST(PackedGolden, CpuIsAsCloseAsLlamaCpp) {
  for (const Golden& golden : read_goldens("packed")) {
    for (const int max_batch : {1, 5, 32}) {
      const auto logits =
          compute_logits(golden, {{.backend = BackendKind::kCpu, .n_threads = 2, .max_batch = max_batch}});
      EXPECT_LT(nmse(logits, golden.logits), 1.5 * golden.llama_nmse) << golden.name;
      EXPECT_LT(nmse(logits, golden.llama_logits), 2.5 * golden.llama_nmse) << golden.name;
    }
  }
}

// Without fused steps the logits are nearly exact. With them, kernels for a few tokens quantize activations too, so the
// CPU's bounds apply.
TEST(PackedGolden, GpuGivesWhatTheBytesStandFor) {
  const auto goldens = read_goldens("packed");
  const auto probe = Engine::load({.backend = BackendKind::kWebGpu});
  if (!probe) GTEST_SKIP() << probe.error().message;  // no GPU, or no such backend in this build
  for (const Golden& golden : goldens) {
    for (const int max_batch : {1, 32}) {  // vectors, then matrices
      const auto exact =
          compute_logits(golden, {{.backend = BackendKind::kWebGpu, .max_batch = max_batch, .fuse = false}});
      EXPECT_LT(nmse(exact, golden.logits), max_batch == 1 ? 1e-7 : 1e-5) << golden.name;
      const auto logits = compute_logits(golden, {{.backend = BackendKind::kWebGpu, .max_batch = max_batch}});
      EXPECT_LT(nmse(logits, golden.logits), 1.5 * golden.llama_nmse) << golden.name;
      EXPECT_LT(nmse(logits, golden.llama_logits), 2.5 * golden.llama_nmse) << golden.name;
    }
  }
}

}  // namespace
}  // namespace tern::golden
