// Kernels that move rows or touch each value once: embed, select_rows, rope, relu2_mul, add.
#include "backend/gpu/kernels/elementwise.h"
#include "backend/gpu/kernels/embed.h"
#include "backend/ref/ops.h"
#include "backend/rope_table.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/gpu/ternary_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using GpuRows = GpuConform;
TERN_FOR_EVERY_VARIANT(GpuRows);

// Widths around the 128 columns of a workgroup, and far from them.
constexpr uint32_t kWidths[] = {1, 2, 127, 128, 129, 300, 640};

uint32_t groups(uint32_t width) { return (width + gpu::kElementwiseWorkgroup - 1) / gpu::kElementwiseWorkgroup; }

std::vector<float> random(size_t count, uint64_t seed) {
  std::vector<float> values(count);
  Values(seed).fill(values);
  return values;
}

template <class Word>
void test_embed(GpuBench& bench, Format format, int width, const std::vector<int>& part_ends) {
  const WeightMatrix table(format, part_ends.back(), width, static_cast<uint64_t>(width));
  std::vector<TokenId> tokens = {part_ends.back() - 1, 0, 7, 7};
  for (const int end : part_ends) tokens.insert(tokens.end(), {end - 1, end / 2});
  for (size_t i = 0; i + 1 < part_ends.size(); ++i) tokens.push_back(part_ends[i]);  // the first of the next part
  std::vector<float> expected(tokens.size() * static_cast<size_t>(width)), actual = poisoned<float>(expected.size());
  ref::embed({&table.tensor, tokens, expected.data()});
  int first = 0;
  for (const int end : part_ends) {
    const std::vector<uint32_t> range = {static_cast<uint32_t>(first), static_cast<uint32_t>(end - first), 0, 0};
    bench.run(gpu::embed<Word>({static_cast<uint32_t>(width)}), {.y = static_cast<uint32_t>(tokens.size())},
              in<U32>(tokens), in<Word>(table.device_rows(first, end - first)), in<gpu::RowRange>(range),
              out<Vec2<F32>>(actual));
    first = end;
  }
  EXPECT_EQ(actual, expected) << format_info(format).name << ", width " << width;  // copies: no tolerance
}

TEST_P(GpuRows, Embed) {
  for (const int width : {2, 128, 510, 512, 514, 640}) {
    test_embed<F16x2>(bench(), Format::kF16, width, {20});
    test_embed<Vec2<F32>>(bench(), Format::kF32, width, {9, 10, 23});
  }
  test_embed<F16x2>(bench(), Format::kF16, 256, {1, 8, 30});
}

TEST_P(GpuRows, SelectRows) {
  for (const uint32_t width : kWidths) {
    for (const uint32_t first : {0u, 1u, 5u}) {
      const uint32_t n = 1 + first;
      const auto x = random((first + n) * width, width);
      const std::vector<uint32_t> params = {77, first + n, first, 99};
      auto y = poisoned<float>(n * width);
      bench().run(gpu::select_rows({width}), {.x = groups(width), .y = n}, in<F32>(x), in<U32>(params), out<F32>(y));
      EXPECT_EQ(y, std::vector<float>(x.begin() + first * width, x.end())) << width;
    }
  }
}

// WGSL lets a device keep more than f32 between the two products, or fuse them: a rounding of each of them.
TEST_P(GpuRows, Relu2Mul) {
  for (const uint32_t width : kWidths) {
    const uint32_t n = 1 + width % 4;
    const auto gate = random(n * width, width), up = random(n * width, width + 1);
    std::vector<float> expected(gate.size()), y = poisoned<float>(gate.size());
    ref::relu2_mul({gate.data(), up.data(), gate.size(), expected.data()});
    bench().run(gpu::relu2_mul({width}), {.x = groups(width), .y = n}, in<F32>(gate), in<F32>(up), out<F32>(y));
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 3 * kUlp * std::abs(expected[i])) << i;
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

TEST_P(GpuRows, Rope) {
  constexpr int kContext = 40;
  for (const bool interleaved : {false, true}) {
    for (const auto& [n_heads, head_dim] : {std::pair{1, 2}, {3, 6}, {5, 64}, {3, 80}, {2, 128}}) {
      for (const auto& [pos, n] : {std::pair{0, 1}, {17, 3}, {31, 9}}) {
        const auto half = static_cast<size_t>(head_dim / 2);
        RopeTable table(10000.0f, head_dim, kContext);
        table.fill(0, kContext);
        std::vector<float> angles(2 * half * kContext);
        for (size_t i = 0; i < half * kContext; ++i) {
          angles[2 * i] = table.cos()[i];
          angles[2 * i + 1] = table.sin()[i];
        }
        const auto x = random(static_cast<size_t>(n * n_heads * head_dim), static_cast<uint64_t>(head_dim + pos));
        std::vector<float> expected = x, actual = x;
        const size_t at = half * static_cast<size_t>(pos);
        ref::rope({expected.data(), n, n_heads, head_dim, table.cos() + at, table.sin() + at,
                   interleaved ? RopePairs::kInterleaved : RopePairs::kHalves});
        const std::vector<uint32_t> params = {static_cast<uint32_t>(pos), static_cast<uint32_t>(n), 0, 0};
        const gpu::RopeConfig config{static_cast<uint32_t>(n_heads), static_cast<uint32_t>(head_dim), interleaved};
        bench().run(gpu::rope(config),
                    {.x = groups(config.n_heads * config.head_dim / 2), .y = static_cast<uint32_t>(n)},
                    out<F32>(actual), in<Vec2<F32>>(angles), in<U32>(params));
        // Two products and a sum, which the device may fuse: a rounding of each of the products, and one of the sum.
        // A pair keeps its length, and |a| + |b| ≤ √2 of it.
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
