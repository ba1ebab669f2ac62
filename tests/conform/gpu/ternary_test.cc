// ternary_matvec, ternary_matmul, ternary_glu, ternary_glu_matmul.
#include <cmath>

#include "backend/gpu/kernels/ternary/ternary_linear.h"
#include "backend/gpu/kernels/ternary/ternary_matmul.h"
#include "backend/ref/ops.h"
#include "base/bytes.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/gpu/ternary_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using GpuTernary = GpuConform;
TERN_FOR_EVERY_VARIANT(GpuTernary);

constexpr float kScaleA = 0.7f, kScaleB = 1.3f;
const std::vector<float> kScales = {kScaleA, kScaleB, 0, 0};

// (Σ code·q − Σq) is an integer of less than 24 bits, so converting it is exact. Dividing by the activations' scale is
// accurate to 2.5 ulp (5 roundings). The product and the addition add one each.
constexpr double kLinearError = 7 * kUlp;

struct Case {
  Case(int n_tokens, int rows, int cols, uint64_t seed)
      : n(n_tokens),
        w(Format::kI2_S, rows, cols, seed, kScaleA),
        x(Int8Rows::random(n_tokens, cols, seed + 1)),
        before(static_cast<size_t>(n * rows)),
        params(batch_params(3, static_cast<uint32_t>(n))) {
    Values(seed + 2).fill(before);
  }
  void expect(const std::vector<float>& y, gpu::Store store) const {
    const std::vector<int64_t> dots = exact_dots(x, w.tensor);
    const auto rows = static_cast<size_t>(w.tensor.rows);
    for (size_t i = 0; i < y.size(); ++i) {
      const double x_scale = x.scale[i / rows];
      const double value = static_cast<double>(dots[i]) / x_scale * kScaleA;
      const double start = store == gpu::Store::kAdd ? before[i] : 0.0f;
      ASSERT_NEAR(y[i], start + value, kLinearError * (std::abs(value) + std::abs(start)))
          << w.tensor.rows << "×" << w.tensor.cols << ", " << n << " tokens, token " << i / rows << " row " << i % rows;
      // The integer must be exact: its float error is far below a half.
      if (store == gpu::Store::kSet) {
        ASSERT_EQ(std::llround(y[i] / kScaleA * x_scale), dots[i]);
      }
    }
  }
  int n;
  WeightMatrix w;
  Int8Rows x;
  std::vector<float> before;
  std::vector<uint32_t> params;
};

gpu::TernaryConfig config_of(const Case& c, const gpu::Caps& caps, gpu::Store store = gpu::Store::kSet) {
  return {.rows = static_cast<uint32_t>(c.w.tensor.rows),
          .cols = static_cast<uint32_t>(c.w.tensor.cols),
          .store = store,
          .caps = caps};
}

void test_matvec(GpuBench& bench, const Case& c, const gpu::TernaryConfig& config) {
  const auto w = c.w.device_rows();
  const auto x = c.x.packed();
  auto y = config.store == gpu::Store::kAdd ? c.before : poisoned<float>(c.before.size());
  bench.run(gpu::ternary_matvec(config),
            {.x = ceil_div(config.rows, config.rows_per_workgroup()), .y = static_cast<uint32_t>(c.n)},
            in<gpu::TernaryWeights>(w), in<gpu::QuantizedWords>(x), in<gpu::WeightScales>(kScales), out<F32>(y));
  c.expect(y, config.store);
}

TEST_P(GpuTernary, Matvec) {
  uint64_t seed = 1;
  for (const auto& [rows, cols] : {std::pair{1, 128},
                                   {31, 256},
                                   {32, 384},
                                   {33, 640},
                                   {64, 128},
                                   {77, 1152},
                                   {9, 36},
                                   {33, 192},
                                   {17, 740},
                                   {5, 8640}}) {
    for (const int n : {1, 3, 7}) {
      const Case c(n, rows, cols, seed += 3);
      test_matvec(bench(), c, config_of(c, caps()));
    }
  }
}

TEST_P(GpuTernary, MatvecAdd) {
  uint64_t seed = 100;
  for (const auto& [rows, cols] : {std::pair{5, 256}, {64, 384}, {70, 640}, {19, 160}}) {
    const Case c(3, rows, cols, seed += 3);
    test_matvec(bench(), c, config_of(c, caps(), gpu::Store::kAdd));
  }
}

// The layout only affects speed. Rows of ten half blocks are not divisible by most numbers of lanes.
TEST_P(GpuTernary, MatvecInOtherLayouts) {
  uint64_t seed = 200;
  for (const auto& [lanes, rows_per_group, workgroup] :
       {std::tuple{1u, 1u, 64u}, {4u, 4u, 64u}, {16u, 1u, 256u}, {32u, 2u, 128u}, {64u, 1u, 64u}}) {
    const Case c(2, 45, 640, seed += 3);
    gpu::TernaryConfig config = config_of(c, caps());
    config.lanes = lanes;
    config.rows_per_group = rows_per_group;
    config.workgroup = workgroup;
    test_matvec(bench(), c, config);
    config.in_loops = true;
    test_matvec(bench(), c, config);
  }
  const Case long_rows(2, 9, 2560, seed);  // too long to be unrolled
  gpu::TernaryConfig config = config_of(long_rows, caps());
  config.lanes = 4;
  test_matvec(bench(), long_rows, config);
}

void test_matmul(GpuBench& bench, const Case& c, gpu::Store store, uint32_t tile_rows = 64, uint32_t tile_tokens = 64) {
  const gpu::TernaryMatmulConfig config{.rows = static_cast<uint32_t>(c.w.tensor.rows),
                                        .cols = static_cast<uint32_t>(c.w.tensor.cols),
                                        .store = store,
                                        .caps = bench.caps(),
                                        .tile_rows = tile_rows,
                                        .tile_tokens = tile_tokens};
  auto y = store == gpu::Store::kAdd ? c.before : poisoned<float>(c.before.size());
  const auto w = c.w.device_rows();
  const auto x = c.x.packed();
  bench.run(gpu::ternary_matmul(config),
            {.x = ceil_div(config.rows, tile_rows), .y = ceil_div(static_cast<uint32_t>(c.n), tile_tokens)},
            in<gpu::TernaryWeights>(w), in<gpu::QuantizedWords>(x), in<gpu::WeightScales>(kScales), in<U32>(c.params),
            out<F32>(y));
  c.expect(y, store);
}

TEST_P(GpuTernary, Matmul) {
  uint64_t seed = 300;
  for (const int n : {1, 8, 63, 64, 65, 70}) test_matmul(bench(), Case(n, 65, 384, seed += 3), gpu::Store::kSet);
  for (const int rows : {3, 128}) {
    test_matmul(bench(), Case(9, rows, 128, seed += 3), gpu::Store::kSet);
  }
  for (const int cols : {36, 192, 324}) test_matmul(bench(), Case(67, 70, cols, seed += 3), gpu::Store::kSet);
  test_matmul(bench(), Case(33, 50, 256, seed), gpu::Store::kSet, 32, 16);
}

TEST_P(GpuTernary, MatmulAdd) {
  for (const int n : {1, 15, 66}) {
    test_matmul(bench(), Case(n, 70, 256, static_cast<uint64_t>(n)), gpu::Store::kAdd);
  }
}

// relu(gate)²·up, of two linear layers with their errors: 2·7 for the gate, 7 for up, and 3 for the products. SiLU's
// relative change is at most 1 + |gate| times that of its gate; its exponential and division add their errors.
void expect_glu(const Int8Rows& x, const WeightMatrix& gate, const WeightMatrix& up, const std::vector<float>& y,
                bool silu = false) {
  const auto gates = exact_dots(x, gate.tensor), ups = exact_dots(x, up.tensor);
  const auto rows = static_cast<size_t>(gate.tensor.rows);
  for (size_t i = 0; i < y.size(); ++i) {
    const double x_scale = x.scale[i / rows];
    const double g = static_cast<double>(gates[i]) / x_scale * kScaleA;
    const double positive = std::max(g, 0.0);
    const double act = silu ? g / (1 + std::exp(-g)) : positive * positive;
    const double u = static_cast<double>(ups[i]) / x_scale * kScaleB;
    const double expected = act * u;
    const double nothing = silu ? 2 * std::exp(-80.0) * std::abs(g * u) : 0;  // the kernel's value for e^−∞
    const double error =
        silu ? (2 + std::abs(g)) * kLinearError + (2 * (3 + 2 * std::abs(g)) + 8) * kUlp : 3 * kLinearError + 3 * kUlp;
    ASSERT_NEAR(y[i], expected, std::abs(expected) * error + nothing)
        << gate.tensor.rows << " rows, token " << i / rows << " row " << i % rows;
  }
}

TEST_P(GpuTernary, Glu) {
  uint64_t seed = 400;
  for (const auto& [rows, cols] : {std::pair{1, 128}, {15, 384}, {16, 256}, {37, 640}, {21, 416}}) {
    for (const int n : {1, 4}) {
      const bool silu = (rows + n) % 2 == 0;
      const WeightMatrix gate(Format::kI2_S, rows, cols, ++seed, kScaleA),
          up(Format::kI2_S, rows, cols, ++seed, kScaleB);
      const Int8Rows x = Int8Rows::random(n, cols, ++seed);
      const gpu::TernaryConfig config{.rows = static_cast<uint32_t>(rows),
                                      .cols = static_cast<uint32_t>(cols),
                                      .act = silu ? gpu::Activation::kSilu : gpu::Activation::kRelu2,
                                      .caps = caps(),
                                      .in_loops = n == 4};
      auto y = poisoned<float>(static_cast<size_t>(n * rows));
      bench().run(gpu::ternary_glu(config),
                  {.x = ceil_div(config.rows, config.workgroup / config.lanes), .y = static_cast<uint32_t>(n)},
                  in<gpu::TernaryWeights>(gate.device_rows()), in<gpu::TernaryWeights>(up.device_rows()),
                  in<gpu::QuantizedWords>(x.packed()), in<gpu::WeightScales>(kScales), out<F32>(y));
      expect_glu(x, gate, up, y, silu);
    }
  }
}

TEST_P(GpuTernary, GluMatmul) {
  uint64_t seed = 500;
  for (const auto& [rows, n] : {std::pair{70, 8}, {70, 33}, {70, 64}, {70, 65}, {64, 31}}) {
    const int cols = n % 2 == 0 ? 256 : 224;
    const WeightMatrix gate(Format::kI2_S, rows, cols, ++seed, kScaleA), up(Format::kI2_S, rows, cols, ++seed, kScaleB);
    const Int8Rows x = Int8Rows::random(n, cols, ++seed);
    const bool silu = n % 2 == 0;
    const gpu::TernaryMatmulConfig config{.rows = static_cast<uint32_t>(rows),
                                          .cols = static_cast<uint32_t>(cols),
                                          .act = silu ? gpu::Activation::kSilu : gpu::Activation::kRelu2,
                                          .caps = caps(),
                                          .tile_tokens = 32};
    const auto params = batch_params(3, static_cast<uint32_t>(n));
    auto y = poisoned<float>(static_cast<size_t>(n * rows));
    bench().run(
        gpu::ternary_glu_matmul(config),
        {.x = ceil_div(config.rows, config.tile_rows), .y = ceil_div(static_cast<uint32_t>(n), config.tile_tokens)},
        in<gpu::TernaryWeights>(gate.device_rows()), in<gpu::TernaryWeights>(up.device_rows()),
        in<gpu::QuantizedWords>(x.packed()), in<gpu::WeightScales>(kScales), in<U32>(params), out<F32>(y));
    expect_glu(x, gate, up, y, silu);
  }
}

// One nonzero weight and activation: finds a wrong permutation that random data might hide.
TEST_P(GpuTernary, MatvecAndMatmulKeepEveryPosition) {
  constexpr int kCols = 228;  // the last plane is partial
  WeightMatrix w(Format::kI2_S, kCols, kCols, 1);
  for (int row = 0; row < kCols; ++row) {  // −1 on the diagonal
    std::vector<float> values(kCols, 0.0f);
    values[static_cast<size_t>(row)] = -1.0f;
    const uint64_t stride = row_bytes(Format::kI2_S, kCols);
    format_info(Format::kI2_S)
        .encode(values, MutableBytes(w.bytes).subspan(static_cast<uint64_t>(row) * stride, stride));
  }
  Int8Rows x(1, kCols);
  x.scale[0] = 1.0f;
  for (int i = 0; i < kCols; ++i) x.sum[0] += x.q[static_cast<size_t>(i)] = static_cast<int8_t>(i - 114);
  std::vector<float> expected;
  for (const int8_t q : x.q) expected.push_back(-static_cast<float>(q));
  const std::vector<float> ones = {1, 1, 1, 1};
  const auto params = batch_params(0, 1);
  const gpu::TernaryConfig matvec{.rows = kCols, .cols = kCols, .caps = caps()};
  auto y = poisoned<float>(kCols);
  bench().run(gpu::ternary_matvec(matvec), {.x = ceil_div(matvec.rows, matvec.rows_per_workgroup())},
              in<gpu::TernaryWeights>(w.device_rows()), in<gpu::QuantizedWords>(x.packed()),
              in<gpu::WeightScales>(ones), out<F32>(y));
  EXPECT_EQ(y, expected);
  const gpu::TernaryMatmulConfig matmul{.rows = kCols, .cols = kCols, .caps = caps()};
  y = poisoned<float>(kCols);
  bench().run(gpu::ternary_matmul(matmul), {.x = ceil_div(matmul.rows, matmul.tile_rows)},
              in<gpu::TernaryWeights>(w.device_rows()), in<gpu::QuantizedWords>(x.packed()),
              in<gpu::WeightScales>(ones), in<U32>(params), out<F32>(y));
  EXPECT_EQ(y, expected);
}

}  // namespace
}  // namespace tern::conform
