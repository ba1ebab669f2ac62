// heads_attention: attention that computes query, key and value itself, compared with qkv_heads followed by attention.
#include <cmath>

#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/attention/attention.h"
#include "backend/gpu/kernels/qkv_heads.h"
#include "backend/ref/ops.h"
#include "backend/rope_table.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/gpu/kv_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using GpuHeadsAttention = GpuConform;
TERN_FOR_VARIANTS_WITHOUT_INTEGERS(GpuHeadsAttention);

// One token at position `pos`.
struct HeadsProblem {
  gpu::HeadShape s;
  uint32_t pos;
  bool normed = false;
  bool interleaved = false;
  uint32_t window = 0;
  uint32_t max_splits = 0;
  bool norms_values = false;
};

// The inputs of both versions.
struct HeadsInputs {
  HeadsInputs(const HeadsProblem& p, KvType type, uint64_t seed)
      : qkv(random(size_t{p.s.n_heads + 2 * p.s.n_kv_heads} * p.s.head_dim, seed)),
        q_gain(random(p.s.head_dim, seed + 1)),
        k_gain(random(p.s.head_dim, seed + 2)),
        kv(p.s, type, kManyPositions),
        params(kv.params(p.pos, 1, kOthers)) {
    const size_t count = size_t{p.pos} * p.s.n_kv_heads * p.s.head_dim;
    const auto k = random(count, seed + 3), v = random(count, seed + 4);
    if (p.pos > 0) kv.append(k.data(), v.data(), static_cast<int>(p.pos), 0);
    angles = poisoned<float>(size_t{kOthers} * p.s.head_dim);
    RopeTable table({.theta = 10000.0f}, static_cast<int>(p.s.head_dim), kManyPositions);
    table.fill(0, kManyPositions, 0);
    for (uint32_t i = 0; i < kManyPositions * p.s.head_dim / 2; ++i) {
      angles.insert(angles.end(), {table.cos()[i], table.sin()[i]});
    }
  }

  std::vector<float> qkv, q_gain, k_gain, angles;
  KvData kv;  // poisoned from `pos` on
  std::vector<uint32_t> params;
};

struct Outcome {
  std::vector<uint32_t> kv;
  std::vector<float> y;  // or the partial results of splits
};

template <class KvWord>
Outcome in_two_kernels(GpuBench& bench, const HeadsProblem& p, const HeadsInputs& given, const gpu::AttentionConfig& c,
                       const gpu::HeadsConfig& h, Outcome result) {
  auto q = poisoned<float>(size_t{p.s.n_heads} * p.s.head_dim);
  bench.run(gpu::qkv_heads<KvWord>(h), {.x = gpu::qkv_heads_workgroups(h)}, in<F32>(given.qkv), in<F32>(given.q_gain),
            in<F32>(given.k_gain), in<Vec2<F32>>(given.angles), in<U32>(given.params), out<F32>(q),
            out<KvWord>(result.kv));
  const uint32_t splits = std::min((p.pos + c.chunk) / c.chunk, std::max(c.max_splits, 1u));
  const auto gain = random(q.size(), 1);
  auto stats = poisoned<float>(size_t{2} * p.s.n_heads);
  bench.run(gpu::attention<KvWord>(c), {.x = p.s.n_heads, .z = splits}, in<Vec4<F32>>(q),
            in<gpu::KvQuad<KvWord>>(result.kv), in<U32>(given.params), out<F32>(result.y), in<F32>(gain),
            out<gpu::NormStats>(stats));
  return result;
}

template <class KvWord>
Outcome in_one_kernel(GpuBench& bench, const HeadsProblem& p, const HeadsInputs& given, const gpu::AttentionConfig& c,
                      const gpu::HeadsConfig& h, Outcome result) {
  const uint32_t splits = std::min((p.pos + c.chunk) / c.chunk, std::max(c.max_splits, 1u));
  bench.run(gpu::heads_attention<KvWord>(c, h), {.x = p.s.n_heads, .z = splits}, in<F32>(given.qkv),
            in<F32>(given.q_gain), in<F32>(given.k_gain), in<Vec2<F32>>(given.angles), in<U32>(given.params),
            out<gpu::KvQuad<KvWord>>(result.kv), out<F32>(result.y));
  return result;
}

std::vector<uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (const float v : values) bits.push_back(std::bit_cast<uint32_t>(v));
  return bits;
}

bool is_software() {
  static const bool is = gpu::list_adapters()->front().type == gpu::AdapterType::kSoftware;
  return is;
}

template <class KvWord>
void test_problem(GpuBench& bench, const HeadsProblem& p) {
  constexpr KvType kType = kv_type_of<KvWord>();
  const auto c = gpu::fit(
      gpu::AttentionConfig{.heads = p.s, .caps = bench.caps(), .max_splits = p.max_splits, .window = p.window});
  const gpu::HeadsConfig h{.shape = p.s,
                           .interleaved = p.interleaved,
                           .normed = p.normed,
                           .eps = 1e-3f,
                           .caps = bench.caps(),
                           .norms_values = p.norms_values};
  ASSERT_TRUE(gpu::has_heads_attention<KvWord>(c, h, bench.device().limits().workgroup_bytes));
  const HeadsInputs inputs(p, kType, 10 * p.pos + p.s.head_dim);
  const size_t row = p.max_splits > 0 ? p.max_splits * c.partial_stride() : p.s.head_dim;
  const Outcome empty{inputs.kv.words, poisoned<float>(p.s.n_heads * row)};
  const Outcome two = in_two_kernels<KvWord>(bench, p, inputs, c, h, empty);
  const Outcome one = in_one_kernel<KvWord>(bench, p, inputs, c, h, empty);
  const std::string what = "position " + std::to_string(p.pos) + ", head_dim " + std::to_string(p.s.head_dim) +
                           (p.normed ? ", normed" : "") + (p.interleaved ? ", interleaved" : "") + ", window " +
                           std::to_string(p.window) + ", splits " + std::to_string(p.max_splits);
  EXPECT_NE(two.kv, empty.kv) << what;
  if (is_software()) {
    EXPECT_EQ(one.kv, two.kv) << what;
    EXPECT_EQ(bits_of(one.y), bits_of(two.y)) << what;
    return;
  }
  // A GPU's compiler may fuse multiplications with additions in one kernel and not in the other.
  const auto expect_near = [&](const std::vector<float>& a, const std::vector<float>& b, double bound) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      if (std::isnan(a[i]) && std::isnan(b[i])) continue;
      ASSERT_NEAR(a[i], b[i], bound * (std::abs(b[i]) + 1)) << what << " at " << i;
    }
  };
  // A key may round to f16 either way, by 2^-10 of its value, which changes a score by as much of its terms. A code may
  // be off by one, 1/127 of the largest value.
  const double bound = kType == KvType::kF16 ? 0x1p-9 : kType == KvType::kQ8_0 ? 0x1p-6 : 200 * kUlp;
  KvData one_kv(p.s, kType, kManyPositions), two_kv(p.s, kType, kManyPositions);
  one_kv.words = one.kv;
  two_kv.words = two.kv;
  expect_near(one_kv.floats(), two_kv.floats(), bound);
  expect_near(one.y, two.y, 4 * bound);
}

// Groups of one, two and four; head sizes that fill teams and workgroups and some that do not.
TEST_P(GpuHeadsAttention, GivesTheBitsOfTwoKernels) {
  for (const uint32_t pos : {0u, 1u, 62u, 63u, 64u, 130u, 255u}) {
    test_problem<F16x2>(bench(), {.s = {2, 2, 64}, .pos = pos});
    test_problem<F16x2>(bench(), {.s = {4, 2, 96}, .pos = pos, .normed = true, .interleaved = true});
    test_problem<F16x2>(bench(), {.s = {8, 2, 128}, .pos = pos, .normed = true});
    test_problem<F32>(bench(), {.s = {4, 1, 80}, .pos = pos, .normed = true});
    test_problem<F16x2>(bench(), {.s = {4, 1, 80}, .pos = pos, .normed = true, .norms_values = true});
    test_problem<F32>(bench(), {.s = {2, 1, 12}, .pos = pos, .interleaved = true});
    test_problem<I8x4>(bench(), {.s = {8, 2, 128}, .pos = pos, .normed = true});
    test_problem<I8x4>(bench(), {.s = {4, 1, 80}, .pos = pos, .interleaved = true});
  }
}

TEST_P(GpuHeadsAttention, GivesTheBitsOfTwoKernelsInSplits) {
  const gpu::HeadShape s{4, 2, 128};
  for (const uint32_t max_splits : {3u, 4u}) {
    for (const uint32_t pos : {0u, 63u, 64u, 127u, 128u, 200u, 255u}) {
      test_problem<F16x2>(bench(), {.s = s, .pos = pos, .normed = true, .max_splits = max_splits});
      test_problem<F32>(bench(), {.s = s, .pos = pos, .window = 70, .max_splits = max_splits});
      test_problem<I8x4>(bench(), {.s = s, .pos = pos, .max_splits = max_splits});
    }
  }
}

TEST_P(GpuHeadsAttention, GivesTheBitsOfTwoKernelsInAWindow) {
  for (const auto& [window, head_dim] : {std::pair{1u, 80u}, {2u, 100u}, {65u, 96u}, {250u, 36u}}) {
    const gpu::HeadShape s{4, 1, head_dim};
    for (const uint32_t pos : {0u, 1u, 70u, 255u}) {
      test_problem<F16x2>(bench(), {.s = s, .pos = pos, .normed = true, .window = window});
      test_problem<I8x4>(bench(), {.s = s, .pos = pos, .normed = true, .window = window});
    }
  }
}

}  // namespace
}  // namespace tern::conform
