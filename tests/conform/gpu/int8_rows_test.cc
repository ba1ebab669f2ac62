// Rows of activations that are made int8 by a kernel of their own, and their products, against int8_x kernels.
#include "backend/gpu/kernels/float/int8_rows.h"

#include <cmath>

#include "conform/gpu/float_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using GpuInt8Rows = GpuConform;
TERN_FOR_EVERY_VARIANT(GpuInt8Rows);

using gpu::Store;

// One format of each kind: the code for several rows at a time does not depend on the format.
bool has_many_rows(Format format) {
  return format == Format::kQ8_0 || format == Format::kQ4_K || format == Format::kPQ2_0 || format == Format::kQ1_0;
}

struct Int8Problem {
  Int8Problem(Format format, int rows, int cols, uint32_t n_rows_of_x)
      : w(format, rows, cols, 31), up(format, rows, cols, 32), planes(w.tensor), up_planes(up.tensor), n(n_rows_of_x) {
    x = random(size_t{n} * static_cast<size_t>(cols), 33);
    gain = random(static_cast<size_t>(cols), 34);
    for (size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(x[i], static_cast<int>(i / gpu::kRun % 5));
    before = random(size_t{n} * static_cast<size_t>(rows), 35);
  }
  gpu::FloatLinearConfig config(bool normed, const gpu::Caps& caps) const {
    gpu::FloatLinearConfig c{.rows = static_cast<uint32_t>(w.tensor.rows),
                             .cols = static_cast<uint32_t>(w.tensor.cols),
                             .coding = planes.coding,
                             .up_coding = up_planes.coding,
                             .act = gpu::Activation::kSilu,
                             .normed = normed,
                             .eps = kEps,
                             .int8_x = true,
                             .caps = caps,
                             .lanes = 8,
                             .rows_per_group = 2,
                             .workgroup = 64};
    return gpu::fit(c);
  }

  WeightMatrix w, up;
  Planes planes, up_planes;
  uint32_t n;
  std::vector<float> x, gain, before;
};

gpu::Grid grid_of(const gpu::FloatLinearConfig& c, uint32_t n) {
  return {.x = 2, .y = ceil_div(ceil_div(c.rows, c.rows_per_workgroup()), 2u), .z = ceil_div(n, c.columns)};
}

struct Int8Made {
  std::vector<uint32_t> x8;
  std::vector<float> runs;
};

Int8Made int8_rows(GpuBench& bench, const Int8Problem& p, bool normed) {
  const auto cols = static_cast<uint32_t>(p.w.tensor.cols);
  gpu::Int8RowsConfig c{.width = cols, .coding = p.planes.coding, .caps = bench.caps(), .workgroup = 64};
  c.normed = normed;
  c.eps = kEps;
  Int8Made made{.x8 = poisoned<uint32_t>(size_t{p.n} * cols / 4),
                .runs = poisoned<float>(size_t{p.n} * cols / gpu::kRun * 2)};
  bench.run(gpu::int8_rows(c), {.x = c.workgroups(), .y = p.n}, in<Vec4<F32>>(p.x), in<Vec4<F32>>(p.gain),
            out<Vec4<U32>>(made.x8), out<Vec2<F32>>(made.runs));
  return made;
}

// The same integers as those of kernels that convert what they read: only the order of sums differs, and where the
// factor of a norm is multiplied.
double error_of(int cols) { return (2.0 * cols + 40) * kUlp; }

void test_linear(GpuBench& bench, const Int8Problem& p, Store store, bool normed,
                 const std::vector<uint32_t>& columns) {
  auto config = p.config(normed, bench.caps());
  config.store = store;
  auto expected = store == Store::kAdd ? p.before : poisoned<float>(p.before.size());
  const auto range = range_of(0, p.w.tensor.rows);
  bench.run(gpu::float_linear(config), grid_of(config, p.n), in<gpu::WeightUnits>(p.planes.units),
            in<U32>(p.planes.scales), in<Vec4<F32>>(p.x), in<Vec4<F32>>(p.gain), in<gpu::RowRange>(range),
            out<F32>(expected));
  const Int8Made made = int8_rows(bench, p, normed);
  auto from_int8 = config;
  from_int8.normed = false;
  const auto terms = magnitudes(p.x, static_cast<int>(p.n), p.w.tensor);
  for (const uint32_t at_once : columns) {
    const bool of_logits = at_once == 2;
    from_int8.columns = at_once;
    from_int8.of_logits = of_logits;
    auto params = batch_params(0, of_logits ? p.n + 3 : p.n);
    if (of_logits) {
      params.push_back(p.n);
      params[gpu::kLogitRows] = static_cast<uint32_t>(params.size());
    }
    auto y = store == Store::kAdd ? p.before : poisoned<float>(p.before.size());
    bench.run(gpu::int8_linear(from_int8), grid_of(from_int8, p.n), in<gpu::WeightUnits>(p.planes.units),
              in<U32>(p.planes.scales), in<Vec4<U32>>(made.x8), in<Vec2<F32>>(made.runs), in<gpu::RowRange>(range),
              in<U32>(params), out<F32>(y));
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_NEAR(y[i], expected[i], error_of(p.w.tensor.cols) * (terms[i] * (normed ? 3 : 1) + 1))
          << format_info(p.w.tensor.format).name << ", " << at_once << " columns, at " << i;
    }
  }
}

void test_glu(GpuBench& bench, const Int8Problem& p, bool normed) {
  auto config = p.config(normed, bench.caps());
  auto expected = poisoned<float>(p.before.size()), y = expected;
  bench.run(gpu::float_glu(config), grid_of(config, p.n), in<gpu::WeightUnits>(p.planes.units),
            in<U32>(p.planes.scales), in<gpu::WeightUnits>(p.up_planes.units), in<U32>(p.up_planes.scales),
            in<Vec4<F32>>(p.x), in<Vec4<F32>>(p.gain), out<F32>(expected));
  const Int8Made made = int8_rows(bench, p, normed);
  config.normed = false;
  config.columns = 4;
  bench.run(gpu::int8_glu(config), grid_of(config, p.n), in<gpu::WeightUnits>(p.planes.units), in<U32>(p.planes.scales),
            in<gpu::WeightUnits>(p.up_planes.units), in<U32>(p.up_planes.scales), in<Vec4<U32>>(made.x8),
            in<Vec2<F32>>(made.runs), in<U32>(batch_params(0, p.n)), out<F32>(y));
  double most = 0;
  for (const float value : expected) most = std::max<double>(most, std::abs(value));
  for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], error_of(p.w.tensor.cols) * most) << i;
}

TEST_P(GpuInt8Rows, ProductsAreThoseOfKernelsThatConvert) {
  for (const Format format : formats_for(GetParam().name)) {
    const Int8Problem p(format, 19, std::max(block_of(format), 64) * 3, 11);
    if (!p.planes.coding.has_codes()) continue;
    test_linear(bench(), p, Store::kSet, false, {2});
    if (has_many_rows(format)) test_linear(bench(), p, Store::kAdd, true, {1, 8});
  }
}

TEST_P(GpuInt8Rows, GatesAreThoseOfKernelsThatConvert) {
  for (const Format format : {Format::kQ4_0, Format::kPQ2_0}) {
    const Int8Problem p(format, 19, 384, 6);
    test_glu(bench(), p, false);
    test_glu(bench(), p, true);
  }
}

// A row that more than one workgroup converts.
TEST_P(GpuInt8Rows, LongRows) {
  test_linear(bench(), Int8Problem(Format::kQ2_0, 5, 2816, 3), Store::kSet, false, {1, 2});
}

}  // namespace
}  // namespace tern::conform
