// ternary_linear, ternary_glu, float_linear, embed.
#include "backend/cpu/ops/ops.h"
#include "backend/ref/ops.h"
#include "conform/conform.h"
#include "conform/int8_input.h"
#include "conform/matrix.h"

namespace tern::conform {
namespace {

const size_t kScratch = cpu::ternary_scratch(8640);  // floats: enough for the widest input here

// The integer part is exact, and the float part consists of the same three operations: no tolerance.
TEST(Conform, TernaryLinearIsBitIdentical) {
  uint64_t seed = 1;
  for (const int cols : {128, 256, 384, 640, 2560, 6912, 4, 32, 36, 100, 160, 192, 224, 8640}) {
    for (const int rows : {1, 2, 3, 4, 5, 7, 16, 17, 37}) {
      for (const int n : {1, 2, 3, 4, 5, 6, 8, 9, 15, 16, 33, 70}) {
        if (cols * rows * n > 3'000'000) continue;
        const Matrix w(Format::kI2_S, rows, cols, ++seed);
        const Int8Input in(n, cols, ++seed);
        const auto count = static_cast<size_t>(n * rows);
        const int n_threads = 1 + static_cast<int>(seed % 3);
        Guarded<float> set(count), added(count);
        ref::ternary_linear({in.view(), n, &w.tensor, ops::Store::kSet, set.data()});
        std::ranges::copy(set.values(), added.data());
        ref::ternary_linear({in.view(), n, &w.tensor, ops::Store::kAdd, added.data()});
        on_every_target([&] {
          Guarded<float> actual(count, seed % 4);
          for (const auto store : {ops::Store::kSet, ops::Store::kAdd}) {
            run_on(n_threads, cpu::ternary_linear, {in.view(), n, &w.tensor, store, actual.data()}, kScratch);
            ASSERT_EQ(actual.values(), (store == ops::Store::kSet ? set : added).values())
                << rows << "×" << cols << ", " << n << " tokens";
          }
          ASSERT_TRUE(actual.intact());
        });
        if (HasFatalFailure()) return;
      }
    }
  }
}

// One nonzero weight and activation: finds a wrong permutation that random data might hide.
TEST(Conform, TernaryLinearKeepsEveryPosition) {
  on_every_target([] {
    constexpr int kCols = 356;  // the last plane is partial
    for (int position = 0; position < kCols; ++position) {
      std::vector<std::byte> bytes(tensor_bytes(Format::kI2_S, 1, kCols));
      std::vector<float> row(kCols, 0.0f);
      row[static_cast<size_t>(position)] = -1.0f;
      format_info(Format::kI2_S).encode(row, MutableBytes(bytes).first(row_bytes(Format::kI2_S, kCols)));
      const Tensor w{.name = "w", .format = Format::kI2_S, .rows = 1, .cols = kCols, .data = bytes, .scale = 1.0f};
      std::vector<int8_t> q(kCols);
      int32_t sum = 0;
      for (int i = 0; i < kCols; ++i)
        sum += q[static_cast<size_t>(i)] = static_cast<int8_t>(i % 2 == 0 ? i / 2 % 128 : -(i / 2 % 128));
      const float scale = 1.0f;
      float y = 0;
      run_on(1, cpu::ternary_linear, {{q.data(), &scale, &sum}, 1, &w, ops::Store::kSet, &y}, kScratch);
      ASSERT_EQ(y, -static_cast<float>(q[static_cast<size_t>(position)])) << "position " << position;
    }
  });
}

TEST(Conform, TernaryGluIsBitIdentical) {
  on_every_target([] {
    uint64_t seed = 100;
    for (const int rows : {1, 6, 16, 33}) {
      for (const int n : {1, 3, 8, 10}) {
        const int cols = rows % 2 == 0 ? 384 : 416;
        const Matrix gate(Format::kI2_S, rows, cols, ++seed), up(Format::kI2_S, rows, cols, ++seed);
        const Int8Input in(n, cols, ++seed);
        const GluAct act = GluAct::kRelu2;
        Guarded<float> expected(static_cast<size_t>(n * rows)), actual(static_cast<size_t>(n * rows));
        ref::ternary_glu({in.view(), n, &gate.tensor, &up.tensor, act, expected.data()});
        run_on(2, cpu::ternary_glu, {in.view(), n, &gate.tensor, &up.tensor, act, actual.data()}, kScratch);
        ASSERT_EQ(actual.values(), expected.values());
        ASSERT_TRUE(actual.intact());
      }
    }
  });
}

// A row of activations without a finite scale gives NaN, whatever the other values are.
TEST(Conform, TernaryLayersOfNoNumbersGiveNone) {
  on_every_target([] {
    constexpr int kRows = 37, kCols = 160;
    const Matrix w(Format::kI2_S, kRows, kCols, 1), up(Format::kI2_S, kRows, kCols, 2);
    for (const int n : {1, 3, 9}) {
      Int8Input in(n, kCols, 3);
      in.scale[static_cast<size_t>(n - 1)] = NAN;
      std::fill_n(in.q.data() + (n - 1) * kCols, kCols, int8_t{0});
      in.sum[static_cast<size_t>(n - 1)] = 0;
      std::vector<float> y(static_cast<size_t>(n * kRows));
      const auto expect_none = [&](const char* what) {
        for (size_t i = 0; i < y.size(); ++i) {
          ASSERT_EQ(std::isnan(y[i]), i >= y.size() - kRows) << what << " " << n << " at " << i;
        }
      };
      run_on(2, cpu::ternary_linear, {in.view(), n, &w.tensor, ops::Store::kSet, y.data()}, kScratch);
      expect_none("linear");
      for (const GluAct act : {GluAct::kRelu2, GluAct::kSilu}) {
        run_on(2, cpu::ternary_glu, {in.view(), n, &w.tensor, &up.tensor, act, y.data()}, kScratch);
        expect_none("glu");
      }
    }
  });
}

// Only SiLU's exponential is inexact: hn::Exp is off by at most 2 roundings, and x / (1 + e) · up has 3 more. Gate and
// up have the same bits as the reference's.
TEST(Conform, TernaryGluWithSilu) {
  on_every_target([] {
    uint64_t seed = 200;
    for (const int rows : {1, 6, 16, 33}) {
      for (const int n : {1, 3, 10}) {
        const Matrix gate(Format::kI2_S, rows, 384, ++seed), up(Format::kI2_S, rows, 384, ++seed);
        const Int8Input in(n, 384, ++seed);
        Guarded<float> expected(static_cast<size_t>(n * rows)), actual(static_cast<size_t>(n * rows));
        ref::ternary_glu({in.view(), n, &gate.tensor, &up.tensor, GluAct::kSilu, expected.data()});
        run_on(2, cpu::ternary_glu, {in.view(), n, &gate.tensor, &up.tensor, GluAct::kSilu, actual.data()}, kScratch);
        for (size_t i = 0; i < expected.size(); ++i) {
          ASSERT_NEAR(actual[i], expected[i], 8 * kUlp * std::abs(expected[i]) + 1e-37) << "at " << i;
        }
        ASSERT_TRUE(actual.intact());
      }
    }
  });
}

TEST(Conform, FloatLinear) {
  on_every_target([] {
    uint64_t seed = 1000;
    for (const Format format :
         {Format::kF32, Format::kF16, Format::kBF16, Format::kQ8_0, Format::kQ4_0, Format::kQ6_K}) {
      for (const int blocks : {1, 2, 5}) {
        const int cols = blocks * std::max(format_info(format).block, 37);
        for (const int rows : {1, 3, 4, 5, 9}) {
          for (const int n : {1, 3, 4, 6}) {
            const Matrix w(format, rows, cols / format_info(format).block * format_info(format).block, ++seed);
            const auto width = static_cast<size_t>(w.tensor.cols);
            Guarded<float> in(static_cast<size_t>(n) * width, 1), expected(static_cast<size_t>(n * rows)),
                actual(static_cast<size_t>(n * rows), 3), magnitude(static_cast<size_t>(n * rows));
            Values(++seed).fill(in);
            ref::float_linear({{.x = in.data()}, n, &w.tensor, ops::Store::kSet, expected.data()});
            run_on(2, cpu::float_linear, {{.x = in.data()}, n, &w.tensor, ops::Store::kSet, actual.data()}, width);
            // Off by at most one rounding per term of Σ |w·x|, which is bounded by |w| ≤ 30 and the inputs.
            for (int r = 0; r < n; ++r) {
              double terms = 0;
              for (size_t i = 0; i < width; ++i) terms += 31.0 * std::abs(in[static_cast<size_t>(r) * width + i]);
              for (int row = 0; row < rows; ++row) {
                const auto at = static_cast<size_t>(r * rows + row);
                ASSERT_NEAR(actual[at], expected[at], terms * kUlp)
                    << format_info(format).name << " " << rows << "×" << width;
              }
            }
            ASSERT_TRUE(actual.intact());
          }
        }
      }
    }
  });
}

// A token's logits must not depend on its neighbors in the batch; otherwise cached and full runs would differ.
TEST(Conform, FloatLinearDoesNotDependOnTheBatch) {
  on_every_target([] {
    const Matrix w(Format::kF16, 9, 200, 5);
    std::vector<float> in(7 * 200), batch(7 * 9), alone(9);
    Values(6).fill(in);
    run_on(1, cpu::float_linear, {{.x = in.data()}, 7, &w.tensor, ops::Store::kSet, batch.data()}, 200);
    for (int r = 0; r < 7; ++r) {
      run_on(2, cpu::float_linear, {{.x = in.data() + r * 200}, 1, &w.tensor, ops::Store::kSet, alone.data()}, 200);
      ASSERT_EQ(alone, std::vector<float>(batch.begin() + r * 9, batch.begin() + (r + 1) * 9)) << "token " << r;
    }
  });
}

// However the work is divided, the result is that of the two layers and the activation run separately.
TEST(Conform, FloatGluIsItsPartsOneAfterAnother) {
  on_every_target([] {
    uint64_t seed = 3000;
    for (const GluAct act : {GluAct::kSilu, GluAct::kRelu2}) {
      for (const auto& [gate_format, up_format] : {std::pair{Format::kF32, Format::kF32},
                                                   {Format::kF16, Format::kF16},
                                                   {Format::kF16, Format::kQ8_0},
                                                   {Format::kQ4_0, Format::kF32}}) {
        for (const int rows : {1, 4, 7, 37}) {
          for (const int n : {1, 2, 5, 9}) {
            constexpr int kCols = 64;
            const Matrix gate(gate_format, rows, kCols, ++seed), up(up_format, rows, kCols, ++seed);
            Guarded<float> in(static_cast<size_t>(n * kCols)), g(static_cast<size_t>(n * rows)), u(g.size()),
                expected(g.size()), actual(g.size(), 1);
            Values(++seed).fill(in);
            run_on(1, cpu::float_linear, {{.x = in.data()}, n, &gate.tensor, ops::Store::kSet, g.data()}, kScratch);
            run_on(1, cpu::float_linear, {{.x = in.data()}, n, &up.tensor, ops::Store::kSet, u.data()}, kScratch);
            run_on(1, cpu::glu_mul, {g.data(), u.data(), act, g.size(), expected.data()});
            run_on(3, cpu::float_glu, {{.x = in.data()}, n, &gate.tensor, &up.tensor, act, actual.data()}, kScratch);
            ASSERT_EQ(actual.values(), expected.values()) << rows << " rows, " << n << " tokens";
            ASSERT_TRUE(actual.intact());
          }
        }
      }
    }
  });
}

TEST(Conform, Embed) {
  for (const Format format : {Format::kF32, Format::kF16, Format::kQ8_0, Format::kQ6_K}) {
    const Matrix table(format, 20, 256, 3);
    const std::vector<TokenId> tokens = {19, 0, 7, 7, 3};
    Guarded<float> expected(5 * 256), actual(5 * 256, 1);
    ref::embed({&table.tensor, tokens, expected.data()});
    run_on(2, cpu::embed, {&table.tensor, tokens, actual.data()});
    EXPECT_EQ(actual.values(), expected.values());
    EXPECT_TRUE(actual.intact());
  }
}

}  // namespace
}  // namespace tern::conform
