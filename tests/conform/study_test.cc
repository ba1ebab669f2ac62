// The kernels of the study compared with plain loops, on every instruction set.
#include "backend/cpu/study/study.h"

#include <limits>
#include <optional>

#include "backend/cpu/study/expected.h"
#include "conform/conform.h"

namespace tern::conform {
namespace {

using cpu::study::Activations;
using cpu::study::Codes;
using cpu::study::Expected;
using cpu::study::judge;
using cpu::study::Kernel;
using cpu::study::kernels;
using cpu::study::Multiplier;
using cpu::study::Packed;

constexpr float kScale = 0.7f;

std::vector<int8_t> random_codes(int rows, int cols, uint64_t seed) {
  Values values(seed);
  std::vector<int8_t> codes(static_cast<size_t>(rows) * static_cast<size_t>(cols));
  for (int8_t& code : codes) code = static_cast<int8_t>(values.integer(-1, 1));
  return codes;
}

std::vector<float> random_floats(int n, uint64_t seed) {
  std::vector<float> floats(static_cast<size_t>(n));
  Values(seed).fill(floats);
  return floats;
}

// `codes` packed for `kernel`, with guard bytes around them and only the alignment that the kernel requires.
struct PackedMatrix {
  PackedMatrix(const Kernel& kernel, const Codes& codes)
      : bytes(kernel.packing.bytes(codes.rows, codes.cols), 3 * kernel.packing.alignment) {
    const MutableBytes out(reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
    kernel.packing.pack(codes, out);
    w = {.rows = codes.rows, .cols = codes.cols, .scale = kScale, .data = out};
  }
  Guarded<unsigned char> bytes;
  Packed w;
};

// y of one product on n_threads threads; nullopt if a guard byte was overwritten.
std::optional<std::vector<float>> product(const Kernel& kernel, const PackedMatrix& matrix, std::span<const float> x,
                                          int n_threads = 1) {
  ThreadPool pool(n_threads);
  auto multiplier = Multiplier::create(pool, matrix.w.cols).value();
  Guarded<float> y(static_cast<size_t>(matrix.w.rows), 1);
  multiplier.multiply_with(kernel, matrix.w, x, {y.data(), y.size()});
  if (!y.intact() || !matrix.bytes.intact()) return std::nullopt;
  return y.values();
}

Expected expected_of(const Codes& codes, std::span<const float> x) {
  ThreadPool pool(1);
  return expect(codes, kScale, x, pool);
}

TEST(Study, EveryKernelKeepsItsBoundOnEveryShape) {
  on_every_target([] {
    uint64_t seed = 1;
    for (const int cols : {1, 5, 31, 128, 129, 256, 640, 1000, 4096}) {
      for (const int rows : {1, 3, 16, 65}) {
        const auto values = random_codes(rows, cols, ++seed);
        const Codes codes{values, rows, cols};
        const auto x = random_floats(cols, ++seed);
        const Expected expected = expected_of(codes, x);
        for (const Kernel& kernel : kernels()) {
          SCOPED_TRACE(testing::Message() << kernel.name << " " << rows << "x" << cols);
          const auto y = product(kernel, PackedMatrix(kernel, codes), x, 1 + static_cast<int>(seed % 3));
          ASSERT_TRUE(y.has_value()) << "wrote outside";
          const auto verdict = judge(kernel, expected, cols, *y);
          ASSERT_FALSE(verdict.bad_row) << "row " << *verdict.bad_row << " is " << (*y)[*verdict.bad_row]
                                        << " instead of " << expected.exact[*verdict.bad_row];
        }
      }
    }
  });
}

// One nonzero weight at every position, and activations that all differ: finds a wrong permutation that random data
// might hide.
TEST(Study, EveryPosition) {
  constexpr int kCols = 385;
  std::vector<int8_t> values(size_t{kCols} * kCols, 0);
  for (size_t i = 0; i < kCols; ++i) values[i * kCols + i] = i % 3 == 0 ? -1 : 1;
  const Codes codes{values, kCols, kCols};
  std::vector<float> x;
  for (int i = 0; i < kCols; ++i) x.push_back(static_cast<float>(i % 2 == 0 ? i + 1 : -i - 1));
  const Expected expected = expected_of(codes, x);
  on_every_target([&] {
    for (const Kernel& kernel : kernels()) {
      SCOPED_TRACE(kernel.name);
      const auto y = product(kernel, PackedMatrix(kernel, codes), x);
      ASSERT_TRUE(y.has_value());
      for (size_t i = 0; i < kCols; ++i) {
        const double error = std::abs(static_cast<double>((*y)[i]) - expected.exact[i]);
        // A step of the quantized activations is kCols / 127, about 3. Float kernels cancel sums of all activations.
        ASSERT_LT(error, kernel.activations == Activations::kInt8 ? 1.6 : 0.1) << "position " << i;
      }
      ASSERT_FALSE(judge(kernel, expected, kCols, *y).bad_row);
    }
  });
}

// Rows of only −1 or +1 against the largest activations: their sums need more than 8 or 16 bits.
TEST(Study, Extremes) {
  constexpr int kCols = 4096;
  on_every_target([] {
    for (const float sign : {1.0f, -1.0f}) {
      std::vector<int8_t> values(size_t{3} * kCols, 1);
      std::fill(values.begin() + kCols, values.begin() + 2 * kCols, int8_t{-1});
      std::fill(values.begin() + 2 * kCols, values.end(), int8_t{0});
      const Codes codes{values, 3, kCols};
      const std::vector<float> x(kCols, 5.0f * sign);
      const Expected expected = expected_of(codes, x);
      ASSERT_NEAR(expected.int8[0], sign * 5 * kCols * kScale, 0.01);
      for (const Kernel& kernel : kernels()) {
        const auto y = product(kernel, PackedMatrix(kernel, codes), x);
        ASSERT_TRUE(y.has_value());
        ASSERT_FALSE(judge(kernel, expected, kCols, *y).bad_row) << kernel.name << " gives " << (*y)[0];
      }
    }
  });
}

// The rule of study.h for activations that are not finite. The next product is right again.
TEST(Study, ActivationsThatAreNotFinite) {
  constexpr int kRows = 33, kCols = 256;
  const auto values = random_codes(kRows, kCols, 7);
  const Codes codes{values, kRows, kCols};
  on_every_target([&] {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
      for (const Kernel& kernel : kernels()) {
        SCOPED_TRACE(kernel.name);
        const PackedMatrix matrix(kernel, codes);
        auto x = random_floats(kCols, 8);
        for (const size_t at : {size_t{0}, size_t{77}, size_t{kCols - 1}}) {
          const float good = std::exchange(x[at], bad);
          const auto y = product(kernel, matrix, x, 2);
          ASSERT_TRUE(y.has_value());
          for (const float value : *y) ASSERT_TRUE(std::isnan(value)) << value;
          x[at] = good;
        }
        const auto y = product(kernel, matrix, x);
        ASSERT_TRUE(y.has_value());
        ASSERT_FALSE(judge(kernel, expected_of(codes, x), kCols, *y).bad_row);
      }
    }
  });
}

TEST(Study, NothingButZeros) {
  const std::vector<int8_t> values(size_t{2} * 128, 1);
  const Codes codes{values, 2, 128};
  on_every_target([&] {
    for (const Kernel& kernel : kernels()) {
      const auto y = product(kernel, PackedMatrix(kernel, codes), std::vector<float>(128, 0.0f));
      ASSERT_EQ(y, std::vector<float>(2, 0.0f)) << kernel.name;
    }
  });
}

// The result has the same bits with any number of threads, also with more threads than rows.
TEST(Study, ThreadsDoNotChangeAResult) {
  constexpr int kRows = 130, kCols = 300;
  const auto values = random_codes(kRows, kCols, 9);
  const Codes codes{values, kRows, kCols};
  const auto x = random_floats(kCols, 10);
  for (const Kernel& kernel : kernels()) {
    const PackedMatrix matrix(kernel, codes);
    const auto alone = product(kernel, matrix, x);
    for (const int n_threads : {2, 7, 150}) ASSERT_EQ(product(kernel, matrix, x, n_threads), alone) << kernel.name;
  }
}

// The checks can fail: they find one wrong weight, or one wrong bit.
TEST(Study, AWrongWeightIsSeen) {
  constexpr int kRows = 4, kCols = 640;
  auto values = random_codes(kRows, kCols, 11);
  const auto x = random_floats(kCols, 12);
  const Expected expected = expected_of({values, kRows, kCols}, x);
  const size_t column =
      static_cast<size_t>(std::ranges::find_if(x, [](float v) { return std::abs(v) > 0.5f; }) - x.begin());
  int8_t& weight = values[2 * kCols + column];
  weight = static_cast<int8_t>(weight == 1 ? 0 : weight + 1);
  const Codes wrong{values, kRows, kCols};
  for (const Kernel& kernel : kernels()) {
    const auto y = product(kernel, PackedMatrix(kernel, wrong), x);
    ASSERT_TRUE(y.has_value());
    ASSERT_EQ(judge(kernel, expected, kCols, *y).bad_row, 2) << kernel.name;
  }
  const std::vector<float> nan(kRows, std::numeric_limits<float>::quiet_NaN());
  for (const Kernel& kernel : kernels()) {
    const auto verdict = judge(kernel, expected, kCols, nan);
    EXPECT_EQ(verdict.bad_row, 0) << kernel.name;
    EXPECT_TRUE(std::isnan(verdict.max_error));
  }
}

TEST(Study, TheTableIsInOrder) {
  const auto all = kernels();
  ASSERT_GE(all.size(), 10u);
  EXPECT_EQ(all.front().packing.name, "f32");
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_NE(all[i].name, all[j].name);
    EXPECT_EQ(all[i].roundings == nullptr, all[i].activations == Activations::kInt8) << all[i].name;
  }
}

}  // namespace
}  // namespace tern::conform
