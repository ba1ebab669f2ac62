// The head's best logits via its int8 copy: the bounds of the copy and of the estimates, and the resulting logits
// compared with float_linear.
#include "backend/gpu/kernels/head/best_logits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "conform/gpu/head/best_logits_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using namespace exact_head;
using GpuBestLogits = GpuConform;
TERN_FOR_EVERY_VARIANT(GpuBestLogits);

constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr Format kHeadFormats[] = {Format::kF16, Format::kBF16, Format::kF32};

void expect_copy(GpuBench& bench, const HeadCase& c) {
  const Copy copy = copy_of(bench, c);
  const auto cols = static_cast<size_t>(c.w.cols);
  for (int r = 0; r < c.w.rows; ++r) {
    const std::vector<float> row = c.row(r);
    const auto i = static_cast<size_t>(r);
    std::vector<double> w(row.begin(), row.end()), e;
    int greatest = 0;
    for (size_t k = 0; k < cols; ++k) {
      const int code = copy.codes[i * cols + k];
      greatest = std::max(greatest, std::abs(code));
      e.push_back(w[k] - static_cast<double>(copy.errors[4 * i]) * code);
    }
    ASSERT_EQ(greatest, 127) << "row " << r;
    ASSERT_GE(copy.errors[4 * i + 1], length(e)) << "row " << r;
    ASSERT_LE(copy.errors[4 * i + 1], length(e) * 1.01 + length(w) * 1e-5 + 1e-20) << "row " << r;
    ASSERT_GE(copy.errors[4 * i + 2], length(w)) << "row " << r;
    ASSERT_LE(copy.errors[4 * i + 2], length(w) * 1.01) << "row " << r;
    ASSERT_LE(length(e), 0.501 * copy.errors[4 * i] * std::sqrt(cols)) << "row " << r;
  }
}

TEST_P(GpuBestLogits, TheCopySaysHowFarItIsOff) {
  for (const Format format : kHeadFormats) {
    for (const int cols : {16, 80, 256, 1008}) expect_copy(bench(), HeadCase(format, 21, cols, 1, 5));
  }
}

TEST_P(GpuBestLogits, NothingIsKnownOfRowsThatAreNotFinite) {
  for (const Format format : kHeadFormats) {
    for (const float bad : {kNotANumber, kInfinite, -kInfinite}) {
      HeadCase c(format, 9, 64, 1, 7);
      auto row = c.row(4);
      row[37] = bad;
      c.set_row(4, row);
      const Copy copy = copy_of(bench(), c);
      for (int r = 0; r < 9; ++r) {
        EXPECT_EQ(copy.errors[static_cast<size_t>(4 * r + 1)] == gpu::kUnknown, r == 4) << r;
      }
      EXPECT_EQ(copy.errors[16], 0) << "its scale";
    }
  }
}

TEST_P(GpuBestLogits, TheInputIsInTwoParts) {
  for (const int cols : {16, 80, 1008}) {
    for (const bool normed : {false, true}) {
      HeadCase c(Format::kF16, 1, cols, 3, 11);
      if (normed) c.gain = random(static_cast<size_t>(cols), 12);
      const InputParts input = input_of(bench(), c, 3);
      for (int t = 0; t < 3; ++t) {
        const std::vector<double> x = c.input(t);
        const float* const bounds = &input.bounds[static_cast<size_t>(4 * t)];
        std::vector<double> missed;
        for (int k = 0; k < cols; ++k) {
          const auto at = static_cast<size_t>(((t * cols / 16 + k / 16) * 2) * 16 + k % 16);
          const int high = input.parts[at], low = input.parts[at + 16];
          ASSERT_LE(std::abs(high), 64);
          ASSERT_LE(std::abs(low), 64);
          missed.push_back(x[static_cast<size_t>(k)] - static_cast<double>(bounds[0]) * (128 * high + low));
        }
        const double rounded = (cols + 50) * kUlp * (length(x) + 128 * bounds[0] * std::sqrt(cols));
        EXPECT_GE(bounds[1], length(x) + length(missed) + rounded);
        EXPECT_LE(bounds[1], 1.02 * (length(x) + length(missed) + rounded));
        EXPECT_GE(bounds[2], length(missed) + rounded);
        EXPECT_LE(bounds[2], 1.1 * (length(missed) + rounded) + 1e-5 * length(x));
        EXPECT_LT(length(missed), 1e-3 * length(x));
        EXPECT_LT(bounds[3], 1e-20f);
      }
    }
  }
}

// The float whose order-preserving integer key is `key`.
float of_key(uint32_t key) { return std::bit_cast<float>(key >= 0x80000000u ? key & 0x7FFFFFFFu : ~key); }

// Every logit is at most its upper bound, and each part's key is a lower bound of the part's largest logit. Both are
// tight.
void expect_bounds(const HeadCase& c, const Estimates& e, const Copy& copy, const InputParts& input) {
  for (int t = 0; t < c.n_x; ++t) {
    const std::vector<double> x = c.input(t);
    const float* const bounds = &input.bounds[static_cast<size_t>(4 * t)];
    std::vector<double> greatest(gpu::kGreatestParts, -1e300), at_least = greatest;
    for (int r = 0; r < c.w.rows; ++r) {
      const std::vector<float> row = c.row(r);
      double y = 0;
      for (size_t k = 0; k < row.size(); ++k) y += row[k] * x[k];
      const float* const errors = &copy.errors[static_cast<size_t>(4 * r)];
      const double off = static_cast<double>(errors[1]) * bounds[1] + static_cast<double>(errors[2]) * bounds[2];
      const float upper = e.upper[static_cast<size_t>(t * c.w.rows + r)];
      ASSERT_GE(upper, y) << "row " << r << ", input " << t;
      ASSERT_LE(upper, y + 2.02 * off + 1e-20) << "row " << r << ", input " << t;
      const size_t part = static_cast<size_t>(r) / e.rows_of_workgroup % gpu::kGreatestParts;
      greatest[part] = std::max(greatest[part], y);
      at_least[part] = std::max(at_least[part], y - 2.02 * off - 1e-20);
    }
    for (size_t part = 0; part < greatest.size(); ++part) {
      const uint32_t key = e.greatest[static_cast<size_t>(t) * gpu::kGreatestParts + part];
      if (greatest[part] == -1e300) {
        ASSERT_EQ(key, 0u) << "part " << part << " has no rows";
        continue;
      }
      ASSERT_LE(of_key(key), greatest[part]) << "part " << part;
      ASSERT_GE(of_key(key), at_least[part]) << "part " << part;
    }
  }
}

TEST_P(GpuBestLogits, EstimatesKeepTheirBounds) {
  for (const auto& [cols, n, ahead] : {std::tuple{16, 1, 16u}, {80, 2, 16u}, {272, 3, 16u}, {1008, 8, 0u}}) {
    for (const bool normed : {false, true}) {
      HeadCase c(Format::kF16, 67, cols, n, 21);
      if (normed) c.gain = random(static_cast<size_t>(cols), 22);
      const auto columns = std::bit_ceil(static_cast<uint32_t>(n));
      expect_bounds(c, estimates_of(bench(), c, columns, ahead), copy_of(bench(), c), input_of(bench(), c, columns));
    }
  }
}

// With more workgroups than parts.
TEST_P(GpuBestLogits, PartsHaveTheRowsOfSeveralWorkgroups) {
  const HeadCase c(Format::kF16, 10000, 16, 1, 25);
  const auto rows_of_workgroup = estimate_config(bench(), c, 1).rows_per_workgroup();
  ASSERT_GT(ceil_div(10000u, rows_of_workgroup), gpu::kGreatestParts);
  expect_bounds(c, estimates_of(bench(), c, 1), copy_of(bench(), c), input_of(bench(), c, 1));
}

// The contract: the n_best largest logits, and all equal to the least of them, are float_linear's; the others are that
// or −∞. Returns the number of computed logits.
int expect_best(GpuBench& bench, const HeadCase& c, uint32_t n_best) {
  const std::vector<float> exact = all_logits(bench, c), got = best_logits(bench, c, n_best);
  const auto rows = static_cast<size_t>(c.w.rows);
  int n_computed = 0;
  for (size_t t = 0; t < static_cast<size_t>(c.n_x); ++t) {
    const float least = least_of_best(std::span(exact).subspan(t * rows, rows), n_best);
    for (size_t i = t * rows; i < (t + 1) * rows; ++i) {
      n_computed += got[i] != -kInfinite ? 1 : 0;
      const bool may_miss = got[i] == -kInfinite && !(exact[i] >= least) && !std::isnan(exact[i]);
      const bool is_same = got[i] == exact[i] || (std::isnan(got[i]) && std::isnan(exact[i]));
      EXPECT_TRUE(is_same || may_miss) << "row " << i % rows << " of input " << t << ": " << got[i] << ", not "
                                       << exact[i];
      if (!is_same && !may_miss) return n_computed;
    }
  }
  return n_computed;
}

TEST_P(GpuBestLogits, TheBestAreThoseOfTheMatrix) {
  for (const Format format : kHeadFormats) {
    for (const int n : {1, 3}) {
      HeadCase c(format, 1500, 144, n, 31);
      for (const uint32_t n_best : {1u, 5u, 40u}) {
        const int n_computed = expect_best(bench(), c, n_best);
        EXPECT_LT(n_computed, n * (n_best == 40 ? 900 : 400)) << n_best;  // most are left out
      }
      c.gain = random(144, 33);
      expect_best(bench(), c, 7);
    }
  }
}

TEST_P(GpuBestLogits, RowsThatAreAlike) {
  HeadCase same(Format::kF16, 300, 48, 1, 41);
  const auto row = same.row(0);
  for (int r = 0; r < 300; ++r) same.set_row(r, row);
  EXPECT_EQ(expect_best(bench(), same, 1), 300) << "all equal the best";
  EXPECT_EQ(expect_best(bench(), same, 40), 300);

  HeadCase few(Format::kF16, 3, 48, 1, 42);  // fewer rows than requested
  EXPECT_EQ(expect_best(bench(), few, 128), 3);
  HeadCase none(Format::kF16, 200, 48, 1, 43);
  for (int r = 0; r < 200; ++r) none.set_row(r, std::vector<float>(48));
  EXPECT_EQ(expect_best(bench(), none, 1), 200);
}

TEST_P(GpuBestLogits, WithoutABoundAllAreComputed) {
  for (const float bad : {kNotANumber, kInfinite, 1e30f}) {
    HeadCase c(Format::kF16, 200, 48, 2, 51);
    c.x[20] = bad;
    const std::vector<float> exact = all_logits(bench(), c), got = best_logits(bench(), c, 1);
    for (size_t r = 0; r < 200; ++r) {
      EXPECT_TRUE(got[r] == exact[r] || (std::isnan(got[r]) && std::isnan(exact[r]))) << bad << ", row " << r;
    }
    EXPECT_LT(std::count_if(got.begin() + 200, got.end(), [](float y) { return y != -kInfinite; }), 100)
        << "the other row";
  }
  HeadCase zero(Format::kF16, 200, 48, 1, 52);
  std::ranges::fill(zero.x, 0.0f);
  EXPECT_EQ(expect_best(bench(), zero, 1), 200);
}

TEST_P(GpuBestLogits, RowsOfWhichNothingIsKnown) {
  HeadCase c(Format::kF16, 300, 48, 1, 61);
  for (const auto& [r, bad] : {std::pair{7, kNotANumber}, {100, kInfinite}, {299, -kInfinite}}) {
    auto row = c.row(r);
    row[5] = bad;
    c.set_row(r, row);
  }
  const std::vector<float> exact = all_logits(bench(), c), got = best_logits(bench(), c, 1);
  for (const size_t r : {7, 100, 299}) {
    EXPECT_TRUE(got[r] == exact[r] || (std::isnan(got[r]) && std::isnan(exact[r]))) << r;
  }
  expect_best(bench(), c, 3);
}

// Values near the limits of the number formats, and outliers.
TEST_P(GpuBestLogits, FarFromOrdinary) {
  for (const auto& [of_w, of_x] : {std::pair{1e-6f, 1.0f}, {6e4f, 1e-3f}, {1.0f, 1e6f}, {1.0f, 1e-12f}}) {
    HeadCase c(Format::kF16, 400, 112, 1, 71);
    for (int r = 0; r < 400; ++r) {
      auto row = c.row(r);
      for (float& v : row) v = std::clamp(v * of_w / 31, -6e4f, 6e4f);
      c.set_row(r, row);
    }
    for (float& v : c.x) v *= of_x;
    c.x[3] *= 1000;
    expect_best(bench(), c, 1);
    expect_best(bench(), c, 20);
  }
}

// The squares of these values are below the range of floats, or nearly so.
TEST_P(GpuBestLogits, TinyRowsAndInputs) {
  for (const Format format : {Format::kF32, Format::kBF16}) {
    for (const float size : {0x1p-30f, 0x1p-45f, 0x1p-66f, 0x1p-75f, 0x1p-110f}) {
      for (const bool of_x : {false, true}) {
        HeadCase c(format, 300, 112, 1, 81);
        const auto common = c.row(0);
        for (int r = 0; r < 300; ++r) {  // nearly equal rows, so that the bounds matter
          auto row = c.row(r);
          for (size_t i = 0; i < row.size(); ++i) row[i] = (common[i] + row[i] * 0x1p-11f) * (of_x ? 1 : size);
          c.set_row(r, row);
        }
        if (of_x) {
          for (float& v : c.x) v *= size;
        }
        expect_best(bench(), c, 1);
        expect_best(bench(), c, 9);
      }
    }
  }
  // A single tiny row is always computed; a row of zeros is not.
  HeadCase c(Format::kF32, 300, 112, 1, 82);
  c.set_row(7, std::vector<float>(112));
  auto tiny = c.row(8);
  for (float& v : tiny) v *= 0x1p-70f;
  c.set_row(8, tiny);
  const Copy copy = copy_of(bench(), c);
  EXPECT_LT(copy.errors[4 * 7 + 1], 1e-20f);
  EXPECT_EQ(copy.errors[4 * 8 + 1], gpu::kUnknown);
  expect_best(bench(), c, 1);
}

}  // namespace
}  // namespace tern::conform
