// rms_norm, head_norm, quantize, rms_norm_quantize.
#include <algorithm>
#include <cmath>

#include "backend/gpu/kernels/rms_norm.h"
#include "backend/ref/ops.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/gpu/ternary_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using GpuNorms = GpuConform;
TERN_FOR_EVERY_VARIANT(GpuNorms);

// Rows that fill part of a workgroup's vec4s, exactly one round of them, and a little more; then widths of models.
constexpr int kNormWidths[] = {4, 16, 48, 100, 256, 1008, 1024, 1040, 2560};

gpu::RmsNormConfig config_of(int width, const gpu::Caps& caps, uint32_t workgroup = 256, bool in_loops = false) {
  return {
      .width = static_cast<uint32_t>(width), .eps = 1e-3f, .caps = caps, .workgroup = workgroup, .in_loops = in_loops};
}

struct Input {
  Input(int rows, int row_width, uint64_t seed)
      : n(rows), width(row_width), x(static_cast<size_t>(n * width)), gain(static_cast<size_t>(width)) {
    Values values(seed);
    values.fill(x);
    values.fill(gain);
    // A row so small that eps matters, and one where the lower limit of the largest magnitude applies.
    for (int i = 0; i < width; ++i) {
      if (n > 1) x[static_cast<size_t>(width + i)] *= 0.01f;
      if (n > 2) x[static_cast<size_t>(2 * width + i)] *= 1e-8f;
    }
  }
  gpu::Grid grid() const { return {.y = static_cast<uint32_t>(n)}; }
  int n, width;
  std::vector<float> x, gain;
};

// A float sum of positive terms is off by at most a rounding per addition and one per product; its root keeps half of
// that. Division is accurate to 2.5 ulp (5 roundings), √ as 1/inverseSqrt (2 ulp) to 9. Three products follow.
double norm_error(int width) { return (width / 2.0 + 1 + 5 + 9 + 5 + 3) * kUlp; }

TEST_P(GpuNorms, RmsNorm) {
  for (const int width : kNormWidths) {
    const Input input(1 + width % 5, width, static_cast<uint64_t>(width));
    std::vector<float> expected(input.x.size()), y = poisoned<float>(input.x.size());
    ref::rms_norm({input.x.data(), input.gain.data(), 1e-3f, input.n, width, expected.data()});
    bench().run(gpu::rms_norm(config_of(width, caps())), input.grid(), in<F32>(input.x), in<F32>(input.gain),
                out<F32>(y));
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_NEAR(y[i], expected[i], std::abs(expected[i]) * norm_error(width)) << "width " << width << " at " << i;
    }
  }
}

TEST_P(GpuNorms, RmsNormAdd) {
  for (const int width : kNormWidths) {
    for (const float scale : {1.0f, 0.375f}) {
      const Input input(1 + width % 5, width, static_cast<uint64_t>(width));
      const auto before = random(input.x.size(), 9);
      std::vector<float> expected(input.x.size()), y = before;
      ref::rms_norm({input.x.data(), input.gain.data(), 1e-3f, input.n, width, expected.data()});
      bench().run(gpu::rms_norm_add(config_of(width, caps()), scale), input.grid(), in<Vec4<F32>>(input.x),
                  in<Vec4<F32>>(input.gain), out<Vec4<F32>>(y));
      for (size_t i = 0; i < y.size(); ++i) {
        const float sum = before[i] + expected[i];
        ASSERT_NEAR(y[i], sum * scale, std::abs(expected[i]) * norm_error(width) + 2 * kUlp * std::abs(sum))
            << "width " << width << " at " << i;
      }
    }
  }
}

TEST_P(GpuNorms, HeadNorm) {
  for (const auto& [n_heads, head_dim] : {std::pair{1, 4}, {3, 64}, {5, 80}, {4, 100}, {2, 128}}) {
    const Input input(3, n_heads * head_dim, static_cast<uint64_t>(head_dim));
    const std::vector<float> gain(input.gain.begin(), input.gain.begin() + head_dim);
    std::vector<float> expected(input.x.size()), x = input.x;
    ref::rms_norm({x.data(), gain.data(), 1e-3f, 3 * n_heads, head_dim, expected.data()});
    bench().run(gpu::head_norm({static_cast<uint32_t>(n_heads), static_cast<uint32_t>(head_dim), 1e-3f, caps()}),
                {.x = static_cast<uint32_t>(n_heads), .y = 3}, out<F32>(x), in<F32>(gain));
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_NEAR(x[i], expected[i], std::abs(expected[i]) * norm_error(head_dim)) << head_dim << " wide at " << i;
    }
  }
}

// Only 1 / magnitude may differ, by the 2.5 ulp that WGSL allows a division. Everything computed from it is exact.
void expect_quantized(const std::vector<float>& x, const Int8Rows& actual, double scale_error) {
  for (int r = 0; r < actual.n; ++r) {
    const float* row = x.data() + static_cast<size_t>(r * actual.width);
    float largest = 0;
    for (int i = 0; i < actual.width; ++i) largest = std::max(largest, std::abs(row[i]));
    const float scale = actual.scale[static_cast<size_t>(r)];
    ASSERT_NEAR(scale, 127.0f / std::max(largest, 1e-5f), scale * scale_error) << "row " << r;
    int32_t sum = 0;
    for (int i = 0; i < actual.width; ++i) {
      const auto q = actual.q[static_cast<size_t>(r * actual.width + i)];
      ASSERT_EQ(q, static_cast<int8_t>(std::clamp(std::nearbyint(row[i] * scale), -128.0f, 127.0f))) << r << " " << i;
      sum += q;
    }
    ASSERT_EQ(actual.sum[static_cast<size_t>(r)], sum) << "row " << r;
  }
}

Int8Rows run_quantize(GpuBench& bench, const Input& input, uint32_t workgroup = 256, bool in_loops = false) {
  auto y = Int8Rows::blank(input.n, input.width);
  bench.run(gpu::quantize(config_of(input.width, bench.caps(), workgroup, in_loops)), input.grid(),
            in<Vec4<F32>>(input.x), out<I8x4>(y));
  // The padding of the last block and the rest of the row's last 16 bytes must not be written.
  for (size_t r = 1; r <= static_cast<size_t>(input.n); ++r) {
    const size_t end = r * gpu::quantized_row_bytes(static_cast<uint32_t>(input.width)) / 4;
    EXPECT_EQ(y[end - 1], kPoison);
    EXPECT_EQ(y[end - 2], kPoison);
    const size_t filled = end - 4 - (gpu::whole_blocks(static_cast<uint32_t>(input.width)) - input.width) / 4;
    for (size_t i = filled; i < end - 4; ++i) EXPECT_EQ(y[i], kPoison);
  }
  return Int8Rows::unpacked(y, input.n, input.width);
}

TEST_P(GpuNorms, QuantizeIsBitIdentical) {
  for (const int width : kNormWidths) {
    const Input input(1 + width % 5, width, static_cast<uint64_t>(width));
    expect_quantized(input.x, run_quantize(bench(), input), 5 * kUlp);
  }
  // Workgroups smaller than a row.
  for (const uint32_t workgroup : {64u, 128u}) {
    const Input input(3, 1040, workgroup);
    expect_quantized(input.x, run_quantize(bench(), input, workgroup), 5 * kUlp);
  }
  for (const uint32_t workgroup : {std::max(caps().subgroup, 4u), 64u}) {
    const Input input(3, 1040, workgroup);
    expect_quantized(input.x, run_quantize(bench(), input, workgroup, true), 5 * kUlp);
  }
}

// A single NaN or infinity, at any position, leaves its row without a scale, and only that row.
TEST_P(GpuNorms, QuantizeKeepsWhatIsNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const bool in_loops : {false, true}) {
    for (const float bad : {NAN, -NAN, kInfinity, -kInfinity}) {
      for (const size_t place : {0u, 1u, 2u, 3u, 500u, 1039u}) {
        Input input(3, 1040, place);
        input.x[1040 + place] = bad;
        const Int8Rows actual = run_quantize(bench(), input, in_loops ? 64 : 256, in_loops);
        ASSERT_TRUE(std::isnan(actual.scale[1])) << bad << " at " << place;
        ASSERT_TRUE(std::isfinite(actual.scale[0]) && std::isfinite(actual.scale[2])) << bad << " at " << place;
      }
    }
  }
}

TEST_P(GpuNorms, QuantizeRoundsHalvesToEvenAndKeepsTheExtremes) {
  // The largest magnitude is 127, so the scale is 1 and each value is only rounded.
  Input input(1, 48, 1);
  input.x = {127.0f, -127.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 0.49999997f, 126.5f, 0.0f, -0.0f};
  input.x.resize(48, 3.5f);
  const Int8Rows actual = run_quantize(bench(), input);
  EXPECT_EQ(actual.scale[0], 1.0f);
  const std::vector<int8_t> head(actual.q.begin(), actual.q.begin() + 13);
  EXPECT_EQ(head, (std::vector<int8_t>{127, -127, 0, 2, 2, 0, -2, -2, 0, 126, 0, 0, 4}));
}

void test_rms_norm_quantize(GpuBench& bench, bool in_loops) {
  for (const int width : kNormWidths) {
    const Input input(1 + width % 5, width, static_cast<uint64_t>(width) + 7);
    std::vector<float> normed(input.x.size());
    ref::rms_norm({input.x.data(), input.gain.data(), 1e-3f, input.n, width, normed.data()});
    auto y = Int8Rows::blank(input.n, width);
    const uint32_t workgroup = in_loops ? std::max(bench.caps().subgroup, 4u) : 256;
    bench.run(gpu::rms_norm_quantize(config_of(width, bench.caps(), workgroup, in_loops)), input.grid(),
              in<Vec4<F32>>(input.x), in<Vec4<F32>>(input.gain), out<I8x4>(y));
    const Int8Rows actual = Int8Rows::unpacked(y, input.n, width);
    for (int r = 0; r < input.n; ++r) {
      const float scale = actual.scale[static_cast<size_t>(r)];
      const auto row = std::span(normed).subspan(static_cast<size_t>(r * width), static_cast<size_t>(width));
      float largest = 1e-5f;
      for (const float value : row) largest = std::max(largest, std::abs(value));
      ASSERT_NEAR(scale, 127.0f / largest, scale * (norm_error(width) + 5 * kUlp));
      int32_t sum = 0;
      for (int i = 0; i < width; ++i) {
        // Half a step of rounding plus the norm's error, which may move a value past the middle between two integers.
        const double exact = static_cast<double>(row[static_cast<size_t>(i)]) * scale;
        const auto q = actual.q[static_cast<size_t>(r * width + i)];
        ASSERT_NEAR(q, exact, 0.5 + std::abs(exact) * (norm_error(width) + kUlp)) << "row " << r << " at " << i;
        sum += q;
      }
      ASSERT_EQ(actual.sum[static_cast<size_t>(r)], sum) << "row " << r;
    }
  }
}

TEST_P(GpuNorms, RmsNormQuantize) { test_rms_norm_quantize(bench(), false); }
TEST_P(GpuNorms, RmsNormQuantizeInLoops) { test_rms_norm_quantize(bench(), true); }

// The fused kernel may add squares in another order than the two kernels, which changes the integers by at most one
// step. With gain 1 and exact sums they must be equal.
TEST_P(GpuNorms, RmsNormQuantizeIsTheTwoKernelsInOne) {
  Input input(3, 1040, 3);
  Values values(4);
  for (float& x : input.x) x = static_cast<float>(values.integer(-20, 20));  // Σ x² is an exact integer
  std::ranges::fill(input.gain, 1.0f);
  auto normed = poisoned<float>(input.x.size());
  bench().run(gpu::rms_norm(config_of(1040, caps())), input.grid(), in<F32>(input.x), in<F32>(input.gain),
              out<F32>(normed));
  auto separate = Int8Rows::blank(3, 1040), fused = separate;
  bench().run(gpu::quantize(config_of(1040, caps())), input.grid(), in<Vec4<F32>>(normed), out<I8x4>(separate));
  bench().run(gpu::rms_norm_quantize(config_of(1040, caps())), input.grid(), in<Vec4<F32>>(input.x),
              in<Vec4<F32>>(input.gain), out<I8x4>(fused));
  EXPECT_EQ(fused, separate);
}

}  // namespace
}  // namespace tern::conform
