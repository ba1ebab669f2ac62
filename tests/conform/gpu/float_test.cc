// The kernels for float matrices, in every format: embed, float_linear, float_glu, and their variants for many tokens.
#include <cmath>

#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/embed.h"
#include "backend/gpu/kernels/float/float_linear.h"
#include "conform/gpu/float_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using GpuFloat = GpuConform;
TERN_FOR_EVERY_VARIANT(GpuFloat);

// One format of each kind: the code for several rows at a time does not depend on the format.
bool has_columns(Format format) {
  return format == Format::kF16 || format == Format::kQ4_0 || format == Format::kQ4_K || format == Format::kQ1_0;
}

// A float sum in any order is off by at most a rounding per term, and one each for the products with the scale and with
// the input's gain. A norm's factor is off by half a rounding per square, and by its root and division.
double linear_error(int cols, bool normed) { return (cols + 4 + (normed ? cols / 2.0 + 20 : 0)) * kUlp; }

using gpu::Store;

struct Way {
  Store store = Store::kSet;
  bool normed = false, staged = false, int8_x = false;
  uint32_t lanes = 8, rows_per_group = 2, workgroup = 64;
};

gpu::FloatLinearConfig config_of(const Tensor& w, const Way& way, const gpu::Caps& caps) {
  gpu::FloatLinearConfig c{.rows = static_cast<uint32_t>(w.rows),
                           .cols = static_cast<uint32_t>(w.cols),
                           .coding = gpu::coding_of(w),
                           .store = way.store,
                           .normed = way.normed,
                           .eps = kEps,
                           .staged = way.staged,
                           .int8_x = way.int8_x,
                           .caps = caps};
  c.lanes = way.lanes;
  c.rows_per_group = way.rows_per_group;
  c.workgroup = way.workgroup;
  return gpu::fit(c);
}

// More workgroups than necessary, along both axes.
gpu::Grid grid_of(const gpu::FloatLinearConfig& c, int rows, int n) {
  const uint32_t groups = ceil_div(static_cast<uint32_t>(rows), c.rows_per_workgroup());
  const auto side = static_cast<uint32_t>(std::ceil(std::sqrt(groups)));
  return {.x = side, .y = side, .z = static_cast<uint32_t>(n)};
}

// x after the reference's norm if `wanted`, otherwise x.
std::vector<float> normed(const std::vector<float>& x, const std::vector<float>& gain, int n, bool wanted) {
  if (!wanted) return x;
  auto y = x;
  ref::rms_norm({x.data(), gain.data(), kEps, n, static_cast<int>(gain.size()), y.data()});
  return y;
}

// Several rows of x at a time give the same results as one by one.
void test_columns(GpuBench& bench, const Planes& planes, gpu::FloatLinearConfig c, const std::vector<uint32_t>& range,
                  const std::vector<float>& x, const std::vector<float>& gain, const std::vector<float>& before,
                  const std::vector<float>& expected) {
  const auto n = static_cast<uint32_t>(x.size()) / c.cols;
  for (const auto& [columns, of_logits] : {std::pair{2u, false}, {4u, true}}) {
    c.columns = columns;
    c.of_logits = of_logits;
    auto params = batch_params(0, of_logits ? n + 3 : n);
    if (of_logits) {
      params.push_back(n);
      params[gpu::kLogitRows] = static_cast<uint32_t>(params.size());
    }
    auto y = c.store == Store::kAdd ? before : poisoned<float>(before.size());
    const gpu::Grid grid = grid_of(c, static_cast<int>(range[1]), static_cast<int>(ceil_div(n, columns)));
    bench.run(gpu::float_linear_columns(c), grid, in<gpu::WeightUnits>(planes.units), in<U32>(planes.scales),
              in<Vec4<F32>>(x), in<Vec4<F32>>(gain), in<gpu::RowRange>(range), in<U32>(params), out<F32>(y));
    for (uint32_t token = 0; token < n; ++token) {
      for (uint32_t row = range[0]; row < range[0] + range[1]; ++row) {
        const size_t i = size_t{token} * c.rows + row;
        // The same sums, but the device's compiler may contract them differently: a rounding per term.
        ASSERT_NEAR(y[i], expected[i], linear_error(static_cast<int>(c.cols), c.normed) * (std::abs(expected[i]) + 30))
            << columns << " columns, at " << i;
      }
    }
  }
}

// Each result is that of the kernel without a bias, and its bias.
void test_bias(GpuBench& bench, const Planes& planes, const gpu::FloatLinearConfig& c,
               const std::vector<uint32_t>& range, const std::vector<float>& x, const std::vector<float>& gain,
               const std::vector<float>& before, const std::vector<float>& without) {
  const auto bias = random(c.rows, 8);
  auto y = c.store == Store::kAdd ? before : poisoned<float>(before.size());
  const auto n = static_cast<int>(x.size() / c.cols);
  bench.run(gpu::float_linear_bias(c), grid_of(c, static_cast<int>(range[1]), n), in<gpu::WeightUnits>(planes.units),
            in<U32>(planes.scales), in<Vec4<F32>>(x), in<Vec4<F32>>(gain), in<F32>(bias), in<gpu::RowRange>(range),
            out<F32>(y));
  for (size_t i = 0; i < y.size(); ++i) {
    const auto row = static_cast<uint32_t>(i % c.rows);
    if (row < range[0] || row >= range[0] + range[1]) continue;
    ASSERT_NEAR(y[i], without[i] + bias[row], 4 * kUlp * (std::abs(without[i]) + std::abs(before[i]) + 30)) << i;
  }
}

void test_linear(GpuBench& bench, const Tensor& w, int n, const Way& way, const std::vector<int>& part_ends) {
  const auto x = random(static_cast<size_t>(n * w.cols), 5), gain = random(static_cast<size_t>(w.cols), 6);
  const auto before = random(static_cast<size_t>(n * w.rows), 7);
  auto y = way.store == Store::kAdd ? before : poisoned<float>(before.size());
  auto expected = before;
  const auto in_x = normed(x, gain, n, way.normed);
  ref::float_linear(
      {{.x = in_x.data()}, n, &w, way.store == Store::kAdd ? ops::Store::kAdd : ops::Store::kSet, expected.data()});
  int first = 0;
  for (const int end : part_ends) {
    const Planes planes(w, first, end - first);
    const auto config = config_of(w, way, bench.caps());
    bench.run(gpu::float_linear(config), grid_of(config, end - first, n), in<gpu::WeightUnits>(planes.units),
              in<U32>(planes.scales), in<Vec4<F32>>(x), in<Vec4<F32>>(gain),
              in<gpu::RowRange>(range_of(first, end - first)), out<F32>(y));
    test_bias(bench, planes, config, range_of(first, end - first), x, gain, before, y);
    if (n >= 3) test_columns(bench, planes, config, range_of(first, end - first), x, gain, before, y);
    first = end;
  }
  const auto terms = magnitudes(in_x, n, w);
  const auto steps = way.int8_x ? magnitudes(half_steps(in_x), n, w) : std::vector<double>(terms.size());
  for (size_t i = 0; i < y.size(); ++i) {
    ASSERT_NEAR(y[i], expected[i], linear_error(w.cols, way.normed) * (terms[i] + std::abs(expected[i])) + steps[i])
        << format_info(w.format).name << " " << w.rows << "×" << w.cols << ", " << n << " tokens, at " << i
        << (way.normed ? " normed" : "") << (way.staged ? " staged" : "") << (way.int8_x ? " int8" : "");
  }
}

TEST_P(GpuFloat, LinearOfEveryFormat) {
  uint64_t seed = 1;
  for (const Format format : formats_for(GetParam().name)) {
    const int block = block_of(format);
    const WeightMatrix w(format, 19, block * 3, ++seed), v(format, 19, block * 5, ++seed);
    test_linear(bench(), w.tensor, 2, {.normed = true, .staged = true}, {19});
    test_linear(bench(), v.tensor, 1, {.store = Store::kAdd}, {19});
    if (!has_columns(format)) continue;
    test_linear(bench(), v.tensor, 5, {.normed = true}, {7, 19});
  }
}

// Rows with many units, so that weights are loaded in a loop, and rows with few, which fill only part of the lanes.
TEST_P(GpuFloat, LinearInOtherLayouts) {
  for (const Format format : {Format::kF16, Format::kQ4_0, Format::kQ1_0}) {
    const WeightMatrix w(format, 37, 1408, 3);
    for (const auto& [lanes, rows_per_group, workgroup] : {std::tuple{1u, 1u, 64u}, {16u, 4u, 128u}, {32u, 1u, 256u}}) {
      const Way way{.normed = true,
                    .staged = lanes == 16,
                    .lanes = lanes,
                    .rows_per_group = rows_per_group,
                    .workgroup = workgroup};
      test_linear(bench(), w.tensor, 2, way, {37});
    }
  }
}

TEST_P(GpuFloat, LinearWithInt8Activations) {
  uint64_t seed = 20;
  for (const Format format : formats_for(GetParam().name)) {
    const WeightMatrix w(format, 19, std::max(block_of(format), 64) * 3, ++seed);
    if (!gpu::coding_of(w.tensor).has_codes()) continue;
    test_linear(bench(), w.tensor, 2, {.int8_x = true}, {19});
    if (has_columns(format)) {
      test_linear(bench(), w.tensor, 3, {.store = Store::kAdd, .normed = true, .int8_x = true}, {19});
    }
    test_linear(bench(), w.tensor, 2, {.store = Store::kAdd, .normed = true, .int8_x = true}, {1, 19});
  }
  for (const Format format : {Format::kQ8_0, Format::kQ4_0, Format::kQ1_0}) {
    const WeightMatrix v(format, 37, 2816, ++seed);
    for (const auto& [lanes, rows_per_group, workgroup] : {std::tuple{16u, 4u, 128u}, {32u, 1u, 256u}}) {
      const Way way{
          .normed = true, .int8_x = true, .lanes = lanes, .rows_per_group = rows_per_group, .workgroup = workgroup};
      test_linear(bench(), v.tensor, 1, way, {37});
    }
  }
}

// Integers up to 127, times a power of two per run, are exact as int8. So the bound is that of a float sum, and using
// another run's scale or sum would show.
TEST_P(GpuFloat, Int8ActivationsLoseNoIntegers) {
  for (const Format format : formats_for(GetParam().name)) {
    const int cols = std::max(block_of(format), 64) * 3, rows = 5, n = 3;
    const WeightMatrix w(format, rows, cols, 8);
    if (!gpu::coding_of(w.tensor).has_codes()) continue;
    auto x = random(static_cast<size_t>(n * cols), 9);
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t run = i / gpu::kRun;
      x[i] = std::ldexp(i % gpu::kRun == run % gpu::kRun ? -127.0f : std::round(std::clamp(x[i] * 50, -126.0f, 126.0f)),
                        static_cast<int>(run % 7) - 3);
    }
    std::vector<float> y = poisoned<float>(static_cast<size_t>(n * rows)), expected(y.size());
    ref::float_linear({{.x = x.data()}, n, &w.tensor, ops::Store::kSet, expected.data()});
    const Planes planes(w.tensor);
    const auto config = config_of(w.tensor, {.int8_x = true}, caps());
    bench().run(gpu::float_linear(config), grid_of(config, rows, n), in<gpu::WeightUnits>(planes.units),
                in<U32>(planes.scales), in<Vec4<F32>>(x), in<Vec4<F32>>(x), in<gpu::RowRange>(range_of(0, rows)),
                out<F32>(y));
    const auto terms = magnitudes(x, n, w.tensor);
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_NEAR(y[i], expected[i], linear_error(cols, false) * terms[i]) << format_info(format).name << " at " << i;
    }
  }
}

TEST_P(GpuFloat, LinearInParts) {
  for (const Format format : {Format::kF16, Format::kQ6_K, Format::kQ8_0, Format::kQ4_0}) {
    const WeightMatrix w(format, 40, 256, 4);
    test_linear(bench(), w.tensor, 3, {}, {1, 22, 40});
  }
}

// A scale of the whole tensor that f16 scales could not represent.
TEST_P(GpuFloat, LinearWithAScale) {
  for (const Format format : {Format::kF16, Format::kBF16, Format::kQ8_0, Format::kTQ2_0, Format::kI2_S, Format::kQ2_K,
                              Format::kQ4_K, Format::kQ5_K, Format::kQ6_K, Format::kQ4_1, Format::kQ5_1}) {
    const WeightMatrix w(format, 9, 512, 4, 0.123456f);
    const gpu::WeightCoding coding = gpu::coding_of(w.tensor);
    const WeightMatrix plain(format, 9, 512, 4);
    EXPECT_EQ(coding.words, gpu::coding_of(plain.tensor).words) << format_info(format).name;
    test_linear(bench(), w.tensor, 1, {}, {9});
    test_linear(bench(), w.tensor, 2, {.staged = coding.bits() < 8}, {9});
  }
}

// Multiplied with a unit vector, a matrix gives one of its columns without rounding. Any two exchanged weights would
// show.
TEST_P(GpuFloat, LinearKeepsEveryPosition) {
  for (const Format format : formats_for(GetParam().name)) {
    const int cols = std::max(block_of(format), 64), rows = 5;
    const WeightMatrix w(format, rows, cols, 8);
    std::vector<float> x(static_cast<size_t>(cols * cols)), y = poisoned<float>(static_cast<size_t>(cols * rows));
    for (size_t i = 0; i < static_cast<size_t>(cols); ++i) x[i * static_cast<size_t>(cols) + i] = 1;
    std::vector<float> expected(y.size());
    ref::float_linear({{.x = x.data()}, cols, &w.tensor, ops::Store::kSet, expected.data()});
    const Planes planes(w.tensor);
    const auto config = config_of(w.tensor, {.staged = planes.coding.bits() < 8}, caps());
    bench().run(gpu::float_linear(config), grid_of(config, rows, cols), in<gpu::WeightUnits>(planes.units),
                in<U32>(planes.scales), in<Vec4<F32>>(x), in<Vec4<F32>>(x), in<gpu::RowRange>(range_of(0, rows)),
                out<F32>(y));
    EXPECT_EQ(y, expected) << format_info(format).name;
    y = poisoned<float>(y.size());
    const gpu::FloatMatmulConfig many{
        .rows = static_cast<uint32_t>(rows), .cols = static_cast<uint32_t>(cols), .coding = planes.coding};
    bench().run(gpu::float_matmul(many), {.y = ceil_div(static_cast<uint32_t>(cols), many.tile_tokens)},
                in<gpu::WeightUnits>(planes.units), in<U32>(planes.scales), in<Vec4<F32>>(x),
                in<gpu::RowRange>(range_of(0, rows)), in<U32>(batch_params(0, static_cast<uint32_t>(cols))),
                out<F32>(y));
    EXPECT_EQ(y, expected) << format_info(format).name << ", many tokens";
  }
}

TEST_P(GpuFloat, Embed) {
  for (const Format format : formats_for(GetParam().name)) {
    const int cols = block_of(format) * 3;
    const std::vector<int> part_ends = {9, 10, 23};
    const WeightMatrix table(format, 23, cols, 11);
    const std::vector<TokenId> tokens = {22, 0, 7, 7, 8, 9, 10, 11};
    std::vector<float> expected(tokens.size() * static_cast<size_t>(cols)), y = poisoned<float>(expected.size());
    ref::embed({&table.tensor, tokens, expected.data()});
    int first = 0;
    for (const int end : part_ends) {
      const Planes planes(table.tensor, first, end - first);
      bench().run(gpu::embed({static_cast<uint32_t>(cols), planes.coding}), {.y = static_cast<uint32_t>(tokens.size())},
                  in<U32>(tokens), in<gpu::WeightUnits>(planes.units), in<U32>(planes.scales),
                  in<gpu::RowRange>(range_of(first, end - first)), out<Vec4<F32>>(y));
      first = end;
    }
    EXPECT_EQ(y, expected) << format_info(format).name;  // copies, or one rounded product: no tolerance
  }
}

void test_matmul(GpuBench& bench, const Tensor& w, int n, Store store, const std::vector<int>& part_ends) {
  const auto x = random(static_cast<size_t>(n * w.cols), 5), before = random(static_cast<size_t>(n * w.rows), 7);
  auto y = store == Store::kAdd ? before : poisoned<float>(before.size());
  auto expected = before;
  ref::float_linear(
      {{.x = x.data()}, n, &w, store == Store::kAdd ? ops::Store::kAdd : ops::Store::kSet, expected.data()});
  int first = 0;
  for (const int end : part_ends) {
    const Planes planes(w, first, end - first);
    const gpu::FloatMatmulConfig config{.rows = static_cast<uint32_t>(w.rows),
                                        .cols = static_cast<uint32_t>(w.cols),
                                        .coding = planes.coding,
                                        .store = store};
    bench.run(gpu::float_matmul(config),
              {.x = ceil_div(static_cast<uint32_t>(end - first), config.tile_rows),
               .y = ceil_div(static_cast<uint32_t>(n), config.tile_tokens)},
              in<gpu::WeightUnits>(planes.units), in<U32>(planes.scales), in<Vec4<F32>>(x),
              in<gpu::RowRange>(range_of(first, end - first)), in<U32>(batch_params(3, static_cast<uint32_t>(n))),
              out<F32>(y));
    first = end;
  }
  const auto terms = magnitudes(x, n, w);
  for (size_t i = 0; i < y.size(); ++i) {
    ASSERT_NEAR(y[i], expected[i], linear_error(w.cols, false) * (terms[i] + std::abs(expected[i])))
        << format_info(w.format).name << " " << w.rows << "×" << w.cols << ", " << n << " tokens, at " << i;
  }
}

TEST_P(GpuFloat, MatmulOfEveryFormat) {
  uint64_t seed = 50;
  for (const Format format : formats_for(GetParam().name)) {
    const WeightMatrix w(format, 70, block_of(format) * 3, ++seed);
    test_matmul(bench(), w.tensor, format == Format::kF16 ? 67 : 9, Store::kSet, {70});
  }
  const WeightMatrix w(Format::kQ6_K, 40, 256, 4);
  test_matmul(bench(), w.tensor, 33, Store::kAdd, {1, 22, 40});
}

// act(gate)·up, of two sums with their errors. The activation changes by at most 1.1 (SiLU) or 2 |gate| (relu²) times
// the change of its gate. SiLU has an exponential, off by 3 + 2|gate| ulp, and a sum and a division of 2.5 ulp. An ulp
// is two roundings.
void test_glu(GpuBench& bench, const Tensor& gate, const Tensor& up, GluAct act, const Way& way, int n) {
  const auto x = random(static_cast<size_t>(n * gate.cols), 5), gain = random(static_cast<size_t>(gate.cols), 6);
  const auto in_x = normed(x, gain, n, way.normed);
  const auto count = static_cast<size_t>(n * gate.rows);
  std::vector<float> gates(count), ups(count), y = poisoned<float>(count);
  ref::float_linear({{.x = in_x.data()}, n, &gate, ops::Store::kSet, gates.data()});
  ref::float_linear({{.x = in_x.data()}, n, &up, ops::Store::kSet, ups.data()});
  std::vector<float> expected(count);
  ref::glu_mul({gates.data(), ups.data(), act, count, expected.data()});
  const Planes a(gate), b(up);
  auto config = config_of(gate, way, bench.caps());
  config.up_coding = b.coding;
  config.act = act == GluAct::kSilu ? gpu::Activation::kSilu : gpu::Activation::kRelu2;
  bench.run(gpu::float_glu(config), grid_of(config, gate.rows, n), in<gpu::WeightUnits>(a.units), in<U32>(a.scales),
            in<gpu::WeightUnits>(b.units), in<U32>(b.scales), in<Vec4<F32>>(x), in<Vec4<F32>>(gain), out<F32>(y));
  std::vector<std::vector<float>> ys = {y};
  config.columns = 4;
  auto together = poisoned<float>(count);
  bench.run(gpu::float_glu_columns(config),
            grid_of(config, gate.rows, static_cast<int>(ceil_div(static_cast<uint32_t>(n), 4u))),
            in<gpu::WeightUnits>(a.units), in<U32>(a.scales), in<gpu::WeightUnits>(b.units), in<U32>(b.scales),
            in<Vec4<F32>>(x), in<Vec4<F32>>(gain), in<U32>(batch_params(3, static_cast<uint32_t>(n))),
            out<F32>(together));
  ys.push_back(together);
  if (!way.normed &&
      !way.int8_x) {  // this kernel takes normed x: the same sums in another order, within the same bounds
    const gpu::FloatMatmulConfig many{.rows = config.rows,
                                      .cols = config.cols,
                                      .coding = config.coding,
                                      .up_coding = config.up_coding,
                                      .act = config.act,
                                      .tile_rows = 32};
    auto tiled = poisoned<float>(count);
    bench.run(gpu::float_glu_matmul(many), {.x = ceil_div(many.rows, many.tile_rows)}, in<gpu::WeightUnits>(a.units),
              in<U32>(a.scales), in<gpu::WeightUnits>(b.units), in<U32>(b.scales), in<Vec4<F32>>(x),
              in<U32>(batch_params(3, static_cast<uint32_t>(n))), out<F32>(tiled));
    ys.push_back(tiled);
  }
  const auto gate_terms = magnitudes(in_x, n, gate), up_terms = magnitudes(in_x, n, up);
  const auto steps = way.int8_x ? half_steps(in_x) : std::vector<float>(in_x.size());
  const auto gate_steps = magnitudes(steps, n, gate), up_steps = magnitudes(steps, n, up);
  for (size_t i = 0; i < count; ++i) {
    const double g = std::abs(gates[i]), u = std::abs(ups[i]), error = linear_error(gate.cols, way.normed);
    const double g_error = error * (gate_terms[i] + g) + gate_steps[i],
                 u_error = error * (up_terms[i] + u) + up_steps[i];
    const bool silu = act == GluAct::kSilu;
    const double changes = silu ? 1.1 * g_error : (2 * g + g_error) * g_error;
    const double value = (silu ? g : g * g), own = silu ? (2 * (3 + 2 * g) + 8) * kUlp : 3 * kUlp;
    for (const auto& result : ys)
      ASSERT_NEAR(result[i], expected[i], changes * (u + u_error) + value * u_error + own * value * u)
          << format_info(gate.format).name << ", " << n << " tokens, at " << i;
  }
}

TEST_P(GpuFloat, Glu) {
  uint64_t seed = 30;
  for (const Format format : formats_for(GetParam().name)) {
    const bool even = ++seed % 2 == 0;
    const int cols = block_of(format) * 3;
    const WeightMatrix gate(format, 21, cols, ++seed), up(format, 21, cols, ++seed);
    test_glu(bench(), gate.tensor, up.tensor, even ? GluAct::kSilu : GluAct::kRelu2, {.normed = even, .staged = even},
             1);
    // The rest is the same for all formats.
    if (seed % 4 == 0)
      test_glu(bench(), gate.tensor, up.tensor, GluAct::kSilu, {.normed = !even, .rows_per_group = 1}, 2);
  }
  for (const Format format : {Format::kQ4_0, Format::kQ1_0, Format::kQ2_0, Format::kQ8_0}) {
    const WeightMatrix gate(format, 21, 384, ++seed), up(format, 21, 384, ++seed);
    test_glu(bench(), gate.tensor, up.tensor, GluAct::kSilu, {.normed = true, .int8_x = true}, 2);
  }
  // Formats with units of the same size can be combined.
  const WeightMatrix gate(Format::kQ8_0, 21, 256, 1), up(Format::kQ6_K, 21, 256, 2);
  test_glu(bench(), gate.tensor, up.tensor, GluAct::kSilu, {}, 1);
  test_glu(bench(), gate.tensor, up.tensor, GluAct::kSilu, {.int8_x = true}, 1);
}

}  // namespace
}  // namespace tern::conform
