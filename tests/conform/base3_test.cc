// Ternary matrices in base 3 decode to the same integers as I2_S, and so give the same bits, on every target.
#include "backend/cpu/linear/base3.h"

#include "backend/cpu/ops/ops.h"
#include "backend/ref/ops.h"
#include "base/half.h"
#include "conform/conform.h"
#include "conform/int8_input.h"
#include "conform/matrix.h"

namespace tern::conform {
namespace {

// The codes in a row's words, by their definition: floor(word · 3^10 / 65536) in base 3, most significant digit first.
std::vector<uint8_t> codes_of(Bytes row, size_t cols) {
  const size_t words = cpu::base3_words(cols);
  std::vector<uint8_t> codes(words * 10);
  for (size_t j = 0; j < words; ++j) {
    uint64_t number = load<uint16_t>(row.data() + 2 * j) * uint64_t{59049} / 65536;
    for (size_t t = 10; t-- > 0; number /= 3) codes[t * words + j] = static_cast<uint8_t>(number % 3);
  }
  codes.resize(cols);
  return codes;
}

TEST(Base3, WordsHoldTheirDigits) {
  Values values(1);
  for (const size_t cols : {1, 10, 256, 2560, 6912}) {
    std::vector<uint8_t> codes(cols);
    for (uint8_t& code : codes) code = static_cast<uint8_t>(values.integer(0, 2));
    std::vector<std::byte> row(cpu::base3_row_bytes(cols));
    cpu::base3_encode_row(codes, row);
    EXPECT_EQ(codes_of(row, cols), codes);
    EXPECT_EQ(row.size() % 64, 0u);
  }
  EXPECT_EQ(cpu::base3_row_bytes(2560), 512u);  // 1.6 bits per weight
}

// The same weights in TQ1_0, in I2_S (input of the scalar reference) and rearranged to base 3 (input of the kernels).
struct Pair {
  Pair(int rows, int cols, uint64_t seed)
      : file(Format::kTQ1_0, rows, cols, seed), two_bit(Format::kI2_S, rows, cols, seed) {
    base3 = cpu::to_base3(file.tensor).value();
  }
  Matrix file, two_bit;
  cpu::Base3Matrix base3;
};

TEST(Base3, GivesTheBitsOfI2_S) {
  on_every_target([] {
    uint64_t seed = 1;
    for (const int cols : {256, 512, 768, 2560, 6912}) {
      for (const int rows : {1, 2, 17, 33, 65}) {
        const Pair w(rows, cols, ++seed);
        for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 16, 31, 33, 70}) {
          if (cols * rows * n > 3'000'000) continue;
          const Int8Input in(n, cols, ++seed);
          Guarded<float> expected(static_cast<size_t>(n * rows)), actual(expected.size(), seed % 4);
          for (const auto store : {ops::Store::kSet, ops::Store::kAdd}) {
            ref::ternary_linear({in.view(), n, &w.two_bit.tensor, store, expected.data()});
            run_on(1 + static_cast<int>(seed % 3), cpu::ternary_linear,
                   {in.view(), n, &w.base3.tensor, store, actual.data()}, cpu::ternary_scratch(cols));
            ASSERT_EQ(actual.values(), expected.values()) << rows << "×" << cols << ", " << n << " tokens";
          }
          ASSERT_TRUE(actual.intact());
        }
      }
    }
  });
}

TEST(Base3, KeepsEveryPosition) {
  on_every_target([] {
    constexpr int kCols = 512;
    for (int position = 0; position < kCols; ++position) {
      std::vector<float> row(kCols, 0.0f);
      row[static_cast<size_t>(position)] = -0.5f;
      std::vector<std::byte> bytes(tensor_bytes(Format::kTQ1_0, 1, kCols));
      format_info(Format::kTQ1_0).encode(row, bytes);
      const Tensor file{.name = "w", .format = Format::kTQ1_0, .rows = 1, .cols = kCols, .data = bytes};
      const auto w = cpu::to_base3(file).value();
      std::vector<int8_t> q(5 * kCols);
      std::vector<int32_t> sum(5, 0);
      for (size_t i = 0; i < q.size(); ++i) {
        sum[i / kCols] += q[i] = static_cast<int8_t>(i % 2 == 0 ? i / 4 % 128 : -static_cast<int>(i / 4 % 128));
      }
      const std::vector<float> scale(5, 1.0f);
      for (const int n : {1, 5}) {
        std::vector<float> y(static_cast<size_t>(n));
        run_on(1, cpu::ternary_linear, {{q.data(), scale.data(), sum.data()}, n, &w.tensor, ops::Store::kSet, y.data()},
               cpu::ternary_scratch(kCols));
        for (int t = 0; t < n; ++t) {
          ASSERT_EQ(y[static_cast<size_t>(t)], -0.5f * static_cast<float>(q[static_cast<size_t>(t * kCols + position)]))
              << "position " << position << ", token " << t << " of " << n;
        }
      }
    }
  });
}

TEST(Base3, GluIsBitIdentical) {
  on_every_target([] {
    uint64_t seed = 100;
    for (const int rows : {1, 16, 33}) {
      for (const int n : {1, 3, 8, 10}) {
        const Pair gate(rows, 512, ++seed), up(rows, 512, ++seed);
        const Int8Input in(n, 512, ++seed);
        Guarded<float> expected(static_cast<size_t>(n * rows)), actual(expected.size());
        ref::ternary_glu({in.view(), n, &gate.two_bit.tensor, &up.two_bit.tensor, GluAct::kRelu2, expected.data()});
        run_on(2, cpu::ternary_glu, {in.view(), n, &gate.base3.tensor, &up.base3.tensor, GluAct::kRelu2, actual.data()},
               cpu::ternary_scratch(512));
        ASSERT_EQ(actual.values(), expected.values());
        ASSERT_TRUE(actual.intact());
      }
    }
  });
}

// A block with scale 0 or the opposite sign gives the values of the decoder. Any other scale is kNotSupported.
TEST(Base3, ScalesOfBlocks) {
  constexpr int kCols = 768;
  Matrix file(Format::kTQ1_0, 1, kCols, 7);
  const auto put_scale = [&](int block, float d) {
    store(reinterpret_cast<std::byte*>(file.bytes.data()) + block * 54 + 52, f32_to_f16(d));
  };
  put_scale(0, 0.5f);
  put_scale(1, 0.0f);
  put_scale(2, -0.5f);
  std::vector<float> decoded(kCols);
  format_info(Format::kTQ1_0).decode(file.tensor.data, decoded);
  const auto w = cpu::to_base3(file.tensor).value();
  EXPECT_EQ(w.tensor.scale, 0.5f * file.tensor.scale);
  const auto codes = codes_of(w.tensor.data.resident(), kCols);
  for (int i = 0; i < kCols; ++i) {
    const auto at = static_cast<size_t>(i);
    ASSERT_EQ(0.5f * static_cast<float>(codes[at] - 1), decoded[at]) << i;
  }
  for (const float other : {0.25f, std::numeric_limits<float>::quiet_NaN()}) {
    put_scale(2, other);
    const auto refused = cpu::to_base3(file.tensor);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kNotSupported);
    EXPECT_NE(refused.error().message.find("tensor w"), std::string::npos);
  }
}

// Each matrix is rearranged once, however many steps use it. A gate and an up matrix of different formats are left
// alone.
TEST(Base3, RearrangesAPlan) {
  const Matrix a(Format::kTQ1_0, 3, 256, 1), b(Format::kI2_S, 3, 256, 2), c(Format::kTQ1_0, 3, 256, 3);
  Plan plan;
  plan.steps = {{"a", step::TernaryLinear{{0}, &a.tensor, {1}}},
                {"a", step::TernaryLinearAdd{{0}, &a.tensor, {1}}},
                {"b", step::TernaryLinear{{0}, &b.tensor, {1}}},
                {"c", step::TernaryGlu{{0}, &c.tensor, &b.tensor, GluAct::kRelu2, {1}}}};
  ThreadPool pool(2);
  const auto weights = cpu::rearrange_base3(plan, pool).value();
  ASSERT_EQ(weights.tensors.size(), 1u);
  const Tensor* moved = std::get<step::TernaryLinear>(plan.steps[0].body).w;
  EXPECT_EQ(moved, &weights.tensors[0]);
  EXPECT_EQ(std::get<step::TernaryLinearAdd>(plan.steps[1].body).w, moved);
  EXPECT_EQ(std::get<step::TernaryLinear>(plan.steps[2].body).w, &b.tensor);
  EXPECT_EQ(std::get<step::TernaryGlu>(plan.steps[3].body).w_gate, &c.tensor);
  const auto alone = cpu::to_base3(a.tensor).value();
  EXPECT_TRUE(std::ranges::equal(moved->data.resident(), alone.tensor.data.resident()));
}

}  // namespace
}  // namespace tern::conform
