// Attention of prompts on subgroup matrices.
#include "backend/gpu/kernels/attention/matrix_attention.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "backend/gpu/device/device.h"
#include "conform/gpu/attention_problem.h"

namespace tern::conform {
namespace {

using namespace wgsl;

std::vector<Variant> variants_with_room_for_matrices() {
  auto some = variants_without_integers();
  std::erase_if(some,
                [](const Variant& v) { return v.without.f16 || v.without.subgroups || v.without.default_limits; });
  for (Variant& v : some) v.compare_robustness = false;  // drivers take minutes for these kernels with it
  return some;
}

class GpuMatrixAttention : public GpuConform {
 protected:
  // nullopt if the device has no suitable matrices.
  std::optional<gpu::MatrixAttentionConfig> config_for(const AttentionProblem& p, uint32_t subgroups, uint32_t chunk) {
    const gpu::Features& f = bench().device().features();
    const gpu::Limits& limits = bench().device().limits();
    if (!f.f16 || f.subgroup_min != f.subgroup_max) return std::nullopt;
    for (const MatrixShape& shape : f.matrices) {
      const gpu::MatrixAttentionConfig config{.heads = p.s,
                                              .shape = shape,
                                              .subgroup = f.subgroup_min,
                                              .subgroups = subgroups,
                                              .chunk = chunk,
                                              .window = p.window,
                                              .softcap = p.softcap};
      if (gpu::has_matrix_attention(config, limits.invocations, limits.workgroup_bytes)) return config;
    }
    return std::nullopt;
  }

  template <class KvWord>
  void test(const AttentionProblem& p, uint32_t subgroups = 4, uint32_t chunk = 32) {
    const auto config = config_for(p, subgroups, chunk);
    if (!config) GTEST_SKIP() << "no such matrices";
    auto y = poisoned<float>(p.expected.size());
    HeadStats stats(p);
    bench().run(gpu::matrix_attention<KvWord>(*config), {.x = p.s.n_heads, .y = ceil_div(p.n, config->tokens())},
                in<Vec4<F32>>(p.q), in<gpu::MatrixKvQuad<KvWord>>(p.kv.words), in<U32>(p.params()), out<F32>(y),
                in<F32>(stats.gain), out<gpu::NormStats>(stats.parts));
    p.expect(y, "on matrices", true);
    stats.expect(y);
  }
};
INSTANTIATE_TEST_SUITE_P(Gpu, GpuMatrixAttention, testing::ValuesIn(variants_with_room_for_matrices()),
                         [](const auto& test) { return test.param.name; });

// Full and partial tiles of tokens, from position 0 and later; heads with shared keys and without.
TEST_P(GpuMatrixAttention, AsTheReference) {
  uint64_t seed = 1;
  for (const gpu::HeadShape& s : {gpu::HeadShape{4, 2, 64}, {2, 2, 48}}) {
    for (const auto& [n_pos, n] : {std::pair{1u, 1u}, {32u, 32u}, {70u, 70u}, {129u, 37u}, {256u, 65u}, {255u, 3u}}) {
      test<F16x2>(AttentionProblem(s, KvType::kF16, n_pos - 1, n, ++seed));
    }
  }
}

// Not of 256 dimensions: software drivers take minutes to compile that.
TEST_P(GpuMatrixAttention, LargeHeads) { test<F16x2>(AttentionProblem({2, 1, 144}, KvType::kF16, 69, 20, 61), 1, 16); }

TEST_P(GpuMatrixAttention, FromCodes) {
  uint64_t seed = 21;
  for (const auto& [n_pos, n] : {std::pair{70u, 70u}, {255u, 40u}}) {
    test<I8x4>(AttentionProblem({4, 2, 48}, KvType::kQ8_0, n_pos - 1, n, ++seed));
  }
}

TEST_P(GpuMatrixAttention, OtherTiles) {
  test<F16x2>(AttentionProblem({2, 1, 32}, KvType::kF16, 150, 70, 31), 8, 32);
  test<F16x2>(AttentionProblem({2, 1, 32}, KvType::kF16, 150, 70, 32), 2, 64);
}

TEST_P(GpuMatrixAttention, WindowsAndSoftcaps) {
  uint64_t seed = 90;
  const gpu::HeadShape s = {4, 2, 32};
  for (const uint32_t window : {1u, 40u}) {
    test<F16x2>(AttentionProblem(s, KvType::kF16, 199, 70, ++seed, 0.3f, window));
  }
  test<F16x2>(AttentionProblem(s, KvType::kF16, 130, 40, ++seed, 3.0f, 0, 2.0f));
}

// Scores far apart, so that sums are rescaled now and then. In the last case scores grow with the position, so that
// every chunk rescales.
TEST_P(GpuMatrixAttention, ScoresFarApart) {
  const gpu::HeadShape s = {2, 1, 32};
  for (const uint64_t seed : {31u, 32u}) test<F16x2>(AttentionProblem(s, KvType::kF16, 199, 40, seed, 30));
  AttentionProblem growing(s, KvType::kF16, 199, 40, 33);
  std::vector<float> k(size_t{200} * 32), v = random(k.size(), 5);
  for (size_t i = 0; i < k.size(); ++i) k[i] = static_cast<float>(i / 32) / 16;
  growing.q.assign(growing.q.size(), 0.5f);
  growing.kv.append(k.data(), v.data(), 200, 0);
  growing.expect_of_reference();
  test<F16x2>(growing);
}

// Three sequences in one tile; the second has only one token.
TEST_P(GpuMatrixAttention, SequencesShareATile) {
  const gpu::HeadShape s = {2, 1, 32};
  const AttentionProblem parts[] = {AttentionProblem(s, KvType::kF16, 180, 21, 41),
                                    AttentionProblem(s, KvType::kF16, 99, 1, 42),
                                    AttentionProblem(s, KvType::kF16, 49, 50, 43)};
  const auto config = config_for(parts[0], 4, 32);
  if (!config) GTEST_SKIP() << "no such matrices";
  std::vector<float> q;
  std::vector<uint32_t> words, tables, params = {0, kPoison, kPoison};
  for (const AttentionProblem& p : parts) params[0] += p.n;
  for (const AttentionProblem& p : parts) {
    q.insert(q.end(), p.q.begin(), p.q.end());
    const auto first_block = static_cast<uint32_t>(4 * words.size() / p.kv.block_bytes());
    const uint32_t table = gpu::kFirstRow + gpu::kRowWords * params[0] + static_cast<uint32_t>(tables.size());
    for (uint32_t i = 0; i < p.n; ++i) params.insert(params.end(), {p.pos + i, table, 0});
    for (const uint32_t block : p.kv.table) tables.push_back(first_block + block);
    words.insert(words.end(), p.kv.words.begin(), p.kv.words.end());
  }
  params.insert(params.end(), tables.begin(), tables.end());
  auto y = poisoned<float>(q.size());
  std::vector<float> stats = poisoned<float>(size_t{2} * params[0] * s.n_heads);
  bench().run(gpu::matrix_attention<F16x2>(*config), {.x = s.n_heads, .y = ceil_div(params[0], config->tokens())},
              in<Vec4<F32>>(q), in<gpu::MatrixKvQuad<F16x2>>(words), in<U32>(params), out<F32>(y),
              in<F32>(std::vector<float>(size_t{s.n_heads} * s.head_dim, 1.0f)), out<gpu::NormStats>(stats));
  size_t first = 0;
  for (const AttentionProblem& p : parts) {
    p.expect(std::span(y).subspan(first, p.expected.size()), "in a tile with others", true);
    first += p.expected.size();
  }
}

// A score without a value: far below the others, like them, and so far above that the result vanishes.
TEST_P(GpuMatrixAttention, Sinks) {
  AttentionProblem p({3, 1, 32}, KvType::kF16, 99, 40, 51, 1.0f);
  const auto config = config_for(p, 4, 32);
  if (!config) GTEST_SKIP() << "no such matrices";
  const std::vector<float> sinks = {-30, 2, 300};
  const size_t dim = p.s.head_dim;
  for (size_t row = 0; row < p.expected.size() / dim; ++row) {
    const size_t n_pos = p.pos + row / p.s.n_heads + 1;
    double greatest = -1e30, total = 0;
    std::vector<double> scores(n_pos);
    for (size_t pos = 0; pos < n_pos; ++pos) {
      const float* const key = &p.values[p.kv.row(0, 0, pos) * dim];
      for (size_t i = 0; i < dim; ++i) scores[pos] += static_cast<double>(p.q[row * dim + i]) * key[i] / std::sqrt(dim);
      greatest = std::max(greatest, scores[pos]);
    }
    for (const double score : scores) total += std::exp(score - greatest);
    const double share = total / (total + std::exp(sinks[row % p.s.n_heads] - greatest));
    for (size_t i = 0; i < dim; ++i) p.expected[row * dim + i] *= static_cast<float>(share);
  }
  auto y = poisoned<float>(p.expected.size());
  bench().run(gpu::matrix_attention_sinks<F16x2>(*config), {.x = p.s.n_heads, .y = ceil_div(p.n, config->tokens())},
              in<Vec4<F32>>(p.q), in<gpu::MatrixKvQuad<F16x2>>(p.kv.words), in<U32>(p.params()), in<F32>(sinks),
              out<F32>(y));
  p.expect(y, "with sinks", true);
}

}  // namespace
}  // namespace tern::conform
