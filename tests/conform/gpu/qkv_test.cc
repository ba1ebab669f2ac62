// ternary_qkv: projections, RoPE and the KV-cache write, compared with the reference's ops one after another.
#include <cmath>

#include "backend/gpu/kernels/ternary/ternary_qkv.h"
#include "backend/ref/ops.h"
#include "backend/rope_table.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/gpu/kv_data.h"
#include "conform/gpu/ternary_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using GpuQkv = GpuConform;
TERN_FOR_EVERY_VARIANT(GpuQkv);

struct Expected {
  std::vector<float> q, k, v;
};

// Values must both be NaN or differ by at most `error(i)`.
template <class Error>
void expect_near(const std::vector<float>& actual, const std::vector<float>& expected, const char* what,
                 Error&& error) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(actual[i])) continue;
    ASSERT_NEAR(actual[i], expected[i], error(i)) << what << " " << i;
  }
}

template <class KvWord>
void test_qkv(GpuBench& bench, const gpu::HeadShape& s, int cols, bool interleaved, int pos, int n) {
  constexpr KvType kType = kv_type_of<KvWord>();
  const int d = static_cast<int>(s.head_dim), n_heads = static_cast<int>(s.n_heads),
            n_kv = static_cast<int>(s.n_kv_heads), all_rows = (n_heads + 2 * n_kv) * d;
  const WeightMatrix w(Format::kI2_S, all_rows, cols, static_cast<uint64_t>(d + n));
  const Int8Rows x = Int8Rows::random(n, cols, 5);
  RopeTable table({.theta = 10000.0f}, d, kSomePositions);
  table.fill(0, kSomePositions, 0);
  auto angles = poisoned<float>(size_t{kOthers} * s.head_dim);
  for (int i = 0; i < kSomePositions * d / 2; ++i) angles.insert(angles.end(), {table.cos()[i], table.sin()[i]});

  // The reference uses three matrices, which are runs of w's rows.
  Expected expected;
  const auto project = [&](int first, int count, float scale) {
    Tensor part = w.tensor;
    part.rows = count;
    part.scale = scale;
    part.data = w.tensor.data.subspan(static_cast<uint64_t>(first) * row_bytes(Format::kI2_S, cols));
    std::vector<float> y(static_cast<size_t>(n * count));
    ref::ternary_linear({x.view(), n, &part, ops::Store::kSet, y.data()});
    return y;
  };
  expected.q = project(0, n_heads * d, kSplitScales[0]);
  expected.k = project(n_heads * d, n_kv * d, kSplitScales[1]);
  expected.v = project((n_heads + n_kv) * d, n_kv * d, kSplitScales[2]);
  const auto pairs = interleaved ? RopePairs::kInterleaved : RopePairs::kHalves;
  const float* cos = table.cos() + pos * d / 2;
  const float* sin = table.sin() + pos * d / 2;
  ref::rope({expected.q.data(), n, n_heads, d, cos, sin, pairs});
  ref::rope({expected.k.data(), n, n_kv, d, cos, sin, pairs});
  KvData expected_kv(s, kType, kSomePositions), kv(s, kType, kSomePositions);
  expected_kv.append(expected.k.data(), expected.v.data(), n, pos);

  const gpu::TernaryQkvConfig wanted{
      .cols = static_cast<uint32_t>(cols), .heads = s, .interleaved = interleaved, .caps = bench.caps()};
  const gpu::TernaryQkvConfig config = gpu::kHasKvScales<KvWord> ? gpu::fit_to_codes(wanted, 256) : gpu::fit(wanted);
  const auto params = kv.params(static_cast<uint32_t>(pos), static_cast<uint32_t>(n), kOthers);
  auto q = poisoned<float>(expected.q.size());
  bench.run(gpu::ternary_qkv<KvWord>(config), {.x = config.workgroups(), .y = static_cast<uint32_t>(n)},
            in<gpu::TernaryWeights>(w.device_rows()), in<gpu::QuantizedWords>(x.packed()),
            in<gpu::WeightScales>(kSplitScales), in<Vec2<F32>>(angles), in<U32>(params), out<F32>(q),
            out<KvWord>(kv.words));

  // A projection is off by 7 roundings (ternary_test.cc). Rotation mixes the two values of a pair, |a| + |b|, and adds
  // 3. The pair is not known here; the largest possible projection, cols·128 / scale · 1.3, is far above it.
  const auto pair_bound = [&](float value) {
    const double largest = cols * 128.0 / *std::ranges::min_element(x.scale) * 1.3;
    return 10 * kUlp * (std::abs(value) + largest * 0.05);
  };
  expect_near(q, expected.q, "q", [&](size_t i) { return pair_bound(expected.q[i]); });
  const std::vector<float> actual_kv = kv.floats(), wanted_kv = expected_kv.floats(), scales = expected_kv.scales();
  expect_near(actual_kv, wanted_kv, "kv",
              [&](size_t i) { return pair_bound(wanted_kv[i]) + kv_error(kType, wanted_kv[i], scales[i]); });
}

TEST_P(GpuQkv, F16Cache) {
  for (const bool interleaved : {false, true}) {
    for (const auto& [pos, n] : {std::pair{0, 1}, {63, 3}, {130, 7}}) {
      test_qkv<F16x2>(bench(), {4, 1, 64}, 256, interleaved, pos, n);
    }
  }
  test_qkv<F16x2>(bench(), {2, 2, 80}, 384, false, 127, 2);
  test_qkv<F16x2>(bench(), {4, 2, 128}, 640, false, 127, 2);
  test_qkv<F16x2>(bench(), {2, 2, 100}, 200, false, 3, 2);
  test_qkv<F16x2>(bench(), {4, 1, 36}, 160, true, 3, 2);
}

TEST_P(GpuQkv, CacheOfCodes) {
  for (const bool interleaved : {false, true}) {
    for (const auto& [pos, n] : {std::pair{0, 1}, {63, 3}, {130, 7}}) {
      test_qkv<I8x4>(bench(), {4, 1, 64}, 256, interleaved, pos, n);
    }
    test_qkv<I8x4>(bench(), {4, 2, 128}, 640, interleaved, 127, 2);
  }
  test_qkv<I8x4>(bench(), {2, 1, 256}, 128, false, 1, 2);
  test_qkv<I8x4>(bench(), {2, 2, 80}, 384, false, 127, 2);
  test_qkv<I8x4>(bench(), {2, 2, 100}, 200, true, 3, 2);
  test_qkv<I8x4>(bench(), {4, 1, 36}, 160, false, 3, 2);
}

TEST_P(GpuQkv, F32Cache) {
  for (const bool interleaved : {false, true}) {
    for (const auto& [pos, n] : {std::pair{0, 1}, {60, 7}}) {
      test_qkv<F32>(bench(), {3, 3, 64}, 128, interleaved, pos, n);
    }
  }
  test_qkv<F32>(bench(), {2, 1, 80}, 384, true, 6, 2);
  test_qkv<F32>(bench(), {2, 1, 100}, 192, true, 6, 2);
  test_qkv<F32>(bench(), {3, 1, 20}, 160, false, 2, 3);
}

}  // namespace
}  // namespace tern::conform
