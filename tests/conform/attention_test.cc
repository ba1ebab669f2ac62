// kv_append and attention.
#include "backend/cpu/ops.h"
#include "backend/ref/ops.h"
#include "conform/conform.h"

namespace tern::conform {
namespace {

struct Case {
  int n, first_pos, n_heads, n_kv_heads, head_dim, n_ctx;
};

constexpr Case kCases[] = {
    {1, 0, 1, 1, 2, 1},     {1, 6, 4, 2, 64, 7},     {5, 0, 4, 1, 64, 9},  {3, 8, 6, 3, 96, 16},
    {1, 40, 2, 2, 128, 64}, {9, 31, 20, 5, 128, 40}, {2, 3, 3, 3, 10, 8},  {4, 130, 8, 2, 34, 134},
    {5, 12, 4, 4, 100, 20}, {4, 9, 4, 1, 36, 16},    {3, 8, 2, 1, 80, 12}, {5, 3, 3, 1, 112, 8},
};

struct Cache {
  Cache(const Case& c, KvType type)
      : values(static_cast<size_t>(c.n_kv_heads * c.n_ctx * c.head_dim)),
        k(values * width(type)),
        v(values * width(type)),
        layer{k.data(), v.data(), type, c.n_ctx, c.n_kv_heads, c.head_dim} {}
  static size_t width(KvType type) { return type == KvType::kF16 ? 2 : 4; }
  size_t values;
  Guarded<unsigned char> k, v;
  ops::KvLayer layer;
};

TEST(Conform, KvAppendIsBitIdentical) {
  on_every_target([] {
    for (const KvType type : {KvType::kF16, KvType::kF32}) {
      for (const Case& c : kCases) {
        Guarded<float> k(static_cast<size_t>(c.n * c.n_kv_heads * c.head_dim), 1), v(k.size());
        Values values(7);
        values.fill(k);
        values.fill(v);
        Cache expected(c, type), actual(c, type);
        ref::kv_append({k.data(), v.data(), c.n, c.first_pos, expected.layer});
        run_on(2, cpu::kv_append, {k.data(), v.data(), c.n, c.first_pos, actual.layer});
        EXPECT_EQ(actual.k.values(), expected.k.values());
        EXPECT_EQ(actual.v.values(), expected.v.values());
        EXPECT_TRUE(actual.k.intact() && actual.v.intact());
      }
    }
  });
}

TEST(Conform, Attention) {
  on_every_target([] {
    for (const KvType type : {KvType::kF16, KvType::kF32}) {
      for (size_t index = 0; index < 6 * std::size(kCases);) {  // each with every window
        const Case& c = kCases[index / 6];
        Values values(11);
        const int n_pos = c.first_pos + c.n;
        std::vector<float> k(static_cast<size_t>(n_pos * c.n_kv_heads * c.head_dim)), v(k.size());
        values.fill(k);
        values.fill(v);
        Cache cache(c, type);
        ref::kv_append({k.data(), v.data(), n_pos, 0, cache.layer});
        Guarded<float> q(static_cast<size_t>(c.n * c.n_heads * c.head_dim), 1), expected(q.size()), actual(q.size(), 1);
        values.fill(q);
        const int windows[] = {0, 1, 2, (n_pos + 1) / 2, n_pos, n_pos + 5};
        const int window = windows[index++ % std::size(windows)];
        // tanh is never steeper than 1, so that what is off before stays so; it adds two roundings of the cap.
        const float softcap = index % 2 == 0 ? 20.0f : 0;
        ref::attention({q.data(), c.n, c.n_heads, c.first_pos, window, cache.layer, expected.data(), softcap});
        run_on(3, cpu::attention, {q.data(), c.n, c.n_heads, c.first_pos, window, cache.layer, actual.data(), softcap},
               static_cast<size_t>(cpu::kAttentionTokens * n_pos));
        // A score is off by at most head_dim roundings of Σ |q·k|/√d ≤ 30·30·√d (twice: the largest is subtracted), an
        // exponential by two more; the weighted mean of |v| ≤ 30 by that and a rounding per position, twice.
        const double score_error = (c.head_dim + 4) * kUlp * 900 * std::sqrt(c.head_dim);
        const double bound = 30 * (4 * score_error + (2 * n_pos + 16) * kUlp);
        for (size_t i = 0; i < expected.size(); ++i)
          ASSERT_NEAR(actual[i], expected[i], bound) << c.n_heads << " heads, at " << i;
        EXPECT_TRUE(actual.intact());
      }
    }
  });
}

// A token's bits must not depend on its neighbours in the batch, or cached and full runs would differ.
TEST(Conform, AttentionDoesNotDependOnTheBatch) {
  on_every_target([] {
    for (const KvType type : {KvType::kF16, KvType::kF32}) {
      for (const Case& c : {Case{9, 31, 20, 5, 128, 40}, Case{6, 200, 2, 1, 40, 206}, Case{8, 0, 2, 2, 10, 8}}) {
        for (const int window : {0, 1, 3, 5, 37, 300}) {
          Values values(13);
          const int n_pos = c.first_pos + c.n;
          std::vector<float> k(static_cast<size_t>(n_pos * c.n_kv_heads * c.head_dim)), v(k.size());
          values.fill(k);
          values.fill(v);
          Cache cache(c, type);
          ref::kv_append({k.data(), v.data(), n_pos, 0, cache.layer});
          const auto width = static_cast<size_t>(c.n_heads * c.head_dim);
          std::vector<float> q(static_cast<size_t>(c.n) * width), batch(q.size()), alone(q.size());
          values.fill(q);
          const auto scratch = static_cast<size_t>(cpu::kAttentionTokens * n_pos);
          run_on(2, cpu::attention, {q.data(), c.n, c.n_heads, c.first_pos, window, cache.layer, batch.data()},
                 scratch);
          for (int t = 0; t < c.n; ++t) {
            const size_t at = static_cast<size_t>(t) * width;
            run_on(1, cpu::attention,
                   {q.data() + at, 1, c.n_heads, c.first_pos + t, window, cache.layer, alone.data() + at}, scratch);
          }
          ASSERT_EQ(batch, alone) << "window " << window;
        }
      }
    }
  });
}

// Each query head must read its own group's keys, and no row may see the future: values that name their place.
TEST(Conform, AttentionReadsTheRightHeadAndPositions) {
  on_every_target([] {
    constexpr int kDim = 16, kKvHeads = 2, kHeads = 6, kPositions = 5;
    const Case c{kPositions, 0, kHeads, kKvHeads, kDim, 8};
    std::vector<float> k(kPositions * kKvHeads * kDim, 0.0f), v(k.size());
    for (int pos = 0; pos < kPositions; ++pos) {
      for (int h = 0; h < kKvHeads; ++h) {
        for (int i = 0; i < kDim; ++i)
          v[static_cast<size_t>((pos * kKvHeads + h) * kDim + i)] = static_cast<float>(100 * h + pos);
      }
    }
    Cache cache(c, KvType::kF32);
    run_on(1, cpu::kv_append, {k.data(), v.data(), kPositions, 0, cache.layer});
    std::vector<float> q(kPositions * kHeads * kDim, 1.0f), out(q.size());
    run_on(2, cpu::attention, {q.data(), kPositions, kHeads, 0, 0, cache.layer, out.data()},
           cpu::kAttentionTokens * kPositions);
    for (int pos = 0; pos < kPositions; ++pos) {
      for (int h = 0; h < kHeads; ++h) {
        // Keys are 0, so the weights are equal: the mean of 0 … pos, in the head's group.
        const float expected = static_cast<float>(100 * (h / 3)) + static_cast<float>(pos) / 2;
        EXPECT_NEAR(out[static_cast<size_t>((pos * kHeads + h) * kDim)], expected, 1e-4)
            << "position " << pos << ", head " << h;
      }
    }
  });
}

// A row sees itself and the window − 1 positions before it: values that name their position tell which were read.
TEST(Conform, AttentionReadsTheWindow) {
  on_every_target([] {
    constexpr int kDim = 16, kPositions = 9;
    const Case c{kPositions, 0, 1, 1, kDim, 12};
    std::vector<float> k(kPositions * kDim, 0.0f), v(k.size());
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i / kDim);
    Cache cache(c, KvType::kF32);
    run_on(1, cpu::kv_append, {k.data(), v.data(), kPositions, 0, cache.layer});
    std::vector<float> q(kPositions * kDim, 1.0f), out(q.size());
    for (const int window : {1, 2, 4, 8, 9, 10, 100}) {
      run_on(2, cpu::attention, {q.data(), kPositions, 1, 0, window, cache.layer, out.data()},
             cpu::kAttentionTokens * kPositions);
      for (int pos = 0; pos < kPositions; ++pos) {
        const int first = std::max(0, pos - window + 1);
        EXPECT_NEAR(out[static_cast<size_t>(pos * kDim)], static_cast<float>(first + pos) / 2, 1e-5)
            << "position " << pos << ", window " << window;
      }
    }
  });
}

}  // namespace
}  // namespace tern::conform
