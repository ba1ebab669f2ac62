// Products of many tokens with float matrices on subgroup matrices: float_linear and float_glu, in every format.
#include <cmath>

#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/float/float_matmul_few.h"
#include "backend/gpu/kernels/head/logits_matrix.h"
#include "base/half.h"
#include "conform/gpu/float_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using gpu::Store;

// Rows of activations as the kernels read them, with memory for whole tiles of `tile_tokens`.
struct HalvedRows {
  HalvedRows(GpuBench& bench, int n, const std::vector<float>& x, uint32_t tile_tokens)
      : scales(poisoned<float>(static_cast<size_t>(n))) {
    const auto width = static_cast<uint32_t>(x.size() / static_cast<size_t>(n));
    halves.resize(size_t{ceil_div(static_cast<uint32_t>(n), tile_tokens)} * tile_tokens * width);
    bench.run(gpu::halve_tokens({width, bench.caps()}), {.y = static_cast<uint32_t>(n)}, in<Vec4<F32>>(x),
              out<Vec4<F16>>(halves), out<F32>(scales));
    for (size_t t = 0; t < scales.size(); ++t) {
      float peak = 0;
      for (size_t i = 0; i < width; ++i) peak = std::max(peak, std::abs(x[t * width + i]));
      EXPECT_EQ(peak * scales[t] >= 1024 && peak * scales[t] < 2048, peak > 0) << peak << " " << scales[t];
    }
  }
  std::vector<uint16_t> halves;
  std::vector<float> scales;
};

class MatrixKernels {
 public:
  MatrixKernels(GpuBench& bench, int n, const std::vector<float>& x, const gpu::PromptTile& tile)
      : bench_(bench), n_(n), tile_(tile), x_(bench, n, x, gpu::kMostTileTokens) {}
  gpu::FloatMatrixMatmulConfig config(const Tensor& w, const MatrixShape& shape, Store store) const {
    auto c = gpu::fit(gpu::FloatMatrixMatmulConfig{.rows = static_cast<uint32_t>(w.rows),
                                                   .cols = static_cast<uint32_t>(w.cols),
                                                   .coding = gpu::coding_of(w),
                                                   .store = store,
                                                   .shape = shape,
                                                   .subgroup = bench_.device().features().subgroup_max,
                                                   .tile = tile_});
    return c;
  }
  // The recorder makes the same check before it uses these kernels.
  static bool fits(GpuBench& bench, const MatrixShape& shape, const gpu::PromptTile& tile) {
    const auto c = gpu::fit(gpu::FloatMatrixMatmulConfig{.rows = 64,
                                                         .cols = 64,
                                                         .coding = {},
                                                         .shape = shape,
                                                         .subgroup = bench.device().features().subgroup_max,
                                                         .tile = tile});
    const gpu::Limits& limits = bench.device().limits();
    return c.workgroup() <= limits.invocations && c.workgroup_bytes(2) <= limits.workgroup_bytes;
  }
  gpu::Grid grid(const gpu::FloatMatrixMatmulConfig& c) const {
    return {.x = ceil_div(c.rows, c.tile_rows), .y = ceil_div(static_cast<uint32_t>(n_), c.tile_tokens)};
  }
  std::vector<uint32_t> params() const { return batch_params(3, static_cast<uint32_t>(n_)); }
  // With `of_logits`, params says 1 token but n rows of logits, so that using the wrong count shows.
  std::vector<float> linear(const Tensor& w, const MatrixShape& shape, Store store, std::vector<float> y,
                            bool of_logits = false) const {
    const Planes planes(w);
    auto c = config(w, shape, store);
    c.of_logits = of_logits;
    const std::vector<uint32_t> listed = {1, 4, kPoison, static_cast<uint32_t>(n_)};
    bench_.run(gpu::float_matmul_matrix(c), grid(c), in<gpu::WeightUnits>(planes.units), in<U32>(planes.scales),
               in<Vec4<F16>>(x_.halves), in<F32>(x_.scales), in<gpu::RowRange>(range_of(0, w.rows)),
               in<U32>(of_logits ? listed : params()), out<F32>(y));
    return y;
  }
  std::vector<float> glu(const Tensor& gate, const Tensor& up, const MatrixShape& shape) const {
    const Planes a(gate), b(up);
    auto c = config(gate, shape, Store::kSet);
    c.up_coding = b.coding;
    c.act = gpu::Activation::kSilu;
    auto y = poisoned<float>(static_cast<size_t>(n_ * gate.rows));
    bench_.run(gpu::float_glu_matmul_matrix(c), grid(c), in<gpu::WeightUnits>(a.units), in<U32>(a.scales),
               in<gpu::WeightUnits>(b.units), in<U32>(b.scales), in<Vec4<F16>>(x_.halves), in<F32>(x_.scales),
               in<U32>(params()), out<F32>(y));
    return y;
  }

 private:
  GpuBench& bench_;
  int n_;
  gpu::PromptTile tile_;
  HalvedRows x_;
};

// The kernels for a few tokens, with the tile of `few`.
class FewKernels {
 public:
  FewKernels(GpuBench& bench, int n, const std::vector<float>& x, const gpu::FloatMatmulFewConfig& few)
      : bench_(bench), n_(n), few_(few), x_(bench, n, x, few.tile_tokens) {}
  std::vector<float> linear(const Tensor& w, const MatrixShape& shape, Store store, std::vector<float> y) const {
    const Planes planes(w);
    const auto c = config(w, shape, store);
    bench_.run(gpu::float_matmul_few(c), grid(c), in<gpu::WeightUnits>(planes.units), in<U32>(planes.scales),
               in<F16>(x_.halves), in<F32>(x_.scales), in<gpu::RowRange>(range_of(0, w.rows)), in<U32>(params()),
               out<F32>(y));
    return y;
  }
  std::vector<float> glu(const Tensor& gate, const Tensor& up, const MatrixShape& shape) const {
    const Planes a(gate), b(up);
    auto c = config(gate, shape, Store::kSet);
    c.up_coding = b.coding;
    c.act = gpu::Activation::kSilu;
    auto y = poisoned<float>(static_cast<size_t>(n_ * gate.rows));
    bench_.run(gpu::float_glu_matmul_few(c), grid(c), in<gpu::WeightUnits>(a.units), in<U32>(a.scales),
               in<gpu::WeightUnits>(b.units), in<U32>(b.scales), in<F16>(x_.halves), in<F32>(x_.scales),
               in<U32>(params()), out<F32>(y));
    return y;
  }

 private:
  gpu::FloatMatmulFewConfig config(const Tensor& w, const MatrixShape& shape, Store store) const {
    auto c = few_;
    c.rows = static_cast<uint32_t>(w.rows), c.cols = static_cast<uint32_t>(w.cols), c.coding = gpu::coding_of(w);
    c.store = store, c.shape = shape, c.subgroup = bench_.device().features().subgroup_max;
    return c;
  }
  gpu::Grid grid(const gpu::FloatMatmulFewConfig& c) const {
    return {.x = ceil_div(c.rows, c.tile_rows), .y = ceil_div(static_cast<uint32_t>(n_), c.tile_tokens)};
  }
  std::vector<uint32_t> params() const { return batch_params(3, static_cast<uint32_t>(n_)); }

  GpuBench& bench_;
  int n_;
  gpu::FloatMatmulFewConfig few_;
  HalvedRows x_;
};

class GpuFloatMatrices : public GpuConform {};
INSTANTIATE_TEST_SUITE_P(Gpu, GpuFloatMatrices, testing::ValuesIn(variants_with_matrices()),
                         [](const auto& test) { return test.param.name; });

struct ProductSize {
  int n, rows, cols;
};
// Both kernels with weights of `format`, against the reference. make(x): the kernels for these activations.
template <class Make>
void expect_products(const ProductSize& size, const MatrixShape& shape, Format format, uint64_t seed,
                     const Make& make) {
  const auto& [n, rows, cols] = size;
  const WeightMatrix w(format, rows, cols, seed), up(format, rows, cols, seed + 1);
  auto x = random(static_cast<size_t>(n * cols), seed + 1);
  for (int i = 0; i < cols; ++i) x[static_cast<size_t>(i)] *= 1e6f;          // above the range of f16
  for (int i = cols; i < 2 * cols; ++i) x[static_cast<size_t>(i)] *= 1e-8f;  // below it
  const auto kernels = make(x);
  const auto before = random(static_cast<size_t>(n * rows), 7);
  auto expected = before;
  ref::float_linear({{.x = x.data()}, n, &w.tensor, ops::Store::kAdd, expected.data()});
  const auto y = kernels.linear(w.tensor, shape, Store::kAdd, before);
  if constexpr (requires { kernels.linear(w.tensor, shape, Store::kAdd, before, true); }) {
    EXPECT_EQ(kernels.linear(w.tensor, shape, Store::kAdd, before, true), y) << "as many rows of logits";
  }
  std::vector<float> gates(before.size()), ups(before.size()), glu(before.size());
  ref::float_linear({{.x = x.data()}, n, &w.tensor, ops::Store::kSet, gates.data()});
  ref::float_linear({{.x = x.data()}, n, &up.tensor, ops::Store::kSet, ups.data()});
  ref::glu_mul({gates.data(), ups.data(), GluAct::kSilu, glu.size(), glu.data()});
  const auto actual_glu = kernels.glu(w.tensor, up.tensor, shape);
  const auto terms = magnitudes(x, n, w.tensor), up_terms = magnitudes(x, n, up.tensor);
  for (size_t i = 0; i < y.size(); ++i) {
    double x_sum = 0;
    for (size_t k = 0; k < static_cast<size_t>(cols); ++k) {
      x_sum += std::abs(x[i / static_cast<size_t>(rows) * static_cast<size_t>(cols) + k]);
    }
    const double g_error = matrix_error(terms[i], x_sum, cols), u_error = matrix_error(up_terms[i], x_sum, cols);
    ASSERT_NEAR(y[i], expected[i], g_error + 4 * kUlp * std::abs(before[i])) << format_info(format).name << " " << i;
    const double g = std::abs(gates[i]), u = std::abs(ups[i]);
    ASSERT_NEAR(actual_glu[i], glu[i], 1.1 * g_error * (u + u_error) + g * u_error + (4 * g + 20) * kUlp * g * u)
        << format_info(format).name << " " << i;
  }
}
void expect_products(GpuBench& bench, const MatrixShape& shape, Format format, const gpu::PromptTile& tile,
                     uint64_t seed) {
  const ProductSize size{.n = 35, .rows = 41, .cols = std::max(block_of(format), 64) * 2};
  expect_products(size, shape, format, seed,
                  [&](const std::vector<float>& x) { return MatrixKernels(bench, size.n, x, tile); });
}

TEST_P(GpuFloatMatrices, MatmulOnSubgroupMatrices) {
  const auto& f = bench().device().features();
  const auto shape = std::ranges::find_if(f.matrices, gpu::has_float_matrix_matmul);
  if (!f.f16 || shape == f.matrices.end() || f.subgroup_min != f.subgroup_max) GTEST_SKIP() << "no such matrices";
  uint64_t seed = 70;
  // The last two divide the columns among subgroups and load two blocks ahead.
  const gpu::PromptTile tiles[] = {
      {2, 2, 2, 2, 1}, {4, 2, 1, 2, 2, 64}, {1, 1, 2, 2, 2, 64, 2, 2}, {2, 1, 1, 2, 1, 64, 4, 2}};
  for (const Format format : formats_on_matrices(GetParam().name)) {
    gpu::PromptTile tile = tiles[seed / 2 % std::size(tiles)];  // in turns
    if (!MatrixKernels::fits(bench(), *shape, tile)) tile = {1, 1, 1, 2, 1};
    if (!MatrixKernels::fits(bench(), *shape, tile)) GTEST_SKIP() << "this device's workgroups are too small";
    expect_products(bench(), *shape, format, tile, ++seed);
    ++seed;
  }
}

// Rows of few bits are loaded 128 values at a time, by one or two invocations, or several rows by one.
TEST_P(GpuFloatMatrices, RowsOfFewBits) {
  const auto& f = bench().device().features();
  const auto shape = std::ranges::find_if(f.matrices, gpu::has_float_matrix_matmul);
  if (!f.f16 || shape == f.matrices.end() || f.subgroup_min != f.subgroup_max) GTEST_SKIP() << "no such matrices";
  const std::pair<Format, gpu::PromptTile> cases[] = {
      {Format::kQ1_0, {1, 2, 1, 1, 1, 64}}, {Format::kPQ2_0, {2, 2, 1, 1, 1, 64}}, {Format::kQ2_0, {1, 1, 2, 2, 2}}};
  for (const auto& [format, tile] : cases) {
    if (!MatrixKernels::fits(bench(), *shape, tile)) GTEST_SKIP() << "this device's workgroups are too small";
    expect_products(bench(), *shape, format, tile, 90);
  }
}

// Batches of decode: lines of 512 columns, by teams of subgroups that each take some of them; the last team has one
// less.
TEST_P(GpuFloatMatrices, FewTokens) {
  const auto& f = bench().device().features();
  const auto shape = std::ranges::find_if(f.matrices, gpu::has_float_matrix_matmul);
  if (!f.f16 || shape == f.matrices.end() || f.subgroup_min != f.subgroup_max) GTEST_SKIP() << "no such matrices";
  struct Case {
    Format format;
    ProductSize size;
    gpu::FloatMatmulFewConfig few;
  };
  const Case cases[] = {{Format::kQ1_0, {11, 41, 512}, {.tile_rows = 32, .tile_tokens = 16, .splits = 4}},
                        {Format::kPQ2_0, {19, 41, 1536}, {.tile_rows = 16, .tile_tokens = 16, .splits = 8, .teams = 2}},
                        {Format::kQ2_0, {19, 41, 1024}, {.tile_rows = 16, .tile_tokens = 32, .splits = 4}}};
  const gpu::Limits& limits = bench().device().limits();
  for (const Case& c : cases) {
    auto few = c.few;
    few.shape = *shape, few.subgroup = f.subgroup_max;
    if (few.workgroup() > limits.invocations || few.workgroup_bytes(2) > limits.workgroup_bytes)
      GTEST_SKIP() << "this device's workgroups are too small";
    expect_products(c.size, *shape, c.format, 95,
                    [&](const std::vector<float>& x) { return FewKernels(bench(), c.size.n, x, c.few); });
  }
}

// Halves of normed rows equal the halves of the reference's norms, except for float rounding.
TEST_P(GpuFloatMatrices, NormsOnTheWayToHalves) {
  if (!bench().device().features().f16) GTEST_SKIP() << "no f16";
  constexpr int kN = 19;
  constexpr uint32_t kRestAt = 64, kCols = 1056;  // some invocations have two quads
  constexpr float kEps = 1e-3f;
  auto x = random(size_t{kN} * kCols, 3);
  for (size_t i = 0; i < kCols; ++i) x[i] *= 1e-2f;  // so small that eps matters
  const auto gain = random(kCols, 4);
  std::vector<float> expected(x.size());
  ref::rms_norm({x.data(), gain.data(), kEps, kN, kCols, expected.data()});
  for (const uint32_t rest_at : {0u, kRestAt}) {
    std::vector<uint16_t> halves(size_t{2} * kRestAt * kCols);
    auto scales = poisoned<float>(kN);
    bench().run(gpu::norm_halves({.width = kCols, .caps = caps(), .rest_at = rest_at, .eps = kEps}), {.y = kN},
                in<Vec4<F32>>(x), in<Vec4<F32>>(gain), out<Vec4<F16>>(halves), out<F32>(scales));
    for (uint32_t t = 0; t < kN; ++t) {
      for (uint32_t i = 0; i < kCols; ++i) {
        const size_t at = gpu::grouped_half(kCols, t) + gpu::grouped_column(i);
        float value = f16_to_f32(halves[at]);
        if (rest_at > 0) value += f16_to_f32(halves[at + size_t{rest_at} * kCols]);
        const float y = expected[t * kCols + i], rounding = rest_at > 0 ? 0x1p-20f : 0x1p-10f;
        ASSERT_NEAR(value / scales[t], y, rounding * std::abs(y) + 0x1p-24f / scales[t]) << t << " " << i;
      }
    }
  }
}

// Rows of logits use f32 activations as pairs of halves: they are as accurate as a sum of f32 products.
TEST_P(GpuFloatMatrices, AHeadLosesNothingOfItsActivations) {
  const auto& f = bench().device().features();
  const auto shape = std::ranges::find_if(f.matrices, gpu::has_float_matrix_matmul);
  if (!f.f16 || shape == f.matrices.end() || f.subgroup_min != f.subgroup_max) GTEST_SKIP() << "no such matrices";
  constexpr uint32_t kLogitRowsAt = 5, kRestAt = 64;
  constexpr int kN = 19, kOutputs = 77;
  for (const auto& [n_cols, tokens] : {std::pair{96, 16u}, {128, 32u}}) {
    const auto cols = static_cast<uint32_t>(n_cols);
    const WeightMatrix w(Format::kF16, kOutputs, cols, 5);
    const Planes planes(w.tensor);
    gpu::LogitsMatrixConfig c{.rows = kOutputs,
                              .cols = cols,
                              .shape = *shape,
                              .subgroup = f.subgroup_max,
                              .rest_at = kRestAt,
                              .tokens = tokens};
    const gpu::Limits& limits = bench().device().limits();
    if (c.workgroup() > limits.invocations || c.workgroup_bytes() > limits.workgroup_bytes) {
      GTEST_SKIP() << "this device's workgroups are too small";
    }
    auto x = random(size_t{kN} * cols, 3);
    for (size_t i = 0; i < cols; ++i) x[i] *= 1e6f;  // above the range of f16
    std::vector<uint16_t> halves(size_t{2} * kRestAt * cols);
    auto scales = poisoned<float>(kN);
    bench().run(gpu::halve_tokens({.width = cols, .caps = caps(), .rest_at = kRestAt}), {.y = kN}, in<Vec4<F32>>(x),
                out<Vec4<F16>>(halves), out<F32>(scales));
    // The number of rows is stored before their list. The number of tokens differs from it, so that using it shows.
    std::vector<uint32_t> params = {kN - 4, kLogitRowsAt, kPoison, kPoison, kN};
    auto y = poisoned<float>(size_t{kN} * kOutputs);
    bench().run(gpu::logits_matrix(c), {.x = ceil_div(c.rows, c.tile_rows()), .y = ceil_div(uint32_t{kN}, c.tokens)},
                in<Vec4<F16>>(planes.units), in<Vec4<F16>>(halves), in<F32>(scales),
                in<gpu::RowRange>(range_of(0, kOutputs)), in<U32>(params), out<F32>(y));
    std::vector<float> expected(y.size());
    ref::float_linear({{.x = x.data()}, kN, &w.tensor, ops::Store::kSet, expected.data()});
    const auto terms = magnitudes(x, kN, w.tensor);
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_NEAR(y[i], expected[i], (0x1p-22 + (cols + 6) * kUlp) * terms[i]) << i;
    }
  }
}

}  // namespace
}  // namespace tern::conform
