// qkv_heads: head norms, RoPE and the KV-cache write, compared with the steps that it replaces.
#include "backend/gpu/kernels/qkv_heads.h"

#include <cmath>

#include "backend/gpu/kernels/attention/serial_attention.h"
#include "backend/ref/ops.h"
#include "backend/rope_table.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/gpu/kv_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using GpuQkvHeads = GpuConform;
TERN_FOR_VARIANTS_WITHOUT_INTEGERS(GpuQkvHeads);

template <class KvWord>
// n_dims: only these rotate, and gates follow the queries' heads; 0: neither. norms_values: with a gain of 1.
void test_heads(GpuBench& bench, const gpu::HeadShape& s, bool normed, RopePairs pairs, int pos, int n, int n_dims = 0,
                bool norms_values = false) {
  constexpr KvType kType = kv_type_of<KvWord>();
  const int d = static_cast<int>(s.head_dim), n_heads = static_cast<int>(s.n_heads),
            n_kv = static_cast<int>(s.n_kv_heads);
  const size_t q_width = s.n_heads * s.head_dim, kv_width = s.n_kv_heads * s.head_dim;
  const size_t q_stride = s.head_dim * (n_dims > 0 ? 2 : 1), stride = s.n_heads * q_stride + 2 * kv_width;
  const auto qkv = random(static_cast<size_t>(n) * stride, static_cast<uint64_t>(d + pos));
  const auto q_gain = random(s.head_dim, 2), k_gain = random(s.head_dim, 3);
  RopeTable table({.theta = 10000.0f, .n_dims = n_dims}, d, kSomePositions);
  table.fill(0, kSomePositions, 0);
  const size_t turned = static_cast<size_t>(n_dims > 0 ? n_dims : d);
  auto angles = poisoned<float>(kOthers * turned);
  for (size_t i = 0; i < kSomePositions * turned / 2; ++i)
    angles.insert(angles.end(), {table.cos()[i], table.sin()[i]});

  std::vector<float> q, k, v;
  for (size_t t = 0; t < static_cast<size_t>(n); ++t) {
    const auto row = qkv.begin() + static_cast<ptrdiff_t>(t * stride);
    const auto k_row = row + static_cast<ptrdiff_t>(s.n_heads * q_stride),
               v_row = k_row + static_cast<ptrdiff_t>(kv_width);
    for (auto head = row; head != k_row; head += static_cast<ptrdiff_t>(q_stride)) q.insert(q.end(), head, head + d);
    k.insert(k.end(), k_row, v_row);
    v.insert(v.end(), v_row, v_row + static_cast<ptrdiff_t>(kv_width));
  }
  if (normed) {
    const auto q_in = q, k_in = k;
    ref::rms_norm({q_in.data(), q_gain.data(), kEps, n * n_heads, d, q.data()});
    ref::rms_norm({k_in.data(), k_gain.data(), kEps, n * n_kv, d, k.data()});
  }
  if (norms_values) {
    const auto v_in = v;
    ref::rms_norm({v_in.data(), std::vector<float>(s.head_dim, 1).data(), kEps, n * n_kv, d, v.data()});
  }
  const size_t at = turned / 2 * static_cast<size_t>(pos);
  ref::rope({q.data(), n, n_heads, d, table.cos() + at, table.sin() + at, pairs, n_dims});
  ref::rope({k.data(), n, n_kv, d, table.cos() + at, table.sin() + at, pairs, n_dims});
  KvData expected(s, kType, kSomePositions);
  expected.append(k.data(), v.data(), n, pos);

  const gpu::HeadsConfig config{.shape = s,
                                .interleaved = pairs == RopePairs::kInterleaved,
                                .normed = normed,
                                .eps = kEps,
                                .caps = bench.caps(),
                                .norms_values = norms_values,
                                .gated = n_dims > 0,
                                .n_dims = static_cast<uint32_t>(n_dims)};
  // Rotation keeps a head's length. It has two products and a sum, after a norm (norms_test.cc has its error).
  const auto expect = [&](float is, float should, double length, double scale, const char* what, size_t i) {
    const double error = (4 + (normed ? d / 2.0 + 23 : 0)) * kUlp * length;
    ASSERT_NEAR(is, should, error + (*what == 'k' ? kv_error(kType, should, scale) : 0))
        << what << " at " << i << " of " << d;
  };
  const auto length_at = [&](const std::vector<float>& values, size_t i) {
    double squares = 0;
    for (size_t j = i / s.head_dim * s.head_dim; j < (i / s.head_dim + 1) * s.head_dim; ++j) {
      if (!std::isnan(values[j])) squares += static_cast<double>(values[j]) * values[j];
    }
    return std::sqrt(squares);
  };
  const auto test = [&](const auto& kernel, uint32_t workgroups) {
    auto y = poisoned<float>(q.size());
    KvData actual(s, kType, kSomePositions);
    bench.run(kernel, {.x = workgroups, .y = static_cast<uint32_t>(n)}, in<F32>(qkv), in<F32>(q_gain), in<F32>(k_gain),
              in<Vec2<F32>>(angles),
              in<U32>(actual.params(static_cast<uint32_t>(pos), static_cast<uint32_t>(n), kOthers)), out<F32>(y),
              out<KvWord>(actual.words));
    for (size_t i = 0; i < q.size(); ++i) expect(y[i], q[i], length_at(q, i), 0, "q", i);
    const auto a = actual.floats(), b = expected.floats(), scales = expected.scales();
    for (size_t i = 0; i < a.size(); ++i) {
      if (std::isnan(a[i]) && std::isnan(b[i])) continue;
      expect(a[i], b[i], length_at(b, i), scales[i], "kv", i);
    }
  };
  test(gpu::qkv_heads<KvWord>(config), gpu::qkv_heads_workgroups(config));
  if (bench.has_serial_subgroups() && n_dims == 0 && !norms_values)
    test(gpu::serial_heads<KvWord>(config), config.rows());
}

TEST_P(GpuQkvHeads, AreTheStepsThatTheyReplace) {
  for (const bool normed : {false, true}) {
    test_heads<F16x2>(bench(), {4, 2, 64}, normed, RopePairs::kHalves, 62, 3);
    test_heads<F32>(bench(), {2, 1, 128}, normed, RopePairs::kHalves, 0, 1);
    test_heads<F32>(bench(), {3, 3, 12}, normed, RopePairs::kInterleaved, 127, 2);
    test_heads<F16x2>(bench(), {2, 2, 96}, normed, RopePairs::kInterleaved, 129, 1);
    test_heads<I8x4>(bench(), {4, 2, 64}, normed, RopePairs::kHalves, 62, 3);
    test_heads<I8x4>(bench(), {2, 1, 128}, normed, RopePairs::kInterleaved, 5, 1);
    test_heads<I8x4>(bench(), {3, 3, 80}, normed, RopePairs::kHalves, 127, 2);
    test_heads<I8x4>(bench(), {2, 2, 12}, normed, RopePairs::kInterleaved, 129, 1);
    test_heads<F16x2>(bench(), {4, 2, 64}, normed, RopePairs::kHalves, 62, 3, /*n_dims=*/16);
    test_heads<I8x4>(bench(), {3, 1, 80}, normed, RopePairs::kHalves, 127, 2, /*n_dims=*/24);
  }
  test_heads<F16x2>(bench(), {4, 2, 64}, true, RopePairs::kHalves, 62, 3, 0, /*norms_values=*/true);
  test_heads<I8x4>(bench(), {3, 1, 80}, true, RopePairs::kHalves, 127, 2, 24, /*norms_values=*/true);
}

}  // namespace
}  // namespace tern::conform
