// The kernels that norm and quantize their input: normed_matvec_add, normed_glu, normed_qkv.
#include "backend/gpu/kernels/ternary/norm_fused.h"

#include <cmath>

#include "backend/gpu/kernels/ternary/ternary_qkv.h"
#include "backend/ref/ops.h"
#include "backend/rope_table.h"
#include "base/bytes.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/gpu/kv_data.h"
#include "conform/gpu/norm_stats.h"
#include "conform/gpu/ternary_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using GpuNormFused = GpuConform;
TERN_FOR_EVERY_VARIANT(GpuNormFused);

constexpr float kFusedEps = 1e-5f;

// Rows of floats, and their quantized norms by the reference.
struct Row {
  Row(int n_rows, int cols, uint64_t seed)
      : n(n_rows), x(static_cast<size_t>(n * cols)), gain(static_cast<size_t>(cols)), q(n_rows, cols) {
    Values(seed).fill(x);
    for (size_t i = 0; i < x.size(); ++i) {
      if (i / static_cast<size_t>(cols) % 2 == 1) x[i] *= 1e-3f;  // rows so small that eps matters
    }
    Values(seed + 1).fill(gain);
    ref::rms_norm_quantize({x.data(), gain.data(), kFusedEps, n, cols, q.mutable_view()});
    count_doubtful();
  }

  // Norm, scale and their product have at most a dozen roundings. A value that close to the middle between two integers
  // may round either way, which changes a dot product by one.
  void count_doubtful() {
    const size_t cols = gain.size();
    for (size_t r = 0; r < static_cast<size_t>(n); ++r) {
      double squares = 0;
      for (size_t i = 0; i < cols; ++i) squares += static_cast<double>(x[r * cols + i]) * x[r * cols + i];
      const double factor = 1 / std::sqrt(squares / static_cast<double>(cols) + static_cast<double>(kFusedEps));
      int count = 0;
      for (size_t i = 0; i < cols; ++i) {
        const double scaled = x[r * cols + i] * factor * gain[i] * q.scale[r];
        count += std::abs(std::abs(scaled - std::floor(scaled)) - 0.5) < 12 * kUlp * std::abs(scaled);
      }
      doubtful.push_back(count);
    }
  }

  // Bound for a dequantized projection: the effect of doubtful values, and a dozen roundings.
  double bound(size_t r, float weight_scale, double value) const {
    return static_cast<double>(doubtful[r]) / q.scale[r] * weight_scale + 20 * kUlp * std::abs(value);
  }

  int n;
  std::vector<float> x, gain;
  Int8Rows q;
  std::vector<int> doubtful;
};

void test_matvec_add(GpuBench& bench, int n, int rows, int cols, uint32_t n_parts, const gpu::TernaryConfig& layout) {
  const Row row(n, cols, static_cast<uint64_t>(rows + n));
  const WeightMatrix w(Format::kI2_S, rows, cols, 7, kSplitScales[0]);
  gpu::TernaryConfig config = layout;
  config.rows = static_cast<uint32_t>(rows);
  config.cols = static_cast<uint32_t>(cols);
  config.store = gpu::Store::kAdd;
  config.caps = bench.caps();
  const uint32_t n_workgroups = ceil_div(config.rows, config.rows_per_workgroup());
  std::vector<float> before(static_cast<size_t>(n * rows)), next_gain(static_cast<size_t>(rows));
  Values(3).fill(before);
  Values(4).fill(next_gain);
  auto y = before;
  auto stats = poisoned<float>(size_t{2} * static_cast<size_t>(n) * n_workgroups);
  bench.run(gpu::normed_matvec_add(config, {.eps = kFusedEps, .n_parts = n_parts}),
            {.x = n_workgroups, .y = static_cast<uint32_t>(n)}, in<gpu::TernaryWeights>(w.device_rows()),
            in<Vec4<F32>>(row.x), in<Vec4<F32>>(row.gain), in<gpu::NormStats>(stats_of(row.x, row.gain, n_parts)),
            in<gpu::WeightScales>(kSplitScales), out<F32>(y), in<F32>(next_gain), out<gpu::NormStats>(stats));
  auto expected = before;
  ref::ternary_linear({row.q.view(), n, &w.tensor, ops::Store::kAdd, expected.data()});
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t r = i / static_cast<size_t>(rows);
    const double magnitude = std::abs(expected[i] - before[i]) + std::abs(before[i]);
    ASSERT_NEAR(y[i], expected[i], row.bound(r, kSplitScales[0], magnitude))
        << rows << "×" << cols << ", row " << i % static_cast<size_t>(rows) << " of token " << r;
  }
  expect_stats(stats, y, next_gain);
}

TEST_P(GpuNormFused, MatvecAdd) {
  test_matvec_add(bench(), 1, 64, 256, 5, {});
  test_matvec_add(bench(), 3, 77, 640, 40, {});
  test_matvec_add(bench(), 7, 33, 1152, 3, {});
  test_matvec_add(bench(), 2, 20, 720, 9, {});  // the last block is partial
}

// A NaN or infinity in a row of x makes its sum of squares and all of its results non-finite.
TEST_P(GpuNormFused, NothingIsMadeOfWhatIsNotFinite) {
  constexpr int kRows = 20, kCols = 256;
  const WeightMatrix w(Format::kI2_S, kRows, kCols, 7, kSplitScales[0]);
  const gpu::TernaryConfig config{.rows = kRows, .cols = kCols, .store = gpu::Store::kAdd, .caps = bench().caps()};
  for (const float bad : {NAN, std::numeric_limits<float>::infinity()}) {
    Row row(2, kCols, 3);
    row.x[kCols + 77] = bad;
    std::vector<float> y(size_t{2} * kRows, 1.0f), next_gain(kRows, 1.0f), stats;
    const uint32_t n_workgroups = ceil_div(config.rows, config.rows_per_workgroup());
    stats.resize(size_t{4} * n_workgroups);
    bench().run(gpu::normed_matvec_add(config, {.eps = kFusedEps, .n_parts = 5}), {.x = n_workgroups, .y = 2},
                in<gpu::TernaryWeights>(w.device_rows()), in<Vec4<F32>>(row.x), in<Vec4<F32>>(row.gain),
                in<gpu::NormStats>(stats_of(row.x, row.gain, 5)), in<gpu::WeightScales>(kSplitScales), out<F32>(y),
                in<F32>(next_gain), out<gpu::NormStats>(stats));
    for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(std::isfinite(y[i]), i < kRows) << bad << " at " << i;
  }
}

TEST_P(GpuNormFused, MatvecAddInOtherLayouts) {
  // The smallest workgroup has so few subgroups, on any device, that sum and maximum are reduced together.
  for (const auto& [lanes, rows_per_group, workgroup] :
       {std::tuple{8u, 1u, 256u}, {16u, 1u, 128u}, {32u, 2u, 256u}, {8u, 2u, 64u}}) {
    gpu::TernaryConfig layout{};
    layout.lanes = lanes;
    layout.rows_per_group = rows_per_group;
    layout.workgroup = workgroup;
    test_matvec_add(bench(), 2, 50, 640, 300, layout);
  }
}

void test_glu(GpuBench& bench, int n, int rows, int cols, uint32_t rows_per_group) {
  const Row row(n, cols, static_cast<uint64_t>(rows));
  const WeightMatrix gate(Format::kI2_S, rows, cols, 8, kSplitScales[0]),
      up(Format::kI2_S, rows, cols, 9, kSplitScales[1]);
  const gpu::TernaryConfig config{.rows = static_cast<uint32_t>(rows),
                                  .cols = static_cast<uint32_t>(cols),
                                  .caps = bench.caps(),
                                  .rows_per_group = rows_per_group};
  const uint32_t n_workgroups = ceil_div(config.rows, config.rows_per_workgroup());
  const auto count = static_cast<size_t>(n * rows);
  std::vector<float> next_gain(static_cast<size_t>(rows)), gates(count), ups(count);
  Values(4).fill(next_gain);
  auto y = poisoned<float>(count);
  auto stats = poisoned<float>(size_t{2} * static_cast<size_t>(n) * n_workgroups);
  bench.run(gpu::normed_glu(config, {.eps = kFusedEps, .n_parts = 7}),
            {.x = n_workgroups, .y = static_cast<uint32_t>(n)}, in<gpu::TernaryWeights>(gate.device_rows()),
            in<gpu::TernaryWeights>(up.device_rows()), in<Vec4<F32>>(row.x), in<Vec4<F32>>(row.gain),
            in<gpu::NormStats>(stats_of(row.x, row.gain, 7)), in<gpu::WeightScales>(kSplitScales), out<F32>(y),
            in<F32>(next_gain), out<gpu::NormStats>(stats));
  ref::ternary_linear({row.q.view(), n, &gate.tensor, ops::Store::kSet, gates.data()});
  ref::ternary_linear({row.q.view(), n, &up.tensor, ops::Store::kSet, ups.data()});
  for (size_t i = 0; i < count; ++i) {
    const size_t r = i / static_cast<size_t>(rows);
    const double g = std::max(gates[i], 0.0f), u = ups[i];
    const double g_error = row.bound(r, kSplitScales[0], g), u_error = row.bound(r, kSplitScales[1], u);
    const double error = (2 * g * g_error + g_error * g_error) * (std::abs(u) + u_error) + g * g * u_error;
    ASSERT_NEAR(y[i], g * g * u, error + 4 * kUlp * std::abs(g * g * u)) << "row " << i << " of " << rows;
  }
  expect_stats(stats, y, next_gain);
}

TEST_P(GpuNormFused, Glu) {
  test_glu(bench(), 1, 64, 256, 1);
  test_glu(bench(), 3, 45, 640, 2);
  test_glu(bench(), 2, 21, 208, 2);
}

template <class KvWord>
void test_normed_qkv(GpuBench& bench, const gpu::HeadShape& s, int cols, bool interleaved, int pos, int n) {
  constexpr KvType kType = kv_type_of<KvWord>();
  const Row row(n, cols, 21);
  const int d = static_cast<int>(s.head_dim);
  const WeightMatrix w(Format::kI2_S, static_cast<int>(s.n_heads + 2 * s.n_kv_heads) * d, cols, 5);
  RopeTable table({.theta = 10000.0f}, d, kSomePositions);
  table.fill(0, kSomePositions, 0);
  std::vector<float> angles;
  for (uint32_t i = 0; i < kSomePositions * s.head_dim / 2; ++i)
    angles.insert(angles.end(), {table.cos()[i], table.sin()[i]});
  const gpu::TernaryQkvConfig wanted{
      .cols = static_cast<uint32_t>(cols), .heads = s, .interleaved = interleaved, .caps = bench.caps()};
  const gpu::TernaryQkvConfig config = gpu::kHasKvScales<KvWord> ? gpu::fit_to_codes(wanted, 256) : gpu::fit(wanted);
  const gpu::Grid grid{.x = config.workgroups(), .y = static_cast<uint32_t>(n)};
  // ternary_qkv is compared with the reference elsewhere. From the same integers both kernels give the same results.
  auto expected = poisoned<float>(static_cast<size_t>(n) * s.n_heads * s.head_dim), q = expected;
  KvData expected_kv(s, kType, kSomePositions), kv(s, kType, kSomePositions);
  const auto params = kv.params(static_cast<uint32_t>(pos), static_cast<uint32_t>(n));
  bench.run(gpu::ternary_qkv<KvWord>(config), grid, in<gpu::TernaryWeights>(w.device_rows()),
            in<gpu::QuantizedWords>(row.q.packed()), in<gpu::WeightScales>(kSplitScales), in<Vec2<F32>>(angles),
            in<U32>(params), out<F32>(expected), out<KvWord>(expected_kv.words));
  bench.run(gpu::normed_qkv<KvWord>(config, {.eps = kFusedEps, .n_parts = 11}), grid,
            in<gpu::TernaryWeights>(w.device_rows()), in<Vec4<F32>>(row.x), in<Vec4<F32>>(row.gain),
            in<gpu::NormStats>(stats_of(row.x, row.gain, 11)), in<gpu::WeightScales>(kSplitScales),
            in<Vec2<F32>>(angles), in<U32>(params), out<F32>(q), out<KvWord>(kv.words));
  const double doubt = 2 * *std::ranges::max_element(row.doubtful) * 1.3 / *std::ranges::min_element(row.q.scale);
  for (size_t i = 0; i < q.size(); ++i) {
    ASSERT_NEAR(q[i], expected[i], doubt + 40 * kUlp * (std::abs(expected[i]) + 1)) << "q " << i;
  }
  const auto a = kv.floats(), b = expected_kv.floats(), scales = expected_kv.scales();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    ASSERT_NEAR(a[i], b[i], doubt + 40 * kUlp * (std::abs(b[i]) + 1) + kv_error(kType, b[i], scales[i])) << "kv " << i;
  }
}

TEST_P(GpuNormFused, Qkv) {
  test_normed_qkv<F16x2>(bench(), {4, 1, 64}, 256, false, 5, 3);
  test_normed_qkv<F16x2>(bench(), {2, 2, 128}, 640, true, 0, 1);
  test_normed_qkv<F32>(bench(), {3, 3, 64}, 384, false, 63, 2);
  test_normed_qkv<F16x2>(bench(), {2, 1, 100}, 400, false, 127, 2);
  test_normed_qkv<F32>(bench(), {2, 2, 36}, 1024, true, 7, 2);
  test_normed_qkv<I8x4>(bench(), {2, 2, 128}, 640, false, 7, 2);
}

}  // namespace
}  // namespace tern::conform
