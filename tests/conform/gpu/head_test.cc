// float_linear, and the argmax that feeds the next token.
#include <cmath>
#include <limits>

#include "backend/gpu/kernels/argmax.h"
#include "backend/gpu/kernels/float_linear.h"
#include "backend/ref/ops.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/gpu/ternary_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using GpuHead = GpuConform;
TERN_FOR_EVERY_VARIANT(GpuHead);

template <class Quad>
void test_float_linear(GpuBench& bench, Format format, int cols, const std::vector<int>& part_ends, int n) {
  const int rows = part_ends.back();
  const WeightMatrix w(format, rows, cols, static_cast<uint64_t>(rows + cols));
  std::vector<float> x(static_cast<size_t>(n * cols)), expected(static_cast<size_t>(n * rows)),
      y = poisoned<float>(expected.size());
  Values(static_cast<uint64_t>(n)).fill(x);
  ref::float_linear({x.data(), n, &w.tensor, expected.data()});
  const gpu::FloatLinearConfig config{
      .rows = static_cast<uint32_t>(rows), .cols = static_cast<uint32_t>(cols), .caps = bench.caps()};
  int first = 0;
  for (const int end : part_ends) {
    const auto count = static_cast<uint32_t>(end - first);
    const uint32_t groups = (count + config.rows_per_workgroup() - 1) / config.rows_per_workgroup();
    const uint32_t side = static_cast<uint32_t>(std::ceil(std::sqrt(groups)));  // more workgroups than are needed
    bench.run(gpu::float_linear<Quad>(config), {.x = side, .y = side, .z = static_cast<uint32_t>(n)},
              in<Quad>(w.device_rows(first, end - first)), in<Vec4<F32>>(x),
              in<gpu::RowRange>(std::vector<uint32_t>{static_cast<uint32_t>(first), count, 0, 0}), out<F32>(y));
    first = end;
  }
  // Whatever the order of a float sum, it is off by at most a rounding per term of Σ|w·x|.
  std::vector<float> weights(static_cast<size_t>(cols));
  for (int row = 0; row < rows; ++row) {
    const uint64_t stride = row_bytes(format, cols);
    format_info(format).decode(w.tensor.data.subspan(static_cast<uint64_t>(row) * stride, stride), weights);
    for (int t = 0; t < n; ++t) {
      double terms = 0;
      for (int i = 0; i < cols; ++i) {
        terms += std::abs(static_cast<double>(weights[static_cast<size_t>(i)]) * x[static_cast<size_t>(t * cols + i)]);
      }
      const auto at = static_cast<size_t>(t * rows + row);
      ASSERT_NEAR(y[at], expected[at], (cols + 2) * kUlp * terms)
          << format_info(format).name << " " << rows << "×" << cols << ", token " << t << " row " << row;
    }
  }
}

TEST_P(GpuHead, FloatLinearF16) {
  using Quad = Vec4<F16x2>;
  for (const int cols : {8, 128, 248, 256, 264, 640}) test_float_linear<Quad>(bench(), Format::kF16, cols, {33}, 2);
  for (const int rows : {1, 31, 32, 150}) test_float_linear<Quad>(bench(), Format::kF16, 128, {rows}, 1);
  test_float_linear<Quad>(bench(), Format::kF16, 128, {1, 40, 105}, 5);
}

TEST_P(GpuHead, FloatLinearF32) {
  using Quad = Vec4<F32>;
  for (const int cols : {8, 128, 136, 640}) test_float_linear<Quad>(bench(), Format::kF32, cols, {37}, 3);
  test_float_linear<Quad>(bench(), Format::kF32, 136, {32, 33, 70}, 2);
}

struct Chosen {
  uint32_t token, pos, step;
  std::vector<uint32_t> tokens, ids;
};

Chosen choose(GpuBench& bench, const std::vector<float>& logits, uint32_t step = 5) {
  constexpr uint32_t kRing = 8;
  const gpu::ArgmaxConfig config{.n = static_cast<uint32_t>(logits.size()), .ring = kRing};
  auto values = poisoned<float>(config.parts);
  auto indices = poisoned<uint32_t>(config.parts);
  bench.run(gpu::argmax_parts(config), {.x = config.parts}, in<F32>(logits), out<F32>(values), out<U32>(indices));
  std::vector<uint32_t> tokens = poisoned<uint32_t>(3), ids = poisoned<uint32_t>(kRing), params = {20, 1, 7, step};
  bench.run(gpu::argmax_next(config), {}, in<F32>(values), in<U32>(indices), out<U32>(tokens), out<U32>(ids),
            out<U32>(params));
  EXPECT_EQ(params[gpu::kNTokens], 1u);
  EXPECT_EQ(params[gpu::kFirstLogits], 7u);
  EXPECT_EQ(tokens[1], kPoison);
  EXPECT_EQ(tokens[2], kPoison);
  for (uint32_t i = 0; i < kRing; ++i) EXPECT_EQ(ids[i], i == step % kRing ? tokens[0] : kPoison) << i;
  EXPECT_EQ(params[gpu::kPos], 21u);
  EXPECT_EQ(params[gpu::kStep], step + 1);
  return {tokens[0], params[gpu::kPos], params[gpu::kStep], tokens, ids};
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
  // In other parts, in other invocations of one part, and in neighbouring rounds of one invocation.
  for (const auto& [a, b] : {std::pair{200, 8000}, {130, 131}, {5, 100}, {7000, 7001}}) {
    auto tied = logits;
    tied[static_cast<size_t>(a)] = tied[static_cast<size_t>(b)] = 2;
    EXPECT_EQ(choose(bench(), tied).token, static_cast<uint32_t>(a));
  }
  std::vector<float> large(100000, -1.0f);  // an invocation sees several of each part
  large[70000] = large[70256] = large[70511] = 1;
  EXPECT_EQ(choose(bench(), large).token, 70000u);
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
