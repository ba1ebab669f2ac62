// Kernels that move rows or touch each value once: select_rows, rope, glu_mul, add.
#include "backend/gpu/kernels/elementwise.h"
#include "backend/ref/ops.h"
#include "backend/rope_table.h"
#include "conform/gpu/gpu_bench.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using GpuRows = GpuConform;
TERN_FOR_EVERY_VARIANT(GpuRows);

// Widths around the 128 columns of a workgroup, and others.
constexpr uint32_t kWidths[] = {1, 2, 127, 128, 129, 300, 640};

uint32_t groups(uint32_t width) { return (width + gpu::kElementwiseWorkgroup - 1) / gpu::kElementwiseWorkgroup; }

TEST_P(GpuRows, SelectRows) {
  for (const uint32_t width : kWidths) {
    for (const std::vector<uint32_t>& wanted : {std::vector<uint32_t>{0}, {7}, {1, 2, 6}, {5, 3}}) {
      const auto n = static_cast<uint32_t>(wanted.size());
      const auto x = random(8 * width, width);
      auto params = batch_params(77, 8);
      params[gpu::kLogitRows] = static_cast<uint32_t>(params.size());
      params.insert(params.end(), wanted.begin(), wanted.end());
      auto y = poisoned<float>(n * width), expected = y;
      for (uint32_t i = 0; i < n; ++i) std::copy_n(x.begin() + wanted[i] * width, width, expected.begin() + i * width);
      bench().run(gpu::select_rows({width}), {.x = groups(width), .y = n}, in<F32>(x), in<U32>(params), out<F32>(y));
      EXPECT_EQ(y, expected) << width;
    }
  }
}

// WGSL allows more precision than f32 between the two products, or fusing them: a rounding for each. SiLU has an
// exponential, off by 3 + 2|gate| ulp, a sum, and a division, off by 2.5 ulp. An ulp is two roundings.
TEST_P(GpuRows, GluMul) {
  for (const uint32_t width : kWidths) {
    const uint32_t n = 1 + width % 4;
    auto gate = random(n * width, width), up = random(n * width, width + 1);
    gate[0] = -200;  // e^−gate overflows
    for (const auto& [act, activation] : {std::pair{GluAct::kRelu2, gpu::Activation::kRelu2},
                                          {GluAct::kSilu, gpu::Activation::kSilu},
                                          {GluAct::kGeluTanh, gpu::Activation::kGeluTanh}}) {
      std::vector<float> expected(gate.size()), y = poisoned<float>(gate.size());
      ref::glu_mul({gate.data(), up.data(), act, gate.size(), expected.data()});
      bench().run(gpu::glu_mul({width}, activation), {.x = groups(width), .y = n}, in<F32>(gate), in<F32>(up),
                  out<F32>(y));
      for (size_t i = 0; i < y.size(); ++i) {
        const double exponential = (2 * (3 + 2 * std::abs(gate[i])) + 8) * kUlp;
        // The error of 1 + tanh is relative to 1, not to its value. e^x is computed up to x = 20 only.
        if (act == GluAct::kGeluTanh) {
          const double error = (2 * (3 + 2 * 20) + 12) * kUlp * std::abs(0.5 * gate[i] * up[i]);
          ASSERT_NEAR(y[i], expected[i], error + 1e-30) << i;
        } else {
          const double error = act == GluAct::kSilu ? exponential : 3 * kUlp;
          ASSERT_NEAR(y[i], expected[i], error * std::abs(expected[i]) + 1e-30) << i;
        }
      }
    }
  }
}

TEST_P(GpuRows, Add) {
  for (const uint32_t width : kWidths) {
    const uint32_t n = 1 + width % 4;
    const auto y = random(n * width, width);
    auto expected = random(n * width, width + 1), x = expected;
    ref::add({y.data(), y.size(), expected.data()});
    bench().run(gpu::add({width}), {.x = groups(width), .y = n}, in<F32>(y), out<F32>(x));
    EXPECT_EQ(x, expected) << width;  // one correctly rounded operation: no tolerance
  }
}

TEST_P(GpuRows, AddScaled) {
  for (const uint32_t width : kWidths) {
    const uint32_t n = 1 + width % 4;
    const auto y = random(n * width, width);
    auto expected = random(n * width, width + 1), x = expected;
    ref::add({y.data(), y.size(), expected.data(), 0.3f});
    bench().run(gpu::add({width}, 0.3f), {.x = groups(width), .y = n}, in<F32>(y), out<F32>(x));
    // The product may be fused with the sum.
    for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], expected[i], 2 * kUlp * (1 + std::abs(expected[i]))) << i;
  }
}

// The same values as from a matrix of only those columns.
TEST_P(GpuRows, GluMulOfColumns) {
  for (const uint32_t width : kWidths) {
    const uint32_t n = 1 + width % 4, up_width = 2 * width + 5, first = width + 3;
    const auto gate = random(n * width, width), up = random(n * up_width, width + 1);
    std::vector<float> columns, expected = poisoned<float>(gate.size()), y = expected;
    for (uint32_t i = 0; i < n * width; ++i) columns.push_back(up[i / width * up_width + first + i % width]);
    for (const gpu::Activation act : {gpu::Activation::kRelu2, gpu::Activation::kGeluTanh}) {
      bench().run(gpu::glu_mul({width}, act), {.x = groups(width), .y = n}, in<F32>(gate), in<F32>(columns),
                  out<F32>(expected));
      bench().run(gpu::glu_mul({width, up_width, first}, act), {.x = groups(width), .y = n}, in<F32>(gate), in<F32>(up),
                  out<F32>(y));
      EXPECT_EQ(y, expected) << width;
    }
  }
}

TEST_P(GpuRows, AddBias) {
  for (const uint32_t width : kWidths) {
    const uint32_t n = 1 + width % 4;
    const auto bias = random(width, width);
    auto expected = random(n * width, width + 1), x = expected;
    ref::add_bias({bias.data(), static_cast<int>(n), static_cast<int>(width), expected.data()});
    const auto before = x;
    bench().run(gpu::add_bias({width, 0, width}), {.x = groups(width), .y = n}, in<F32>(bias), out<F32>(x));
    EXPECT_EQ(x, expected) << width;
    // Some columns only.
    const uint32_t first = width / 3, count = width / 2;
    auto some = before;
    bench().run(gpu::add_bias({width, first, count}), {.x = groups(count), .y = n}, in<F32>(bias), out<F32>(some));
    for (size_t i = 0; i < some.size(); ++i) {
      const bool has_bias = i % width >= first && i % width < first + count;
      ASSERT_EQ(some[i], (has_bias ? expected : before)[i]) << width << " " << i;
    }
  }
}

TEST_P(GpuRows, Softcap) {
  for (const uint32_t width : kWidths) {
    for (const float cap : {0.5f, 30.0f}) {
      const uint32_t n = 1 + width % 4;
      auto expected = random(n * width, width + 1), x = expected;
      expected[0] = x[0] = 3e38f;
      ref::softcap({cap, expected.size(), expected.data()});
      bench().run(gpu::softcap({width}, cap), {.x = groups(width), .y = n}, out<F32>(x));
      const double error = (2 * (3 + 2 * 20) + 12) * kUlp * cap;
      for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], error) << i;
    }
  }
}

TEST_P(GpuRows, Rope) {
  constexpr int kContext = 40;
  for (const bool interleaved : {false, true}) {
    for (const auto& [n_heads, head_dim] : {std::pair{1, 2}, {3, 6}, {5, 64}, {3, 80}, {2, 128}}) {
      for (const auto& [pos, n] : {std::pair{0, 1}, {17, 3}, {31, 9}}) {
        const auto half = static_cast<size_t>(head_dim / 2);
        RopeTable table({.theta = 10000.0f}, head_dim, kContext);
        table.fill(0, kContext, 0);
        auto angles = poisoned<float>(2 * half * kOthers);
        for (size_t i = 0; i < half * kContext; ++i) angles.insert(angles.end(), {table.cos()[i], table.sin()[i]});
        const auto x = random(static_cast<size_t>(n * n_heads * head_dim), static_cast<uint64_t>(head_dim + pos));
        std::vector<float> expected = x, actual = x;
        const size_t at = half * static_cast<size_t>(pos);
        ref::rope({expected.data(), n, n_heads, head_dim, table.cos() + at, table.sin() + at,
                   interleaved ? RopePairs::kInterleaved : RopePairs::kHalves});
        const auto params = batch_params(static_cast<uint32_t>(pos), static_cast<uint32_t>(n), {}, kOthers);
        const gpu::RopeConfig config{static_cast<uint32_t>(n_heads), static_cast<uint32_t>(head_dim), interleaved};
        bench().run(gpu::rope(config),
                    {.x = groups(config.n_heads * config.head_dim / 2), .y = static_cast<uint32_t>(n)},
                    out<F32>(actual), in<Vec2<F32>>(angles), in<U32>(params));
        // Two products and a sum, which the device may fuse: a rounding for each of the three. A pair keeps its length,
        // and |a| + |b| is at most √2 times that.
        for (size_t i = 0; i < x.size(); ++i) {
          const size_t in_head = i % (2 * half), head = i - in_head;
          const size_t other = head + (interleaved ? in_head ^ 1 : (in_head + half) % (2 * half));
          ASSERT_NEAR(actual[i], expected[i], 4 * kUlp * (std::abs(x[i]) + std::abs(x[other])))
              << head_dim << " wide, at " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tern::conform
