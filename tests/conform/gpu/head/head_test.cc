// The argmax that feeds the next token.
#include <algorithm>
#include <limits>

#include "backend/gpu/kernels/head/argmax.h"
#include "conform/gpu/gpu_bench.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using GpuHead = GpuConform;
TERN_FOR_EVERY_VARIANT(GpuHead);

struct Chosen {
  uint32_t token, pos, step;
  std::vector<uint32_t> tokens, ids;
};

Chosen choose_with(GpuBench& bench, const std::vector<float>& logits, uint32_t step, bool serial) {
  constexpr uint32_t kRing = 8;
  gpu::ArgmaxConfig config{.n = static_cast<uint32_t>(logits.size()), .ring = kRing, .serial = serial};
  if (serial) config.workgroup = 16;
  auto values = poisoned<float>(config.parts);
  auto indices = poisoned<uint32_t>(config.parts);
  std::vector<uint32_t> params = {1, 7, step, 20, 30, 40};
  bench.run(gpu::argmax_parts(config), {.x = config.workgroups()}, in<F32>(logits), out<F32>(values), out<U32>(indices),
            out<U32>(params));
  EXPECT_EQ(params, (std::vector<uint32_t>{1, 7, step + 1, 20, 30, 40}));
  std::vector<uint32_t> tokens = poisoned<uint32_t>(3), ids = poisoned<uint32_t>(kRing);
  bench.run(gpu::argmax_next(config), {}, in<F32>(values), in<U32>(indices), out<U32>(tokens), out<U32>(ids),
            out<U32>(params));
  EXPECT_EQ(params[gpu::kNTokens], 1u);
  EXPECT_EQ(params[gpu::kLogitRows], 7u);
  EXPECT_EQ(tokens[1], kPoison);
  EXPECT_EQ(tokens[2], kPoison);
  for (uint32_t i = 0; i < kRing; ++i) EXPECT_EQ(ids[i], i == step % kRing ? tokens[0] : kPoison) << i;
  EXPECT_EQ(params, (std::vector<uint32_t>{1, 7, step + 1, 21, 30, 40}));
  return {tokens[0], params[gpu::kFirstRow + gpu::kRowPos], params[gpu::kStep], tokens, ids};
}

Chosen choose(GpuBench& bench, const std::vector<float>& logits, uint32_t step = 5) {
  const Chosen chosen = choose_with(bench, logits, step, false);
  EXPECT_EQ(choose_with(bench, logits, step, true).token, chosen.token) << "serial";
  return chosen;
}

TEST_P(GpuHead, ArgmaxFindsTheGreatest) {
  for (const size_t n : {1u, 2u, 63u, 64u, 65u, 1000u, 8192u, 20001u}) {
    std::vector<float> logits(n);
    Values values(n);
    values.fill(logits);
    for (const size_t at : {size_t{0}, n / 3, n - 1}) {
      auto with_peak = logits;
      with_peak[at] = 100;
      EXPECT_EQ(choose(bench(), with_peak, static_cast<uint32_t>(n)).token, at) << n;
    }
    EXPECT_EQ(choose(bench(), logits).token, std::ranges::max_element(logits) - logits.begin()) << n;
  }
}

TEST_P(GpuHead, ArgmaxTakesTheFirstOfEquals) {
  std::vector<float> logits(8192, -3.0f);
  EXPECT_EQ(choose(bench(), logits).token, 0u);
  // Ties in different parts, in different invocations of one part, and in neighboring rounds of one invocation.
  for (const auto& [a, b] : {std::pair{200, 8000}, {130, 131}, {5, 100}, {7000, 7001}}) {
    auto tied = logits;
    tied[static_cast<size_t>(a)] = tied[static_cast<size_t>(b)] = 2;
    EXPECT_EQ(choose(bench(), tied).token, static_cast<uint32_t>(a));
  }
  std::vector<float> large(100000, -1.0f);  // each invocation reads several logits of each part
  large[70000] = large[70256] = large[70511] = 1;
  EXPECT_EQ(choose(bench(), large).token, 70000u);
}

// Each row gets its own token and advances at its own position. All rows share the step.
TEST_P(GpuHead, ArgmaxOfEveryRow) {
  constexpr uint32_t kRing = 4, kRows = 3, kStep = 6, kWidth = 1000;
  std::vector<float> logits(size_t{kRows} * kWidth);
  Values values(5);
  values.fill(logits);
  const std::vector<uint32_t> peaks = {999, 0, 500};
  for (uint32_t row = 0; row < kRows; ++row) logits[row * kWidth + peaks[row]] = 100;
  for (const bool serial : {false, true}) {
    gpu::ArgmaxConfig config{.n = kWidth, .ring = kRing, .serial = serial};
    if (serial) config.workgroup = 16;
    auto best = poisoned<float>(size_t{kRows} * config.parts);
    auto best_at = poisoned<uint32_t>(size_t{kRows} * config.parts);
    std::vector<uint32_t> params = {kRows, 12, kStep, 20, 30, 40, 50, 60, 70, 80, 90, 100, kRows, 0, 1, 2};
    auto moved_on = params;
    moved_on[gpu::kStep] = kStep + 1;
    for (uint32_t row = 0; row < kRows; ++row) ++moved_on[gpu::kFirstRow + gpu::kRowWords * row + gpu::kRowPos];
    std::vector<uint32_t> tokens = poisoned<uint32_t>(kRows), ids = poisoned<uint32_t>(size_t{kRing} * kRows);
    bench().run(gpu::argmax_parts(config), {.x = config.workgroups(), .y = kRows}, in<F32>(logits), out<F32>(best),
                out<U32>(best_at), out<U32>(params));
    bench().run(gpu::argmax_next(config), {.y = kRows}, in<F32>(best), in<U32>(best_at), out<U32>(tokens),
                out<U32>(ids), out<U32>(params));
    EXPECT_EQ(params, moved_on);
    EXPECT_EQ(tokens, peaks);
    auto expected = poisoned<uint32_t>(size_t{kRing} * kRows);
    std::ranges::copy(peaks, expected.begin() + kStep % kRing * kRows);
    EXPECT_EQ(ids, expected);
  }
}

TEST_P(GpuHead, ArgmaxIsNeverNaN) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  std::vector<float> logits(300, kNan);
  EXPECT_EQ(choose(bench(), logits).token, 0u) << "all NaN";
  logits[17] = -5;
  EXPECT_EQ(choose(bench(), logits).token, 17u) << "one number among NaNs";
  logits[200] = -4;
  EXPECT_EQ(choose(bench(), logits).token, 200u);
  EXPECT_EQ(choose(bench(), std::vector<float>(300, -kInf)).token, 0u) << "all −∞";
  std::vector<float> low(300, -kInf);
  low[123] = -1e30f;
  EXPECT_EQ(choose(bench(), low).token, 123u) << "one number among −∞";
  low[250] = kInf;
  EXPECT_EQ(choose(bench(), low).token, 250u) << "+∞";
}

}  // namespace
}  // namespace tern::conform
