// kv_append and attention.
#include <deque>

#include "backend/cpu/ops/attention_parts.h"
#include "backend/cpu/ops/ops.h"
#include "backend/host_memory.h"
#include "backend/ref/ops.h"
#include "conform/conform.h"
#include "conform/kv_blocks.h"

namespace tern::conform {
namespace {

struct Case {
  int n, first_pos, n_heads, n_kv_heads, head_dim;
};

constexpr Case kCases[] = {
    {1, 0, 1, 1, 2},     {1, 6, 4, 2, 64},    {5, 0, 4, 1, 64},   {3, 8, 6, 3, 96},   {1, 40, 2, 2, 128},
    {9, 31, 20, 5, 128}, {2, 3, 3, 3, 10},    {4, 130, 8, 2, 34}, {5, 12, 4, 4, 100}, {4, 9, 4, 1, 36},
    {3, 8, 2, 1, 80},    {5, 3, 3, 1, 112},   {3, 126, 8, 2, 64}, {1, 200, 6, 2, 48}, {1, 63, 5, 1, 32},
    {1, 64, 12, 2, 128}, {70, 60, 2, 1, 16},  {1, 255, 4, 1, 32}, {1, 256, 8, 2, 64}, {1, 900, 6, 2, 40},
    {6, 509, 4, 2, 24},  {3, 1023, 5, 1, 16},
};

constexpr KvType kTypes[] = {KvType::kF16, KvType::kF32, KvType::kQ8_0};

KvOfOneLayer blocks_of(const Case& c, KvType type, unsigned seed = 1) {
  return {c.n_kv_heads, c.head_dim, c.first_pos + c.n, type, seed};
}

void append(void (*op)(const ops::KvAppend&), KvOfOneLayer& kv, const float* k, const float* v, int n, int pos) {
  op({k, v, kv.rows(n, pos).rows, kv.layer});
}

// Runs the op as the backend does: with buffers for split histories where each row belongs to another sequence.
void run_attention(int n_threads, const ops::Attention& op) {
  static cpu::AttentionParts parts;  // still contains the previous op's data
  if (op.tiles.size() == op.rows.size()) {
    const int n_pos = std::ranges::max(op.rows, {}, &ops::KvRow::pos).pos + 1;
    CHECK(parts.reserve(static_cast<int>(op.rows.size()), op.n_heads, op.cache.head_dim, n_pos));
  }
  std::atomic<int> next = 0;
  auto& scratch = scratch_of(n_threads, cpu::attention_scratch(op.cache.head_dim));
  team_of(n_threads).run([&](int worker) {
    cpu::WorkQueue queue(next, n_threads, scratch[static_cast<size_t>(worker)]);
    cpu::attention(op, parts, queue);
  });
}

TEST(Conform, KvAppendIsBitIdentical) {
  on_every_target([] {
    for (const KvType type : kTypes) {
      for (const Case& c : kCases) {
        Guarded<float> k(static_cast<size_t>(c.n * c.n_kv_heads * c.head_dim), 1), v(k.size());
        Values values(7);
        values.fill(k);
        values.fill(v);
        KvOfOneLayer expected = blocks_of(c, type), actual = blocks_of(c, type, 2);
        append(ref::kv_append, expected, k.data(), v.data(), c.n, c.first_pos);
        const auto rows = actual.rows(c.n, c.first_pos);
        run_on(2, cpu::kv_append, {k.data(), v.data(), rows.rows, actual.layer});
        EXPECT_EQ(actual.values(), expected.values());
        EXPECT_TRUE(actual.intact());
      }
    }
  });
}

TEST(Conform, Attention) {
  on_every_target([] {
    for (const KvType type : kTypes) {
      for (size_t index = 0; index < 6 * std::size(kCases);) {  // each case with every window
        const Case& c = kCases[index / 6];
        Values values(11);
        const int n_pos = c.first_pos + c.n;
        std::vector<float> k(static_cast<size_t>(n_pos * c.n_kv_heads * c.head_dim)), v(k.size());
        values.fill(k);
        values.fill(v);
        KvOfOneLayer cache = blocks_of(c, type);
        append(ref::kv_append, cache, k.data(), v.data(), n_pos, 0);
        const auto [rows, tiles] = cache.rows(c.n, c.first_pos);
        Guarded<float> q(static_cast<size_t>(c.n * c.n_heads * c.head_dim), 1), expected(q.size()), actual(q.size(), 1);
        values.fill(q);
        const int windows[] = {0, 1, 2, (n_pos + 1) / 2, n_pos, n_pos + 5};
        const int window = windows[index++ % std::size(windows)];
        // tanh is never steeper than 1, so it does not amplify the error. It adds two roundings of the cap.
        const float softcap = index % 2 == 0 ? 20.0f : 0;
        ref::attention({q.data(), rows, tiles, c.n_heads, window, cache.layer, expected.data(), softcap});
        run_attention(3, {q.data(), rows, tiles, c.n_heads, window, cache.layer, actual.data(), softcap});
        // A score is off by at most head_dim roundings of Σ |q·k|/√d ≤ 30·30·√d (twice: the largest is subtracted) and
        // an exponential by two more. The weighted mean of |v| ≤ 30 adds that error and a rounding per position, both
        // twice. When split parts are added, each is multiplied by an exponential with a score's error.
        const double score_error = (c.head_dim + 4) * kUlp * 900 * std::sqrt(c.head_dim);
        const double bound = 30 * (4 * score_error + (2 * n_pos + 16) * kUlp);
        for (size_t i = 0; i < expected.size(); ++i)
          ASSERT_NEAR(actual[i], expected[i], bound) << c.n_heads << " heads, at " << i;
        EXPECT_TRUE(actual.intact());
      }
    }
  });
}

// A token's bits must not depend on its neighbors in the batch; otherwise cached and full runs would differ.
TEST(Conform, AttentionDoesNotDependOnTheBatch) {
  on_every_target([] {
    for (const KvType type : kTypes) {
      for (const Case& c : {Case{9, 31, 20, 5, 128}, Case{6, 200, 2, 1, 40}, Case{8, 0, 2, 2, 10},
                            Case{5, 61, 6, 2, 64}, Case{7, 509, 4, 2, 24}, Case{6, 1021, 10, 2, 36}}) {
        for (const int window : {0, 1, 3, 5, 37, 256, 300, 515}) {
          Values values(13);
          const int n_pos = c.first_pos + c.n;
          std::vector<float> k(static_cast<size_t>(n_pos * c.n_kv_heads * c.head_dim)), v(k.size());
          values.fill(k);
          values.fill(v);
          KvOfOneLayer cache = blocks_of(c, type);
          append(ref::kv_append, cache, k.data(), v.data(), n_pos, 0);
          const auto [rows, tiles] = cache.rows(c.n, c.first_pos);
          const auto width = static_cast<size_t>(c.n_heads * c.head_dim);
          std::vector<float> q(static_cast<size_t>(c.n) * width), batch(q.size()), alone(q.size());
          values.fill(q);
          run_attention(2, {q.data(), rows, tiles, c.n_heads, window, cache.layer, batch.data()});
          for (int t = 0; t < c.n; ++t) {
            const size_t at = static_cast<size_t>(t) * width;
            const auto one = cache.rows(1, c.first_pos + t);
            run_attention(1 + t % 3,
                          {q.data() + at, one.rows, one.tiles, c.n_heads, window, cache.layer, alone.data() + at});
          }
          ASSERT_EQ(batch, alone) << "window " << window;
        }
      }
    }
  });
}

// A batch with rows of several sequences: each row gets the same result as alone, whatever its neighbors are.
TEST(Conform, AttentionDoesNotDependOnOtherSequences) {
  on_every_target([] {
    for (const KvType type : kTypes) {
      for (const bool one_token_each : {true, false}) {
        constexpr int kHeads = 12, kKvHeads = 2, kDim = 64, kWidth = kHeads * kDim;
        const int n_positions[] = {1, 65, 7, 200, 64, 256, 257, 900};
        std::deque<KvOfOneLayer> caches;
        std::vector<ops::KvRow> rows;
        std::vector<ops::RowTile> tiles;
        Values values(17);
        for (const int n_pos : n_positions) {
          const KvOfOneLayer& cache = caches.emplace_back(kKvHeads, kDim, n_pos, type, static_cast<unsigned>(n_pos));
          std::vector<float> k(static_cast<size_t>(n_pos * kKvHeads * kDim)), v(k.size());
          values.fill(k);
          values.fill(v);
          append(ref::kv_append, caches.back(), k.data(), v.data(), n_pos, 0);
          const int n = one_token_each ? 1 : std::min(n_pos, 6);
          const auto own = cache.rows(n, n_pos - n);
          for (const auto& tile : own.tiles) tiles.push_back({static_cast<int>(rows.size()) + tile.first, tile.n});
          rows.insert(rows.end(), own.rows.begin(), own.rows.end());
        }
        std::vector<float> q(rows.size() * kWidth), together(q.size()), alone(q.size());
        values.fill(q);
        const ops::KvLayer& layer = caches[0].layer;
        run_attention(3, {q.data(), rows, tiles, kHeads, 0, layer, together.data()});
        for (size_t r = 0; r < rows.size(); ++r) {
          const ops::RowTile tile{0, 1};
          run_attention(
              1, {q.data() + r * kWidth, {&rows[r], 1}, {&tile, 1}, kHeads, 0, layer, alone.data() + r * kWidth});
        }
        ASSERT_EQ(together, alone);
      }
    }
  });
}

// Each query head must read its own group's keys, and no row may see the future. Each value encodes its head and
// position.
TEST(Conform, AttentionReadsTheRightHeadAndPositions) {
  on_every_target([] {
    constexpr int kDim = 16, kKvHeads = 2, kHeads = 6, kPositions = 5;
    const Case c{kPositions, 0, kHeads, kKvHeads, kDim};
    std::vector<float> k(kPositions * kKvHeads * kDim, 0.0f), v(k.size());
    for (int pos = 0; pos < kPositions; ++pos) {
      for (int h = 0; h < kKvHeads; ++h) {
        for (int i = 0; i < kDim; ++i)
          v[static_cast<size_t>((pos * kKvHeads + h) * kDim + i)] = static_cast<float>(100 * h + pos);
      }
    }
    KvOfOneLayer cache = blocks_of(c, KvType::kF32);
    const auto [rows, tiles] = cache.rows(kPositions, 0);
    run_on(1, cpu::kv_append, {k.data(), v.data(), rows, cache.layer});
    std::vector<float> q(kPositions * kHeads * kDim, 1.0f), out(q.size());
    run_attention(2, {q.data(), rows, tiles, kHeads, 0, cache.layer, out.data()});
    for (int pos = 0; pos < kPositions; ++pos) {
      for (int h = 0; h < kHeads; ++h) {
        // Keys are 0, so all weights are equal: the result is the mean of 0 … pos in the head's group.
        const float expected = static_cast<float>(100 * (h / 3)) + static_cast<float>(pos) / 2;
        EXPECT_NEAR(out[static_cast<size_t>((pos * kHeads + h) * kDim)], expected, 1e-4)
            << "position " << pos << ", head " << h;
      }
    }
  });
}

// A key that is not a number has a weight that is none, wherever it stands and however finite its value is.
TEST(Conform, AttentionKeepsNan) {
  on_every_target([] {
    constexpr int kDim = 16, kPositions = 600;  // several runs
    for (const int bad : {0, 3, 300, 599}) {
      // Not f16: where a processor has no conversion of halves, Highway makes numbers of NaN.
      KvOfOneLayer cache = blocks_of({kPositions, 0, 1, 1, kDim}, KvType::kF32);
      std::vector<float> k(kPositions * kDim, 1.0f), v(k.size(), 2.0f);
      k[static_cast<size_t>(bad * kDim + 5)] = NAN;
      append(ref::kv_append, cache, k.data(), v.data(), kPositions, 0);
      const auto [rows, tiles] = cache.rows(kPositions, 0);
      std::vector<float> q(kPositions * kDim, 1.0f), expected(q.size()), out(q.size());
      ref::attention({q.data(), rows, tiles, 1, 0, cache.layer, expected.data()});
      run_attention(2, {q.data(), rows, tiles, 1, 0, cache.layer, out.data()});
      for (int pos = 0; pos < kPositions; ++pos) {
        const auto at = static_cast<size_t>(pos * kDim);
        ASSERT_EQ(std::isnan(expected[at]), pos >= bad) << pos;
        ASSERT_EQ(std::isnan(out[at]), pos >= bad) << "position " << pos << ", bad key " << bad;
      }
    }
  });
}

// KV memory starts at a huge-page boundary, so that as much of it as possible is in huge pages. It is no larger than
// requested.
TEST(Conform, HostMemoryBeginsWithALargePage) {
  for (const uint64_t bytes :
       {uint64_t{1}, uint64_t{4097}, kHugePage - 1, kHugePage, kHugePage + 1, 3 * kHugePage + 5000}) {
    auto memory = HostMemory::allocate(bytes, "a test").value();
    EXPECT_EQ(memory.bytes(), bytes);
#ifdef __linux__
    if (bytes >= kHugePage) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % kHugePage, 0u);
    }
#endif
    memory.data()[0] = memory.data()[bytes - 1] = std::byte{1};
    const auto other = HostMemory::allocate(bytes, "a test").value();
    EXPECT_EQ(other.data()[0], std::byte{0});
    EXPECT_EQ(other.data()[bytes - 1], std::byte{0});
    memory = {};
    EXPECT_EQ(other.data()[bytes - 1], std::byte{0});
  }
}

// A row sees itself and the window − 1 positions before it. Each value is its position, so the mean shows which were
// read.
TEST(Conform, AttentionReadsTheWindow) {
  on_every_target([] {
    constexpr int kDim = 16, kPositions = 9;
    const Case c{kPositions, 0, 1, 1, kDim};
    std::vector<float> k(kPositions * kDim, 0.0f), v(k.size());
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i / kDim);
    KvOfOneLayer cache = blocks_of(c, KvType::kF32);
    const auto [rows, tiles] = cache.rows(kPositions, 0);
    run_on(1, cpu::kv_append, {k.data(), v.data(), rows, cache.layer});
    std::vector<float> q(kPositions * kDim, 1.0f), out(q.size());
    for (const int window : {1, 2, 4, 8, 9, 10, 100}) {
      run_attention(2, {q.data(), rows, tiles, 1, window, cache.layer, out.data()});
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
