// A batch with rows of several sequences: each row gives the same bits as alone.
#include <cmath>

#include "backend/gpu/kernels/attention/attention.h"
#include "backend/gpu/kernels/attention/serial_attention.h"
#include "backend/gpu/kernels/elementwise.h"
#include "backend/gpu/kernels/qkv_heads.h"
#include "backend/gpu/kernels/ternary/ternary_qkv.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/gpu/kv_data.h"
#include "conform/gpu/ternary_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using GpuSequences = GpuConform;
TERN_FOR_EVERY_VARIANT(GpuSequences);

constexpr KvType kF16 = KvType::kF16;
constexpr gpu::HeadShape kShape{4, 2, 64};
constexpr uint32_t kWidth = 4 * 64, kKvWidth = 2 * 64, kQkvWidth = kWidth + 2 * kKvWidth;
constexpr uint32_t kAngles = 300;

// A row's position, and its sequence by its blocks among KvData's.
struct RowOf {
  uint32_t pos, angles;
  std::vector<size_t> blocks;
};
// Three sequences; the last shares the first block of the second.
const std::vector<RowOf> kRows = {{70, 130, {3, 4}}, {129, 3, {0, 1, 2}}, {100, 3, {0, 5}}};
constexpr uint32_t kPositions = 6 * 64;

// One row, or all rows.
struct Some {
  size_t first, n;
};
std::vector<Some> each_and_all() { return {{0, 1}, {1, 1}, {2, 1}, {0, kRows.size()}}; }

std::vector<uint32_t> params_of(const Some& some, const KvData& kv) {
  const auto n = static_cast<uint32_t>(some.n);
  std::vector<uint32_t> params = {n, kPoison, kPoison}, tables;
  for (const RowOf& row : std::span(kRows).subspan(some.first, some.n)) {
    const auto table = gpu::kFirstRow + gpu::kRowWords * n + static_cast<uint32_t>(tables.size());
    params.insert(params.end(), {row.pos, table, row.angles});
    for (const size_t block : row.blocks) tables.push_back(kv.table[block]);
  }
  params.insert(params.end(), tables.begin(), tables.end());
  return params;
}

std::vector<float> rows_of(const std::vector<float>& all, const Some& some) {
  const size_t width = all.size() / kRows.size();
  const auto first = all.begin() + static_cast<ptrdiff_t>(some.first * width);
  return {first, first + static_cast<ptrdiff_t>(some.n * width)};
}

gpu::Grid grid_of(uint32_t x, const Some& some, uint32_t z = 1) {
  return {.x = x, .y = static_cast<uint32_t>(some.n), .z = z};
}

// run(some, kv) returns the rows' output. One after another, rows must write the same data as together.
template <class Run>
void expect_the_same(const KvData& start, Run&& run) {
  KvData one_by_one(kShape, kF16, kPositions), together(kShape, kF16, kPositions);
  one_by_one.words = together.words = start.words;
  std::vector<uint32_t> separate;
  for (const Some& some : each_and_all()) {
    const bool is_all = some.n > 1;
    const std::vector<float> y = run(some, is_all ? together : one_by_one);
    std::vector<uint32_t> bits;
    for (const float v : y) bits.push_back(std::bit_cast<uint32_t>(v));
    if (is_all) {
      EXPECT_EQ(bits, separate);
    } else {
      separate.insert(separate.end(), bits.begin(), bits.end());
    }
  }
  EXPECT_EQ(together.words, one_by_one.words);
}

KvData& filled() {
  static KvData kv(kShape, kF16, kPositions);
  if (std::ranges::all_of(kv.words, [](uint32_t word) { return word == kPoison; })) {
    const auto k = random(kPositions * kKvWidth, 1), v = random(kPositions * kKvWidth, 2);
    kv.append(k.data(), v.data(), static_cast<int>(kPositions), 0);
  }
  return kv;
}

TEST_P(GpuSequences, KvAppend) {
  const auto k = random(3 * kKvWidth, 3), v = random(3 * kKvWidth, 4);
  expect_the_same(filled(), [&](const Some& some, KvData& kv) {
    bench().run(gpu::kv_append<F16x2>({.heads = kShape}), grid_of(2 * kShape.n_kv_heads, some),
                in<F32>(rows_of(k, some)), in<F32>(rows_of(v, some)), in<U32>(params_of(some, kv)),
                out<F16x2>(kv.words));
    EXPECT_NE(kv.words, filled().words);
    return std::vector<float>();
  });
}

TEST_P(GpuSequences, Rope) {
  const auto x = random(3 * kWidth, 5), angles = random(size_t{kAngles} * kShape.head_dim, 6);
  expect_the_same(filled(), [&](const Some& some, KvData& kv) {
    auto y = rows_of(x, some);
    bench().run(gpu::rope({kShape.n_heads, kShape.head_dim}), grid_of(1, some), out<F32>(y), in<Vec2<F32>>(angles),
                in<U32>(params_of(some, kv)));
    EXPECT_NE(y, rows_of(x, some));
    return y;
  });
}

TEST_P(GpuSequences, QkvHeads) {
  const auto qkv = random(3 * kQkvWidth, 7), gain = random(kShape.head_dim, 8),
             angles = random(size_t{kAngles} * kShape.head_dim, 6);
  const gpu::HeadsConfig config{.shape = kShape, .normed = true, .eps = kEps, .caps = caps()};
  const auto test = [&](const auto& kernel, uint32_t workgroups) {
    expect_the_same(filled(), [&](const Some& some, KvData& kv) {
      auto q = poisoned<float>(some.n * kWidth);
      bench().run(kernel, grid_of(workgroups, some), in<F32>(rows_of(qkv, some)), in<F32>(gain), in<F32>(gain),
                  in<Vec2<F32>>(angles), in<U32>(params_of(some, kv)), out<F32>(q), out<F16x2>(kv.words));
      return q;
    });
  };
  test(gpu::qkv_heads<F16x2>(config), gpu::qkv_heads_workgroups(config));
  if (bench().has_serial_subgroups()) test(gpu::serial_heads<F16x2>(config), config.rows());
}

TEST_P(GpuSequences, TernaryQkv) {
  constexpr int kCols = 256;
  const WeightMatrix w(Format::kI2_S, static_cast<int>(kQkvWidth), kCols, 9);
  const Int8Rows x = Int8Rows::random(3, kCols, 10);
  const auto packed = x.packed();
  const size_t words = packed.size() / 3;
  const auto angles = random(size_t{kAngles} * kShape.head_dim, 6);
  const auto config =
      gpu::fit(gpu::TernaryQkvConfig{.cols = static_cast<uint32_t>(kCols), .heads = kShape, .caps = caps()});
  expect_the_same(filled(), [&](const Some& some, KvData& kv) {
    auto q = poisoned<float>(some.n * kWidth);
    const auto first = packed.begin() + static_cast<ptrdiff_t>(some.first * words);
    const std::remove_cvref_t<decltype(packed)> rows(first, first + static_cast<ptrdiff_t>(some.n * words));
    bench().run(gpu::ternary_qkv<F16x2>(config), grid_of(config.workgroups(), some),
                in<gpu::TernaryWeights>(w.device_rows()), in<gpu::QuantizedWords>(rows),
                in<gpu::WeightScales>(kSplitScales), in<Vec2<F32>>(angles), in<U32>(params_of(some, kv)), out<F32>(q),
                out<F16x2>(kv.words));
    return q;
  });
}

gpu::AttentionConfig attention_config(const gpu::Caps& caps, uint32_t max_splits) {
  auto config = gpu::fit(gpu::AttentionConfig{.heads = kShape, .caps = caps});
  config.max_splits = max_splits;
  return config;
}

// One chunk per split, so that a row's splits are the same in every batch.
uint32_t splits_of(const gpu::AttentionConfig& c, const Some& some) {
  uint32_t n_pos = 0;
  for (const RowOf& row : std::span(kRows).subspan(some.first, some.n)) n_pos = std::max(n_pos, row.pos + 1);
  EXPECT_LE((n_pos + c.chunk - 1) / c.chunk, c.max_splits);
  return (n_pos + c.chunk - 1) / c.chunk;
}

TEST_P(GpuSequences, Attention) {
  const auto q = random(3 * kWidth, 11), gain = random(kWidth, 12);
  expect_the_same(filled(), [&](const Some& some, KvData& kv) {
    auto y = poisoned<float>(some.n * kWidth), stats = poisoned<float>(2 * some.n * kShape.n_heads);
    bench().run(gpu::attention<F16x2>(attention_config(caps(), 0)), grid_of(kShape.n_heads, some),
                in<Vec4<F32>>(rows_of(q, some)), in<gpu::KvQuad<F16x2>>(kv.words), in<U32>(params_of(some, kv)),
                out<F32>(y), in<F32>(gain), out<gpu::NormStats>(stats));
    y.insert(y.end(), stats.begin(), stats.end());
    if (some.n > 1) {  // in the order of the rows
      std::vector<float> sorted;
      for (size_t i = 0; i < some.n; ++i) {
        const auto at = y.begin() + static_cast<ptrdiff_t>(i * kWidth);
        sorted.insert(sorted.end(), at, at + kWidth);
        sorted.insert(sorted.end(), stats.begin() + static_cast<ptrdiff_t>(2 * i * kShape.n_heads),
                      stats.begin() + static_cast<ptrdiff_t>(2 * (i + 1) * kShape.n_heads));
      }
      return sorted;
    }
    return y;
  });
  if (!bench().has_serial_subgroups()) return;
  expect_the_same(filled(), [&](const Some& some, KvData& kv) {
    auto y = poisoned<float>(some.n * kWidth);
    bench().run(gpu::serial_attention<F16x2>({.heads = kShape, .caps = caps(), .window = 100}),
                grid_of(kShape.n_heads, some), in<Vec4<F32>>(rows_of(q, some)), in<gpu::KvQuad<F16x2>>(kv.words),
                in<U32>(params_of(some, kv)), out<Vec4<F32>>(y));
    return y;
  });
}

TEST_P(GpuSequences, AttentionInSplits) {
  const auto q = random(3 * kWidth, 11), gain = random(kWidth, 12);
  const auto config = attention_config(caps(), 4);
  expect_the_same(filled(), [&](const Some& some, KvData& kv) {
    auto parts = poisoned<float>(some.n * kShape.n_heads * config.max_splits * config.partial_stride());
    auto y = poisoned<float>(some.n * kWidth), stats = poisoned<float>(2 * some.n * kShape.n_heads), unused = stats;
    bench().run(gpu::attention<F16x2>(config), grid_of(kShape.n_heads, some, splits_of(config, some)),
                in<Vec4<F32>>(rows_of(q, some)), in<gpu::KvQuad<F16x2>>(kv.words), in<U32>(params_of(some, kv)),
                out<F32>(parts), in<F32>(gain), out<gpu::NormStats>(unused));
    bench().run(gpu::attention_merge(config), grid_of(kShape.n_heads, some), in<F32>(parts),
                in<U32>(params_of(some, kv)), out<F32>(y), in<F32>(gain), out<gpu::NormStats>(stats));
    return y;
  });
}

TEST_P(GpuSequences, HeadsAttention) {
  const auto qkv = random(3 * kQkvWidth, 7), gain = random(kShape.head_dim, 8),
             angles = random(size_t{kAngles} * kShape.head_dim, 6);
  const gpu::HeadsConfig heads{.shape = kShape, .normed = true, .eps = kEps, .caps = caps()};
  const auto config = attention_config(caps(), 0);
  expect_the_same(filled(), [&](const Some& some, KvData& kv) {
    auto y = poisoned<float>(some.n * kWidth);
    bench().run(gpu::heads_attention<F16x2>(config, heads), grid_of(kShape.n_heads, some), in<F32>(rows_of(qkv, some)),
                in<F32>(gain), in<F32>(gain), in<Vec2<F32>>(angles), in<U32>(params_of(some, kv)),
                out<gpu::KvQuad<F16x2>>(kv.words), out<F32>(y));
    return y;
  });
}

}  // namespace
}  // namespace tern::conform
