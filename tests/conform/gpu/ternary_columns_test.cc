// Ternary kernels for several rows of activations: each row has the same bits as with the kernels for one row.
#include "backend/gpu/kernels/ternary/ternary_columns.h"

#include "conform/gpu/batch_rows.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/gpu/kv_data.h"
#include "conform/gpu/ternary_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using GpuColumns = GpuConform;
TERN_FOR_EVERY_VARIANT(GpuColumns);

constexpr float kNormEps = 0.001f;

// The layouts of the kernel for one row and of that for several.
struct PairOfLayouts {
  gpu::TernaryConfig one, several;
  gpu::ColumnsConfig columns;
};
PairOfLayouts layouts(const gpu::Caps& caps, int rows, int cols, uint32_t columns) {
  gpu::TernaryConfig one{.rows = static_cast<uint32_t>(rows),
                         .cols = static_cast<uint32_t>(cols),
                         .store = gpu::Store::kAdd,
                         .caps = caps,
                         .lanes = 8,
                         .rows_per_group = 1,
                         .workgroup = 128};
  gpu::TernaryConfig several = one;
  return {one, several, {.columns = columns, .norm_workgroup = one.workgroup}};
}

// Returns the kernel after checking that it needs no more workgroup memory than columns_bytes() says.
template <class Kernel>
const Kernel& that_fits(const Kernel& kernel, const gpu::TernaryConfig& layout, const gpu::ColumnsConfig& columns) {
  EXPECT_LE(kernel.module.needs.workgroup_bytes, gpu::columns_bytes(layout, columns)) << kernel.module.name;
  return kernel;
}

void test_columns_of_matvec_add(GpuBench& bench, int n, int rows, int cols, uint32_t n_parts, const PairOfLayouts& l) {
  ASSERT_TRUE(gpu::has_columns(l.several, l.columns));
  const uint32_t columns = l.columns.columns;
  const RowsAndMore in_rows(n, cols, columns, n_parts);
  const WeightMatrix w(Format::kI2_S, rows, cols, 7, kSplitScales[0]);
  const size_t padded = RowsAndMore::padded(n, columns);
  const uint32_t groups = ceil_div(l.one.rows, l.one.rows_per_workgroup());
  ASSERT_EQ(groups, ceil_div(l.several.rows, l.several.rows_per_workgroup()));
  const auto next_gain = random(static_cast<size_t>(rows), 4), before = random(padded * static_cast<size_t>(rows), 3);
  const auto run = [&](const auto& kernel, uint32_t grid_y) {
    auto y = before;
    auto stats = poisoned<float>(2 * padded * groups);
    bench.run(kernel, {.x = groups, .y = grid_y}, in<gpu::TernaryWeights>(w.device_rows()), in<Vec4<F32>>(in_rows.x),
              in<Vec4<F32>>(in_rows.gain), in<gpu::NormStats>(in_rows.stats), in<gpu::WeightScales>(kSplitScales),
              out<F32>(y), in<F32>(next_gain), out<gpu::NormStats>(stats));
    auto bits = leading_bits(y, static_cast<size_t>(n * rows));
    const auto of_stats = leading_bits(stats, 2 * static_cast<size_t>(n) * groups);
    bits.insert(bits.end(), of_stats.begin(), of_stats.end());
    return bits;
  };
  const gpu::NormConfig norm{.eps = kNormEps, .n_parts = n_parts};
  const auto one = run(gpu::normed_matvec_add(l.one, norm), static_cast<uint32_t>(n));
  const auto several = run(that_fits(gpu::normed_matvec_add_columns(l.several, norm, l.columns), l.several, l.columns),
                           ceil_div(static_cast<uint32_t>(n), columns));
  EXPECT_EQ(several, one) << n << " rows of " << cols << ", " << columns << " at a time";
}

TEST_P(GpuColumns, MatvecAdd) {
  if (caps().subgroup == 0) GTEST_SKIP() << "needs subgroups";
  for (const auto& [n, rows, cols, n_parts, columns] : {std::tuple{4, 64, 256, 5u, 4u},
                                                        {3, 77, 640, 40u, 4u},
                                                        {8, 33, 1152, 3u, 8u},
                                                        {11, 20, 720, 300u, 8u},
                                                        {2, 16, 208, 1u, 2u},
                                                        {5, 40, 2560, 130u, 4u}}) {
    test_columns_of_matvec_add(bench(), n, rows, cols, n_parts, layouts(caps(), rows, cols, columns));
  }
}

// Half the invocations with twice the rows each: statistics are still added in the order of the kernel for one row.
TEST_P(GpuColumns, MatvecAddInOtherLayouts) {
  if (caps().subgroup == 0) GTEST_SKIP() << "needs subgroups";
  for (const auto& [one, several, n_parts] :
       {std::tuple{256u, 128u, 300u}, {512u, 256u, 500u}, {64u, 64u, 70u}, {64u, 64u, 9u}}) {
    if (one > bench().device().limits().invocations) continue;
    PairOfLayouts l = layouts(caps(), 100, 640, 4);
    l.one.workgroup = l.columns.norm_workgroup = one;
    l.several.workgroup = several;
    l.several.rows_per_group = one / several;
    l.several.most_ahead = 16;
    test_columns_of_matvec_add(bench(), 6, 100, 640, n_parts, l);
  }
}

// A NaN in a row makes all of its own results NaN, and none of the other rows'.
TEST_P(GpuColumns, NothingIsMadeOfWhatIsNotFinite) {
  if (caps().subgroup == 0) GTEST_SKIP() << "needs subgroups";
  constexpr int kOutputs = 20, kCols = 256;
  const PairOfLayouts l = layouts(caps(), kOutputs, kCols, 4);
  const WeightMatrix w(Format::kI2_S, kOutputs, kCols, 7, kSplitScales[0]);
  RowsAndMore rows(4, kCols, 4, 5);
  rows.x[2 * kCols + 77] = NAN;
  rows.stats = stats_of(rows.x, rows.gain, 5);
  std::vector<float> y(size_t{4} * kOutputs, 1.0f), next_gain(kOutputs, 1.0f);
  const uint32_t groups = ceil_div(l.several.rows, l.several.rows_per_workgroup());
  auto stats = poisoned<float>(size_t{8} * groups);
  bench().run(gpu::normed_matvec_add_columns(l.several, {.eps = kNormEps, .n_parts = 5}, l.columns), {.x = groups},
              in<gpu::TernaryWeights>(w.device_rows()), in<Vec4<F32>>(rows.x), in<Vec4<F32>>(rows.gain),
              in<gpu::NormStats>(rows.stats), in<gpu::WeightScales>(kSplitScales), out<F32>(y), in<F32>(next_gain),
              out<gpu::NormStats>(stats));
  for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(std::isfinite(y[i]), i / kOutputs != 2) << i;
}

TEST_P(GpuColumns, Glu) {
  if (caps().subgroup == 0) GTEST_SKIP() << "needs subgroups";
  for (const auto& [n, rows, cols, columns] : {std::tuple{7, 45, 640, 8u}, {4, 64, 208, 4u}, {3, 21, 256, 2u}}) {
    const PairOfLayouts l = layouts(caps(), rows, cols, columns);
    const RowsAndMore in_rows(n, cols, columns, 7);
    const WeightMatrix gate(Format::kI2_S, rows, cols, 8, kSplitScales[0]),
        up(Format::kI2_S, rows, cols, 9, kSplitScales[1]);
    const size_t padded = RowsAndMore::padded(n, columns);
    const uint32_t groups = ceil_div(l.one.rows, l.one.rows_per_workgroup());
    const auto next_gain = random(static_cast<size_t>(rows), 4);
    const auto run = [&](const auto& kernel, uint32_t grid_y) {
      auto y = poisoned<float>(padded * static_cast<size_t>(rows)), stats = poisoned<float>(2 * padded * groups);
      bench().run(kernel, {.x = groups, .y = grid_y}, in<gpu::TernaryWeights>(gate.device_rows()),
                  in<gpu::TernaryWeights>(up.device_rows()), in<Vec4<F32>>(in_rows.x), in<Vec4<F32>>(in_rows.gain),
                  in<gpu::NormStats>(in_rows.stats), in<gpu::WeightScales>(kSplitScales), out<F32>(y),
                  in<F32>(next_gain), out<gpu::NormStats>(stats));
      auto bits = leading_bits(y, static_cast<size_t>(n * rows));
      const auto of_stats = leading_bits(stats, 2 * static_cast<size_t>(n) * groups);
      bits.insert(bits.end(), of_stats.begin(), of_stats.end());
      return bits;
    };
    const gpu::NormConfig norm{.eps = kNormEps, .n_parts = 7};
    EXPECT_EQ(run(that_fits(gpu::normed_glu_columns(l.several, norm, l.columns), l.several, l.columns),
                  ceil_div(static_cast<uint32_t>(n), columns)),
              run(gpu::normed_glu(l.one, norm), static_cast<uint32_t>(n)))
        << n << " rows, " << columns << " at a time";
  }
}

template <class KvWord>
void test_columns_of_qkv(GpuBench& bench, const gpu::HeadShape& s, bool interleaved, uint32_t pos, int n,
                         uint32_t columns) {
  constexpr bool kHasCodes = std::same_as<KvWord, I8x4>;
  constexpr KvType kType = kHasCodes ? KvType::kQ8_0 : std::same_as<KvWord, F16x2> ? KvType::kF16 : KvType::kF32;
  constexpr int kCols = 400;
  const RowsAndMore in_rows(n, kCols, columns, 11);
  const WeightMatrix w(Format::kI2_S, static_cast<int>((s.n_heads + 2 * s.n_kv_heads) * s.head_dim), kCols, 5);
  const auto angles = random(size_t{256} * s.head_dim, 6);
  const gpu::TernaryQkvConfig any{
      .cols = kCols, .heads = s, .interleaved = interleaved, .caps = bench.caps(), .lanes = 8, .workgroup = 256};
  const auto config = kHasCodes ? gpu::fit_to_codes(any, 1024) : gpu::fit(any);
  const gpu::ColumnsConfig several{.columns = columns, .norm_workgroup = config.workgroup};
  ASSERT_TRUE(gpu::has_columns(gpu::ternary_tiling(config), several)) << config.workgroup;
  const auto run = [&](const auto& kernel, uint32_t grid_y) {
    auto q = poisoned<float>(static_cast<size_t>(n) * s.n_heads * s.head_dim);
    KvData kv(s, kType, 192);
    bench.run(kernel, {.x = config.workgroups(), .y = grid_y}, in<gpu::TernaryWeights>(w.device_rows()),
              in<Vec4<F32>>(in_rows.x), in<Vec4<F32>>(in_rows.gain), in<gpu::NormStats>(in_rows.stats),
              in<gpu::WeightScales>(kSplitScales), in<Vec2<F32>>(angles),
              in<U32>(kv.params(pos, static_cast<uint32_t>(n))), out<F32>(q), out<KvWord>(kv.words));
    auto bits = leading_bits(q, q.size());
    bits.insert(bits.end(), kv.words.begin(), kv.words.end());
    return bits;
  };
  const gpu::NormConfig norm{.eps = kNormEps, .n_parts = 11};
  EXPECT_EQ(run(that_fits(gpu::normed_qkv_columns<KvWord>(config, norm, several), gpu::ternary_tiling(config), several),
                ceil_div(static_cast<uint32_t>(n), columns)),
            run(gpu::normed_qkv<KvWord>(config, norm), static_cast<uint32_t>(n)))
      << n << " rows, " << columns << " at a time";
}

TEST_P(GpuColumns, Qkv) {
  if (caps().subgroup == 0) GTEST_SKIP() << "needs subgroups";
  test_columns_of_qkv<F16x2>(bench(), {4, 1, 64}, false, 60, 7, 4);
  test_columns_of_qkv<F16x2>(bench(), {2, 2, 128}, true, 0, 8, 8);
  test_columns_of_qkv<F32>(bench(), {3, 3, 64}, false, 63, 3, 4);
  test_columns_of_qkv<I8x4>(bench(), {4, 1, 64}, false, 60, 7, 4);
  test_columns_of_qkv<I8x4>(bench(), {2, 2, 128}, false, 0, 8, 8);
  test_columns_of_qkv<I8x4>(bench(), {2, 1, 64}, true, 63, 3, 4);
}

TEST_P(GpuColumns, LayoutsThatThereAreNoneFor) {
  const auto has = [](gpu::TernaryConfig c, gpu::ColumnsConfig columns) { return gpu::has_columns(c, columns); };
  const gpu::Caps some{.subgroup = 32};
  const gpu::TernaryConfig c{.rows = 64, .cols = 256, .caps = some, .lanes = 16, .workgroup = 256};
  EXPECT_TRUE(has(c, {.columns = 8, .norm_workgroup = 512}));
  EXPECT_FALSE(has(c, {.columns = 1, .norm_workgroup = 512}));
  EXPECT_FALSE(has(c, {.columns = 8, .norm_workgroup = 128}));
  auto other = c;
  other.caps.subgroup = 0;
  EXPECT_FALSE(has(other, {.columns = 4, .norm_workgroup = 256}));
  other = c, other.workgroup = 128;
  EXPECT_FALSE(has(other, {.columns = 8, .norm_workgroup = 128}));
  other = c, other.workgroup = 192;
  EXPECT_FALSE(has(other, {.columns = 4, .norm_workgroup = 192}));
  other = c, other.cols = 264;
  EXPECT_FALSE(has(other, {.columns = 4, .norm_workgroup = 256}));
}

}  // namespace
}  // namespace tern::conform
