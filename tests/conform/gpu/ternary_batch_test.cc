// The ternary layers of a batch on subgroup matrices: each row has the same bits as with the kernels for one row.
#include "backend/gpu/kernels/ternary/ternary_batch.h"

#include "conform/gpu/batch_rows.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/gpu/kv_data.h"
#include "conform/gpu/ternary_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;

class GpuBatch : public GpuConform {
 protected:
  static constexpr gpu::NormConfig kNorm{.eps = 0.001f, .n_parts = 7};

  void SetUp() override {
    GpuConform::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const gpu::Features& f = bench().device().features();
    const auto found = std::ranges::find_if(f.matrices, [&](const MatrixShape& s) {
      return gpu::has_ternary_batch(
          {.cols = 256, .caps = {}, .shape = s, .subgroup = f.subgroup_min, .tokens = 2 * s.m});
    });
    if (caps().subgroup == 0 || found == f.matrices.end()) GTEST_SKIP() << "needs int8 matrices";
    shape_ = *found;
  }

  gpu::TernaryBatchConfig config(int cols, uint32_t matrices_of_tokens, uint32_t subgroups = 4) {
    return {.cols = static_cast<uint32_t>(cols),
            .caps = caps(),
            .shape = shape_,
            .subgroup = caps().subgroup,
            .subgroups = subgroups,
            .tokens = matrices_of_tokens * shape_.m};
  }
  // The layout of the kernel for one row with `rows_of_workgroup` rows per workgroup.
  gpu::TernaryConfig one_row(int rows, int cols, uint32_t rows_of_workgroup) {
    return {.rows = static_cast<uint32_t>(rows),
            .cols = static_cast<uint32_t>(cols),
            .store = gpu::Store::kAdd,
            .caps = caps(),
            .lanes = 8,
            .rows_per_group = 1,
            .workgroup = 8 * rows_of_workgroup};
  }
  static uint32_t tiles(int n, const gpu::TernaryBatchConfig& c) {
    return ceil_div(static_cast<uint32_t>(n), c.tokens);
  }

  // The rows as int8 in storage, padded to whole tiles. Gaps between them stay poisoned.
  std::vector<uint32_t> stored(const RowsAndMore& rows, const gpu::TernaryConfig& one, size_t n) {
    auto words = poisoned<uint32_t>(round_up(n, gpu::kRowsOfGroup) * gpu::quantized_row_bytes(one.cols) / 4);
    bench().run(gpu::normed_quantize(one, kNorm), {.y = static_cast<uint32_t>(n)}, in<Vec4<F32>>(rows.x),
                in<Vec4<F32>>(rows.gain), in<gpu::NormStats>(rows.stats), out<gpu::QuantizedWords>(words));
    return words;
  }

  // The bits of the results, followed by those of the statistics.
  static std::vector<uint32_t> bits_of_both(const std::vector<float>& y, const std::vector<float>& stats) {
    auto bits = leading_bits(y, y.size());
    const auto more = leading_bits(stats, stats.size());
    bits.insert(bits.end(), more.begin(), more.end());
    return bits;
  }

  void test_matvec_add(int n, int rows, int cols, const gpu::TernaryBatchConfig& c);
  void test_glu(int n, int rows, int cols, const gpu::TernaryBatchConfig& c);
  template <class KvWord>
  void test_qkv(int n, const gpu::HeadShape& s, bool interleaved, const gpu::TernaryBatchConfig& c);

  MatrixShape shape_;
};
TERN_FOR_EVERY_VARIANT(GpuBatch);

void GpuBatch::test_matvec_add(int n, int rows, int cols, const gpu::TernaryBatchConfig& c) {
  const RowsAndMore in_rows(n, cols, c.tokens, kNorm.n_parts);
  const WeightMatrix w(Format::kI2_S, rows, cols, 7, kSplitScales[0]);
  const gpu::TernaryConfig one = one_row(rows, cols, c.tile_rows());
  const uint32_t groups = ceil_div(one.rows, c.tile_rows());
  const auto next_gain = random(static_cast<size_t>(rows), 4), before = random(static_cast<size_t>(n * rows), 3);
  auto y = before, y_one = before, stats = poisoned<float>(2 * static_cast<size_t>(n) * groups), stats_one = stats;
  bench().run(gpu::normed_matvec_add(one, kNorm), {.x = groups, .y = static_cast<uint32_t>(n)},
              in<gpu::TernaryWeights>(w.device_rows()), in<Vec4<F32>>(in_rows.x), in<Vec4<F32>>(in_rows.gain),
              in<gpu::NormStats>(in_rows.stats), in<gpu::WeightScales>(kSplitScales), out<F32>(y_one),
              in<F32>(next_gain), out<gpu::NormStats>(stats_one));
  const auto kernel = gpu::batch_matvec_add(c, one.rows);
  EXPECT_LE(kernel.module.needs.workgroup_bytes, c.workgroup_bytes());
  bench().run(kernel, {.x = groups, .y = tiles(n, c)}, in<gpu::TernaryWeights>(w.device_rows()),
              in<gpu::QuantizedWords>(stored(in_rows, one, RowsAndMore::padded(n, c.tokens))),
              in<gpu::WeightScales>(kSplitScales), in<U32>(batch_params(0, static_cast<uint32_t>(n))), out<F32>(y),
              in<F32>(next_gain), out<gpu::NormStats>(stats));
  EXPECT_EQ(bits_of_both(y, stats), bits_of_both(y_one, stats_one)) << n << " rows of " << cols;
}

TEST_P(GpuBatch, MatvecAdd) {
  test_matvec_add(4, 64, 256, config(256, 1));
  test_matvec_add(3, 77, 640, config(640, 2));
  test_matvec_add(21, 33, 1152, config(1152, 2));
  test_matvec_add(2, 16, 208, config(208, 1));
  test_matvec_add(17, 20, 768, config(768, 1, 2));
  test_matvec_add(16, 40, 1152, config(1152, 2, 2));  // more blocks than are loaded ahead
}

void GpuBatch::test_glu(int n, int rows, int cols, const gpu::TernaryBatchConfig& c) {
  const RowsAndMore in_rows(n, cols, c.tokens, kNorm.n_parts);
  const WeightMatrix gate(Format::kI2_S, rows, cols, 8, kSplitScales[0]),
      up(Format::kI2_S, rows, cols, 9, kSplitScales[1]);
  const gpu::TernaryConfig one = one_row(rows, cols, c.side_rows());
  const uint32_t groups = ceil_div(one.rows, c.side_rows());
  const auto next_gain = random(static_cast<size_t>(rows), 4);
  auto y = poisoned<float>(static_cast<size_t>(n * rows)), y_one = y;
  auto stats = poisoned<float>(2 * static_cast<size_t>(n) * groups), stats_one = stats;
  bench().run(gpu::normed_glu(one, kNorm), {.x = groups, .y = static_cast<uint32_t>(n)},
              in<gpu::TernaryWeights>(gate.device_rows()), in<gpu::TernaryWeights>(up.device_rows()),
              in<Vec4<F32>>(in_rows.x), in<Vec4<F32>>(in_rows.gain), in<gpu::NormStats>(in_rows.stats),
              in<gpu::WeightScales>(kSplitScales), out<F32>(y_one), in<F32>(next_gain), out<gpu::NormStats>(stats_one));
  bench().run(gpu::batch_glu(c, one.rows), {.x = groups, .y = tiles(n, c)}, in<gpu::TernaryWeights>(gate.device_rows()),
              in<gpu::TernaryWeights>(up.device_rows()),
              in<gpu::QuantizedWords>(stored(in_rows, one, RowsAndMore::padded(n, c.tokens))),
              in<gpu::WeightScales>(kSplitScales), in<U32>(batch_params(0, static_cast<uint32_t>(n))), out<F32>(y),
              in<F32>(next_gain), out<gpu::NormStats>(stats));
  EXPECT_EQ(bits_of_both(y, stats), bits_of_both(y_one, stats_one)) << n << " rows of " << cols;
}

TEST_P(GpuBatch, Glu) {
  test_glu(7, 45, 640, config(640, 1));
  test_glu(16, 64, 208, config(208, 2));
  test_glu(9, 21, 1152, config(1152, 1, 2));
}

template <class KvWord>
void GpuBatch::test_qkv(int n, const gpu::HeadShape& s, bool interleaved, const gpu::TernaryBatchConfig& c) {
  constexpr KvType kType = std::same_as<KvWord, I8x4>    ? KvType::kQ8_0
                           : std::same_as<KvWord, F16x2> ? KvType::kF16
                                                         : KvType::kF32;
  constexpr uint32_t kPos = 60;
  ASSERT_TRUE(gpu::fits_batch_qkv(c, s, kType == KvType::kQ8_0));
  const auto cols = static_cast<int>(c.cols);
  const RowsAndMore in_rows(n, cols, c.tokens, kNorm.n_parts);
  const WeightMatrix w(Format::kI2_S, static_cast<int>((s.n_heads + 2 * s.n_kv_heads) * s.head_dim), cols, 5);
  const auto angles = random(size_t{256} * s.head_dim, 6);
  const gpu::TernaryQkvConfig any{
      .cols = c.cols, .heads = s, .interleaved = interleaved, .caps = caps(), .lanes = 8, .workgroup = 256};
  const auto one = kType == KvType::kQ8_0 ? gpu::fit_to_codes(any, 1024) : gpu::fit(any);
  auto q = poisoned<float>(static_cast<size_t>(n) * s.n_heads * s.head_dim), q_one = q;
  KvData kv(s, kType, 192), kv_one(s, kType, 192);
  const auto params = kv.params(kPos, static_cast<uint32_t>(n));
  bench().run(gpu::normed_qkv<KvWord>(one, kNorm), {.x = one.workgroups(), .y = static_cast<uint32_t>(n)},
              in<gpu::TernaryWeights>(w.device_rows()), in<Vec4<F32>>(in_rows.x), in<Vec4<F32>>(in_rows.gain),
              in<gpu::NormStats>(in_rows.stats), in<gpu::WeightScales>(kSplitScales), in<Vec2<F32>>(angles),
              in<U32>(params), out<F32>(q_one), out<KvWord>(kv_one.words));
  const uint32_t groups = (s.n_heads + 2 * s.n_kv_heads) * (s.head_dim / 2 / c.side_rows());
  bench().run(gpu::batch_qkv<KvWord>(c, s, interleaved), {.x = groups, .y = tiles(n, c)},
              in<gpu::TernaryWeights>(w.device_rows()),
              in<gpu::QuantizedWords>(stored(in_rows, gpu::ternary_tiling(one), RowsAndMore::padded(n, c.tokens))),
              in<gpu::WeightScales>(kSplitScales), in<Vec2<F32>>(angles), in<U32>(params), out<F32>(q),
              out<KvWord>(kv.words));
  EXPECT_EQ(leading_bits(q, q.size()), leading_bits(q_one, q.size()));
  EXPECT_EQ(kv.words, kv_one.words);
}

TEST_P(GpuBatch, Qkv) {
  const uint32_t half = shape_.n;  // half the width of a head that one workgroup computes
  test_qkv<F16x2>(7, {4, 1, 64}, false, config(400, 1));
  test_qkv<F16x2>(11, {2, 2, 128}, true, config(400, 2));
  test_qkv<F32>(3, {3, 3, 64}, false, config(400, 1, 2));
  test_qkv<I8x4>(7, {2, 1, 2 * half}, false, config(400, 1));
}

TEST_P(GpuBatch, ShapesThatThereAreNoneFor) {
  const auto has = [&](auto change) {
    gpu::TernaryBatchConfig c = config(256, 1);
    change(c);
    return gpu::has_ternary_batch(c);
  };
  EXPECT_TRUE(has([](auto&) {}));
  EXPECT_FALSE(has([](auto& c) { c.shape.k = 24; }));
  EXPECT_FALSE(has([](auto& c) { c.cols = 200; }));
  EXPECT_FALSE(has([](auto& c) { c.tokens = c.shape.m / 2; }));
  EXPECT_FALSE(has([](auto& c) { c.subgroups = 3; }));
  EXPECT_FALSE(has([](auto& c) { c.subgroups = 1, c.subgroup = c.shape.n; }));
  EXPECT_FALSE(has([](auto& c) { c.subgroup *= 64; }));
  EXPECT_FALSE(gpu::fits_batch_qkv(config(256, 1), {4, 1, 2 * shape_.n + 2}, false));
  EXPECT_FALSE(gpu::fits_batch_qkv(config(256, 1), {4, 1, 128}, true));
}

}  // namespace
}  // namespace tern::conform
