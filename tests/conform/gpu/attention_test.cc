// kv_append, attention without splits, and attention in splits with the merge.
#include "backend/gpu/kernels/attention/attention.h"

#include <cmath>
#include <concepts>

#include "backend/gpu/kernels/attention/grouped_attention.h"
#include "backend/gpu/kernels/attention/serial_attention.h"
#include "conform/gpu/attention_problem.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using Problem = AttentionProblem;
using Stats = HeadStats;
using GpuAttention = GpuConform;
TERN_FOR_VARIANTS_WITHOUT_INTEGERS(GpuAttention);

// Groups of one, two, four and six heads; head sizes that fill a workgroup evenly and some that do not.
constexpr gpu::HeadShape kShapes[] = {{2, 2, 64},  {4, 1, 80}, {8, 2, 128}, {2, 2, 36}, {4, 4, 100},
                                      {4, 2, 112}, {6, 1, 32}, {14, 2, 64}, {5, 1, 48}};

template <class KvWord>
void test_append(GpuBench& bench, const gpu::HeadShape& s, uint32_t pos, uint32_t n) {
  // Values that f16 represents exactly, so that nothing is rounded.
  auto k = random(size_t{n} * s.n_kv_heads * s.head_dim, pos), v = random(k.size(), pos + 1);
  for (float& x : k) x = f16_to_f32(f32_to_f16(x));
  for (float& x : v) x = f16_to_f32(f32_to_f16(x));
  KvData expected(s, kv_type_of<KvWord>(), kManyPositions), actual(s, kv_type_of<KvWord>(), kManyPositions);
  expected.append(k.data(), v.data(), static_cast<int>(n), static_cast<int>(pos));
  bench.run(gpu::kv_append<KvWord>({.heads = s}), {.x = 2 * s.n_kv_heads, .y = n}, in<F32>(k), in<F32>(v),
            in<U32>(actual.params(pos, n)), out<KvWord>(actual.words));
  EXPECT_EQ(actual.words, expected.words) << n << " tokens at " << pos;
}

TEST_P(GpuAttention, KvAppendIsBitIdentical) {
  for (const auto& s : kShapes) {
    for (const auto& [pos, n] : {std::pair{0u, 1u}, {0u, 70u}, {255u, 1u}, {64u, 9u}}) {
      test_append<F16x2>(bench(), s, pos, n);
      test_append<F32>(bench(), s, pos, n);
      test_append<I8x4>(bench(), s, pos, n);
    }
  }
}

TEST_P(GpuAttention, KvAppendRoundsToHalves) {
  const gpu::HeadShape& s = kShapes[1];
  const auto k = random(s.head_dim, 1, 3), v = random(s.head_dim, 2, 1e-4f);  // some of v are subnormal halves
  KvData expected(s, KvType::kF16, kManyPositions), actual(s, KvType::kF16, kManyPositions);
  expected.append(k.data(), v.data(), 1, 4);
  bench().run(gpu::kv_append<F16x2>({.heads = s}), {.x = 2 * s.n_kv_heads}, in<F32>(k), in<F32>(v),
              in<U32>(actual.params(4, 1)), out<F16x2>(actual.words));
  const auto a = actual.floats(), b = expected.floats();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i])) continue;
    ASSERT_NEAR(a[i], b[i], kv_error(KvType::kF16, b[i])) << i;
  }
}

// Scales that are subnormal halves, zero, and nearly infinite; groups with a single nonzero value; and values halfway
// between two codes.
TEST_P(GpuAttention, KvAppendMakesTheCodesAndScalesOfTheReference) {
  for (const gpu::HeadShape& s : kShapes) {
    const size_t n = 9, count = n * s.n_kv_heads * s.head_dim;
    auto k = random(count, 1, 3), v = random(count, 2, 1);
    for (size_t i = 0; i < count; ++i) {
      const size_t row = i / s.head_dim;
      v[i] *= std::ldexp(1.0f, -4 * static_cast<int>(row % 9));
      if (row % 5 == 1) v[i] = i % 32 == 7 ? -3.0f : 0.0f;
      if (row % 5 == 2) k[i] = 0;
      if (row % 5 == 3) k[i] = i % 32 == 0 ? 127.0f : static_cast<float>(i % 32) - 0.5f;  // a scale of 1
      if (row % 5 == 4 && i % 32 == 3) k[i] = 8e6f;                                       // a nearly infinite scale
    }
    KvData expected(s, KvType::kQ8_0, kManyPositions), actual(s, KvType::kQ8_0, kManyPositions);
    expected.append(k.data(), v.data(), static_cast<int>(n), 60);
    bench().run(gpu::kv_append<I8x4>({.heads = s}), {.x = 2 * s.n_kv_heads, .y = static_cast<uint32_t>(n)}, in<F32>(k),
                in<F32>(v), in<U32>(actual.params(60, static_cast<uint32_t>(n))), out<I8x4>(actual.words));
    EXPECT_EQ(actual.words, expected.words) << "head_dim " << s.head_dim;
  }
}

template <class KvWord>
void test_serial(GpuBench& bench, const Problem& p) {
  if (!bench.has_serial_subgroups()) return;
  const gpu::SerialAttentionConfig config{.heads = p.s, .caps = bench.caps(), .window = p.window, .softcap = p.softcap};
  auto y = poisoned<float>(p.expected.size());
  bench.run(gpu::serial_attention<KvWord>(config), {.x = p.s.n_heads, .y = p.n}, in<Vec4<F32>>(p.q),
            in<gpu::KvQuad<KvWord>>(p.kv.words), in<U32>(p.params()), out<Vec4<F32>>(y));
  p.expect(y, "serial");
}

// Each group of lanes has two positions of a chunk; with splits it has one.
template <class KvWord>
void test_groups(GpuBench& bench, const Problem& p) {
  const bool is_like_its_neighbor = p.n == 1 && (p.pos == 1 || p.pos == 62 || p.pos == 63 || p.pos == 127);
  if (gpu::heads_together(p.s) == 1 || is_like_its_neighbor || (std::same_as<KvWord, F32> && p.n == 1)) return;
  const uint32_t has_bytes = bench.device().limits().workgroup_bytes;
  const auto config = gpu::fit(
      gpu::AttentionConfig{.heads = p.s, .caps = bench.caps(), .window = p.window, .softcap = p.softcap, .rounds = 2});
  const bool has_room = gpu::has_grouped_attention<KvWord>(config, has_bytes);
  ASSERT_TRUE(has_room || bench.caps().subgroup == 0 || has_bytes < 32768);
  if (!has_room) return;
  auto y = poisoned<float>(p.expected.size());
  Stats stats(p);
  bench.run(gpu::grouped_attention<KvWord>(config), {.x = p.s.n_heads / gpu::heads_together(p.s), .y = p.n},
            in<Vec4<F32>>(p.q), in<gpu::KvQuad<KvWord>>(p.kv.words), in<U32>(p.params()), out<F32>(y),
            in<F32>(stats.gain), out<gpu::NormStats>(stats.parts));
  p.expect(y, "in groups");
  stats.expect(y);
}

template <class KvWord>
void test_unsplit(GpuBench& bench, const Problem& p) {
  const auto config =
      gpu::fit(gpu::AttentionConfig{.heads = p.s, .caps = bench.caps(), .window = p.window, .softcap = p.softcap});
  auto y = poisoned<float>(p.expected.size());
  Stats stats(p);
  bench.run(gpu::attention<KvWord>(config), {.x = p.s.n_heads, .y = p.n}, in<Vec4<F32>>(p.q),
            in<gpu::KvQuad<KvWord>>(p.kv.words), in<U32>(p.params()), out<F32>(y), in<F32>(stats.gain),
            out<gpu::NormStats>(stats.parts));
  p.expect(y, "unsplit");
  stats.expect(y);
  test_groups<KvWord>(bench, p);
  test_serial<KvWord>(bench, p);
}

// Attention with `heads` heads in a workgroup, in splits that are merged.
template <class KvWord>
void test_merged(GpuBench& bench, const Problem& p, const gpu::AttentionConfig& config,
                 const gpu::AttentionKernel<KvWord>& kernel, uint32_t heads, const char* how) {
  const uint32_t splits = std::min(ceil_div(p.pos + p.n, config.chunk), config.max_splits);
  auto parts = poisoned<float>(size_t{p.n} * p.s.n_heads * config.max_splits * config.partial_stride());
  Stats stats(p);
  auto unused = stats.parts;
  bench.run(kernel, {.x = p.s.n_heads / heads, .y = p.n, .z = splits}, in<Vec4<F32>>(p.q),
            in<gpu::KvQuad<KvWord>>(p.kv.words), in<U32>(p.params()), out<F32>(parts), in<F32>(stats.gain),
            out<gpu::NormStats>(unused));
  auto y = poisoned<float>(p.expected.size());
  bench.run(gpu::attention_merge(config), {.x = p.s.n_heads, .y = p.n}, in<F32>(parts), in<U32>(p.params()),
            out<F32>(y), in<F32>(stats.gain), out<gpu::NormStats>(stats.parts));
  p.expect(y, how);
  stats.expect(y);
}

// With several positions for each group of lanes where workgroup memory has room for their reductions.
template <class KvWord>
void test_split_groups(GpuBench& bench, const Problem& p, uint32_t max_splits) {
  if (gpu::heads_together(p.s) == 1 || (std::same_as<KvWord, F32> && p.n == 1)) return;
  const uint32_t has_bytes = bench.device().limits().workgroup_bytes;
  gpu::AttentionConfig config{.heads = p.s,
                              .caps = bench.caps(),
                              .workgroup = 128,
                              .max_splits = max_splits,
                              .window = p.window,
                              .softcap = p.softcap,
                              .per_pos = 8,
                              .rounds = 4};
  while (config.rounds > 1 && !gpu::has_grouped_attention<KvWord>(gpu::fit(config), has_bytes)) config.rounds /= 2;
  config = gpu::fit(config);
  ASSERT_TRUE(gpu::has_grouped_attention<KvWord>(config, has_bytes));
  test_merged<KvWord>(bench, p, config, gpu::grouped_attention<KvWord>(config), gpu::heads_together(p.s),
                      "split in groups");
}

template <class KvWord>
void test_split(GpuBench& bench, const Problem& p, uint32_t max_splits) {
  const auto config = gpu::fit(gpu::AttentionConfig{
      .heads = p.s, .caps = bench.caps(), .max_splits = max_splits, .window = p.window, .softcap = p.softcap});
  test_merged<KvWord>(bench, p, config, gpu::attention<KvWord>(config), 1, "split");
  test_split_groups<KvWord>(bench, p, max_splits);
}

// Numbers of positions around the chunk size, and others.
template <class Test>
void for_problems(KvType type, Test&& test) {
  uint64_t seed = 1;
  for (const auto& s : kShapes) {
    for (const uint32_t n_pos : {1u, 2u, 63u, 64u, 65u, 128u, 129u, 200u}) test(Problem(s, type, n_pos - 1, 1, ++seed));
    test(Problem(s, type, 69, 70, ++seed));
    test(Problem(s, type, 67, 9, ++seed));
    test(Problem(s, type, 255, 3, ++seed));
  }
}

TEST_P(GpuAttention, UnsplitFromCodes) {
  for_problems(KvType::kQ8_0, [&](const Problem& p) { test_unsplit<I8x4>(bench(), p); });
}

TEST_P(GpuAttention, Unsplit) {
  for_problems(KvType::kF16, [&](const Problem& p) { test_unsplit<F16x2>(bench(), p); });
  for_problems(KvType::kF32, [&](const Problem& p) { test_unsplit<F32>(bench(), p); });
}

// Each shape has kernels of its own, and the cap does not depend on it: a few do.
TEST_P(GpuAttention, SoftcappedScores) {
  for (const auto& s : {kShapes[0], kShapes[6], kShapes[8]}) {
    const Problem p(s, KvType::kF16, 130, 3, s.head_dim, 3.0f, 0, 2.0f);
    test_unsplit<F16x2>(bench(), p);
    test_split<F16x2>(bench(), p, 4);
    const Problem codes(s, KvType::kQ8_0, 130, 3, s.head_dim, 3.0f, 0, 2.0f);
    test_unsplit<I8x4>(bench(), codes);
    test_split<I8x4>(bench(), codes, 4);
  }
}

TEST_P(GpuAttention, SplitAndMerged) {
  for_problems(KvType::kF16, [&](const Problem& p) { test_split<F16x2>(bench(), p, 4); });
  // Fewer workgroups than chunks: each takes several.
  for_problems(KvType::kF32, [&](const Problem& p) { test_split<F32>(bench(), p, 3); });
}

TEST_P(GpuAttention, SplitAndMergedFromCodes) {
  for_problems(KvType::kQ8_0, [&](const Problem& p) { test_split<I8x4>(bench(), p, 3); });
}

// Windows shorter than a chunk, a little longer than a chunk, and longer than the history; for one token and for many.
TEST_P(GpuAttention, Window) {
  uint64_t seed = 90;
  const gpu::HeadShape s = {4, 2, 64};
  for (const uint32_t window : {5u, 65u, 250u}) {
    for (const auto& [n_pos, n] : {std::pair{1u, 1u}, {70u, 1u}, {200u, 1u}, {256u, 9u}}) {
      const Problem p(s, KvType::kF32, n_pos - 1, n, ++seed, 0.3f, window);
      test_unsplit<F32>(bench(), p);
      test_split<F32>(bench(), p, 3);
      const Problem codes(s, KvType::kQ8_0, n_pos - 1, n, ++seed, 0.3f, window);
      test_unsplit<I8x4>(bench(), codes);
      test_split<I8x4>(bench(), codes, 3);
    }
  }
}

// Scores are hundreds apart: e^score overflows or vanishes unless the largest score is subtracted first.
TEST_P(GpuAttention, ScoresFarApart) {
  for (const auto& s : kShapes) {
    for (const uint64_t seed : {31u, 32u, 33u}) {
      const Problem p(s, KvType::kF32, 199, 3, seed, 60);
      test_unsplit<F32>(bench(), p);
      test_split<F32>(bench(), p, 4);
    }
  }
}

// Keys are 0, so the weights are equal: the result is the mean of the values, which encode head and position.
TEST_P(GpuAttention, ReadsTheRightHeadsAndPositions) {
  const gpu::HeadShape s{6, 2, 64};
  constexpr uint32_t kTokens = 70;
  const std::vector<float> k(size_t{kTokens} * s.n_kv_heads * s.head_dim, 0.0f), q(size_t{kTokens} * 6 * 64, 1.0f);
  std::vector<float> v, y = poisoned<float>(q.size()), stats = poisoned<float>(size_t{2} * kTokens * 6);
  for (uint32_t p = 0; p < kTokens; ++p) {
    for (uint32_t h = 0; h < s.n_kv_heads; ++h) {
      for (uint32_t i = 0; i < s.head_dim; ++i)
        v.push_back(static_cast<float>(1000 * h + 4 * p + (i == 9 ? 100000 : 0)));
    }
  }
  KvData kv(s, KvType::kF32, kManyPositions);
  kv.append(k.data(), v.data(), kTokens, 0);
  const auto config = gpu::fit(gpu::AttentionConfig{.heads = s, .caps = caps()});
  bench().run(gpu::attention<F32>(config), {.x = s.n_heads, .y = kTokens}, in<Vec4<F32>>(q),
              in<gpu::KvQuad<F32>>(kv.words), in<U32>(kv.params(0, kTokens)), out<F32>(y),
              in<F32>(std::vector<float>(6 * 64, 1.0f)), out<gpu::NormStats>(stats));
  for (uint32_t p = 0; p < kTokens; ++p) {
    for (uint32_t h = 0; h < s.n_heads; ++h) {
      const float* row = y.data() + size_t{p * s.n_heads + h} * s.head_dim;
      const double mean = 1000.0 * (h / 3) + 2 * p;  // of 0, 4 … 4p
      ASSERT_NEAR(row[0], mean, mean * 200 * kUlp) << "position " << p << ", head " << h;
      ASSERT_NEAR(row[9], mean + 100000, 101000 * 200 * kUlp) << "position " << p << ", head " << h;
    }
  }
}

}  // namespace
}  // namespace tern::conform
