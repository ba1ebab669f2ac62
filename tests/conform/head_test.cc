// The int8 copy of a float head: its error bounds, and the best logits found with it, compared with float_linear.
#include <cmath>
#include <limits>

#include "backend/cpu/ops/best_logits.h"
#include "backend/cpu/ops/ops.h"
#include "conform/conform.h"
#include "conform/matrix.h"

namespace tern::conform {
namespace {

using cpu::BestLogits;
using cpu::HeadCopy;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// A head with given values, and the activations to multiply it with.
struct HeadCase {
  HeadCase(Format format, int n_rows, int n_cols)
      : rows(n_rows), cols(n_cols), bytes(tensor_bytes(format, n_rows, n_cols), 2), x(static_cast<size_t>(n_cols), 1) {
    w = {.name = "output.weight",
         .format = format,
         .rows = rows,
         .cols = cols,
         .data = {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}};
  }
  HeadCase(const HeadCase&) = delete;
  HeadCase& operator=(const HeadCase&) = delete;

  void set_row(int row, std::span<const float> values) {
    put_row(w, {reinterpret_cast<std::byte*>(bytes.data()), bytes.size()}, row, values);
  }
  std::vector<float> row(int r) const { return row_of(w, r); }
  void fill(uint64_t seed) {
    Values values(seed);
    std::vector<float> some(static_cast<size_t>(cols));
    for (int r = 0; r < rows; ++r) {
      values.fill(some);
      set_row(r, some);
    }
    values.fill(x);
  }
  std::vector<float> all_logits() const {
    Guarded<float> out(static_cast<size_t>(rows));
    run_on(1, cpu::float_linear, {{.x = x.data()}, 1, &w, ops::Store::kSet, out.data()});
    return out.values();
  }

  int rows, cols;
  Guarded<unsigned char> bytes;
  Guarded<float> x;
  Tensor w;
};

HeadCopy copy_of(const HeadCase& c, int n_threads = 1) {
  ThreadPool pool(n_threads);
  return cpu::copy_head(c.w, pool).value();
}

struct Outcome {
  bool done = false;  // false: the op has to be computed in full
  std::vector<float> estimates, logits;
  cpu::LogitBound bound;
  int n_rescored = 0;
};

Outcome run_best(const HeadCase& c, int n_best, int n_threads = 1) {
  BestLogits best(copy_of(c, n_threads), n_threads);
  Outcome outcome;
  if (!best.begin(n_best)) return outcome;
  Guarded<float> out(static_cast<size_t>(c.rows), 1);
  const ops::FloatLinear op{{.x = c.x.data()}, 1, &c.w, ops::Store::kSet, out.data()};
  ThreadPool pool(n_threads);
  std::atomic<int> next = 0, rest = 0, n_done = 0;
  std::vector<cpu::Scratch> scratch(static_cast<size_t>(n_threads), cpu::Scratch(BestLogits::scratch(c.cols)));
  pool.run([&](int worker) {
    cpu::WorkQueue queue(next, n_threads, scratch[static_cast<size_t>(worker)]);
    if (!best.estimate(op, worker, queue)) return;
    ++n_done;
    pool.barrier();
    if (worker == 0) {
      outcome.estimates = out.values();
      best.choose();
    }
    pool.barrier();
    cpu::WorkQueue rest_share(rest, n_threads, scratch[static_cast<size_t>(worker)]);
    best.rescore(op, worker, rest_share);
  });
  EXPECT_TRUE(n_done == 0 || n_done == n_threads);
  EXPECT_TRUE(out.intact());
  outcome.done = n_done == n_threads;
  outcome.logits = out.values();
  outcome.bound = best.bound();
  outcome.n_rescored = best.n_rescored();
  return outcome;
}

double bound_of(const HeadCopy& copy, const cpu::LogitBound& bound, int row) {
  return static_cast<double>(copy.error[row]) * bound.per_error + static_cast<double>(copy.norm[row]) * bound.per_norm +
         bound.at_least;
}

// The largest |result − estimate| / bound of all rows with a known bound.
double check_bound(const HeadCase& c) {
  const Outcome outcome = run_best(c, 1);
  if (!outcome.done) return 0;
  const HeadCopy copy = copy_of(c);
  const std::vector<float> exact = c.all_logits();
  double used = 0;
  for (int r = 0; r < c.rows; ++r) {
    const auto i = static_cast<size_t>(r);
    const double bound = bound_of(copy, outcome.bound, r);
    if (copy.error[r] == kInf) continue;
    const double off = std::abs(static_cast<double>(exact[i]) - static_cast<double>(outcome.estimates[i]));
    EXPECT_LE(off, bound) << "row " << r << " of " << c.rows << " × " << c.cols;
    used = std::max(used, off / bound);
  }
  return used;
}

// BestLogits' contract: the n_best largest, and all equal to the least of them, are float_linear's; others are that or
// −∞.
void check_best(const HeadCase& c, int n_best, int n_threads = 1) {
  const Outcome outcome = run_best(c, n_best, n_threads);
  ASSERT_TRUE(outcome.done);
  const std::vector<float> exact = c.all_logits();
  const float least = least_of_best(exact, static_cast<size_t>(n_best));
  for (size_t i = 0; i < exact.size(); ++i) {
    const bool same = outcome.logits[i] == exact[i] || (std::isnan(outcome.logits[i]) && std::isnan(exact[i]));
    const bool may_miss = outcome.logits[i] == -kInf && !(exact[i] >= least);
    ASSERT_TRUE(same || may_miss) << "row " << i << ": " << outcome.logits[i] << ", not " << exact[i];
  }
}

constexpr Format kHeadFormats[] = {Format::kF16, Format::kBF16, Format::kF32};

TEST(HeadCopy, SaysHowFarItIsOff) {
  on_every_target([] {
    for (const Format format : kHeadFormats) {
      for (const int cols : {1, 7, 72, 256, 1000}) {
        HeadCase c(format, 19, cols);
        c.fill(static_cast<uint64_t>(cols));
        c.set_row(3, std::vector<float>(static_cast<size_t>(cols), 0.0f));
        c.set_row(4, std::vector<float>(static_cast<size_t>(cols), 0x1p-24f));
        c.set_row(5, std::vector<float>(static_cast<size_t>(cols), 0x1p-140f));
        std::vector<float> outlier(static_cast<size_t>(cols), 0.001f);
        outlier.back() = 60000;
        c.set_row(6, outlier);
        const HeadCopy copy = copy_of(c, 2);
        for (int r = 0; r < c.rows; ++r) {
          double error = 0, norm = 0;
          const std::vector<float> values = c.row(r);
          for (size_t i = 0; i < values.size(); ++i) {
            const int code = copy.codes[static_cast<size_t>(r) * copy.stride + i];
            ASSERT_TRUE(code >= 1 && code <= 255);
            const double stands_for = static_cast<double>(copy.scale[r]) * (code - 128);
            error += std::pow(values[i] - stands_for, 2);
            norm += std::pow(values[i], 2);
            EXPECT_LE(std::abs(values[i] - stands_for), 0.5001 * copy.scale[r] + 0x1p-90) << r;
          }
          EXPECT_GE(copy.error[r], std::sqrt(error)) << format_info(format).name << ", row " << r;
          EXPECT_GE(copy.norm[r], std::sqrt(norm));
          // The bound must be tight: one that is too large makes the copy useless.
          EXPECT_LE(copy.error[r], 1.001 * std::sqrt(error) + 1e-6 * std::sqrt(norm) + 4e-21);
          EXPECT_LE(copy.norm[r], 1.001 * std::sqrt(norm) + 4e-21);
        }
      }
    }
  });
}

TEST(HeadCopy, KnowsNothingOfRowsThatAreNotFinite) {
  on_every_target([] {
    HeadCase c(Format::kF32, 4, 72);
    c.fill(1);
    std::vector<float> values = c.row(0);
    values[70] = kNan;
    c.set_row(0, values);
    values[70] = kInf;
    c.set_row(1, values);
    values[70] = 1e30f;
    c.set_row(2, values);
    const HeadCopy copy = copy_of(c);
    for (const int r : {0, 1, 2}) {
      EXPECT_EQ(copy.error[r], kInf);
      EXPECT_EQ(copy.scale[r], 0);
    }
    EXPECT_LT(copy.error[3], kInf);
  });
}

TEST(BestLogits, EstimatesAreWithinTheirBound) {
  on_every_target([] {
    for (const Format format : kHeadFormats) {
      for (const int cols : {1, 3, 31, 72, 128, 512, 2560}) {
        HeadCase c(format, 37, cols);
        for (uint64_t seed = 0; seed < 4; ++seed) {
          c.fill(1000 * seed + static_cast<uint64_t>(cols));
          if (seed == 1) c.x[c.x.size() / 2] = 1e6f;  // the others become a few steps or 0
          if (seed == 2) {
            for (size_t i = 0; i < c.x.size(); ++i) c.x[i] *= 1e-12f;
          }
          check_bound(c);
        }
      }
    }
  });
}

// Activations parallel to the copy's error: a bound without its main term would be too small.
TEST(BestLogits, TheBoundIsNeeded) {
  on_every_target([] {
    HeadCase c(Format::kF16, 37, 2560);
    c.fill(5);
    const HeadCopy copy = copy_of(c);
    const std::vector<float> values = c.row(11);
    for (size_t i = 0; i < values.size(); ++i) {
      const int code = copy.codes[11 * copy.stride + i];
      c.x[i] = values[i] - copy.scale[11] * static_cast<float>(code - 128);
    }
    EXPECT_GT(check_bound(c), 0.9);

    // The same for the rounding of the activations: weights parallel to that error, with no error of their own.
    HeadCase d(Format::kF32, 3, 2048);
    for (size_t i = 0; i < d.x.size(); ++i) d.x[i] = (i % 2 == 0 ? 0.49f : -0.49f);
    d.x[0] = 8191;
    std::vector<float> signs(2048);
    for (size_t i = 0; i < signs.size(); ++i) signs[i] = i % 2 == 0 ? 1.0f : -1.0f;
    for (int r = 0; r < 3; ++r) d.set_row(r, signs);
    EXPECT_GT(check_bound(d), 0.5);
  });
}

TEST(BestLogits, AreThoseOfFloatLinear) {
  on_every_target([] {
    for (const Format format : kHeadFormats) {
      for (const int rows : {2, 3, 16, 17, 100, 1000}) {
        for (const int cols : {1, 40, 72, 256}) {
          HeadCase c(format, rows, cols);
          c.fill(static_cast<uint64_t>(rows * 1000 + cols));
          for (const int n_best : {1, 2, 40}) {
            if (n_best >= rows) continue;
            check_best(c, n_best);
            check_best(c, n_best, 3);
          }
        }
      }
    }
  });
}

// Each token gets the same result as alone.
TEST(BestLogits, OfSeveralTokens) {
  on_every_target([] {
    constexpr int kRows = 333, kCols = 200;
    HeadCase c(Format::kF16, kRows, kCols);
    c.fill(21);
    for (const int n : {2, 3, 4, 7, 13}) {
      std::vector<float> x(static_cast<size_t>(n * kCols)), out(static_cast<size_t>(n * kRows));
      Values(static_cast<uint64_t>(n)).fill(x);
      std::vector<int> n_best;
      for (int t = 0; t < n; ++t) n_best.push_back(1 + t * 5);
      BestLogits best(copy_of(c), 2, 13);
      ASSERT_TRUE(best.begin(n_best));
      const ops::FloatLinear op{{.x = x.data()}, n, &c.w, ops::Store::kSet, out.data()};
      ThreadPool pool(2);
      std::atomic<int> next = 0, rest = 0;
      std::vector<cpu::Scratch> scratch(2, cpu::Scratch(BestLogits::scratch(kCols, n)));
      pool.run([&](int worker) {
        cpu::WorkQueue queue(next, 2, scratch[static_cast<size_t>(worker)]);
        ASSERT_TRUE(best.estimate(op, worker, queue));
        pool.barrier();
        if (worker == 0) best.choose();
        pool.barrier();
        cpu::WorkQueue rest_share(rest, 2, scratch[static_cast<size_t>(worker)]);
        best.rescore(op, worker, rest_share);
      });
      for (int t = 0; t < n; ++t) {
        std::copy_n(x.data() + t * kCols, kCols, c.x.data());
        const std::vector<float> exact = c.all_logits();
        std::vector<float> sorted = exact;
        std::ranges::sort(sorted, std::greater<>());
        const float least = sorted[static_cast<size_t>(n_best[static_cast<size_t>(t)] - 1)];
        for (int r = 0; r < kRows; ++r) {
          const float found = out[static_cast<size_t>(t * kRows + r)], wanted = exact[static_cast<size_t>(r)];
          ASSERT_TRUE(found == wanted || (found == -kInf && wanted < least)) << "token " << t << ", row " << r;
        }
      }
    }
    BestLogits best(copy_of(c), 1, 4);
    EXPECT_FALSE(best.begin(std::vector<int>{1, 0, 2}));
    EXPECT_FALSE(best.begin(std::vector<int>(5, 1)));
  });
}

TEST(BestLogits, FewRowsAreComputedTwice) {
  on_every_target([] {
    HeadCase c(Format::kF16, 2000, 512);
    c.fill(9);
    EXPECT_LT(run_best(c, 1).n_rescored, 100);
    EXPECT_LT(run_best(c, 40).n_rescored, 600);
  });
}

TEST(BestLogits, TiesBrokenRowsAndExtremes) {
  on_every_target([] {
    for (const Format format : kHeadFormats) {
      HeadCase c(format, 200, 72);
      c.fill(3);
      const std::vector<float> logits = c.all_logits();
      const auto best = static_cast<int>(std::ranges::max_element(logits) - logits.begin());
      for (const int r : {0, 77, 199}) c.set_row(r, c.row(best));  // ties with the best
      check_best(c, 1);
      check_best(c, 3);
      std::vector<float> values = c.row(20);
      values[71] = kNan;
      c.set_row(20, values);
      check_best(c, 2);
      values[71] = kInf;
      c.set_row(21, values);
      check_best(c, 1);
      check_best(c, 5);
      c.set_row(22, std::vector<float>(72, 65504.0f));
      c.set_row(23, std::vector<float>(72, 0.0f));
      c.set_row(24, std::vector<float>(72, 6e-8f));
      check_best(c, 4);
      for (int r = 0; r < c.rows; ++r) c.set_row(r, std::vector<float>(72, 0.25f));  // all rows equal
      check_best(c, 1);
    }
  });
}

TEST(BestLogits, LeavesActivationsWithoutABoundAlone) {
  on_every_target([] {
    HeadCase c(Format::kF16, 30, 72);
    for (const float bad : {kNan, kInf, -kInf, 1e20f}) {
      c.fill(4);
      c.x[71] = bad;
      EXPECT_FALSE(run_best(c, 1).done) << bad;
      EXPECT_FALSE(run_best(c, 1, 2).done) << bad;
    }
    std::ranges::fill(std::span(c.x.data(), c.x.size()), 0.0f);
    EXPECT_FALSE(run_best(c, 1).done);
  });
}

// A plan that ends with `w`, with an input slot of type `type`.
Plan plan_with(const Tensor& w, SlotType type) {
  Plan plan;
  plan.slots = {{.name = "normed", .type = type, .rows = RowsOf::kLogits, .width = w.cols},
                {.name = "logits", .rows = RowsOf::kLogits, .width = w.rows}};
  plan.logits = {1};
  plan.steps = {{"output", step::FloatLinear{{0}, &w, {1}}}};
  return plan;
}

TEST(HeadCopy, IsMadeWhereItCanAndPays) {
  ThreadPool pool(2);
  const auto made = [&](const Tensor& w, SlotType type, ExactHead wanted, uint64_t most_bytes = UINT64_MAX) {
    return cpu::copy_head_of(plan_with(w, type), wanted, most_bytes, pool);
  };
  const HeadCase large(Format::kF16, 8192, 1024), small(Format::kF16, 8191, 1024), packed(Format::kQ8_0, 8192, 2048);
  const uint64_t bytes = cpu::head_copy_bytes(8192, 1024);
  EXPECT_NE(made(large.w, SlotType::kF32, ExactHead::kWherePays)->w, nullptr);
  EXPECT_NE(made(large.w, SlotType::kF32, ExactHead::kWherePays, bytes)->w, nullptr);
  EXPECT_EQ(made(large.w, SlotType::kF32, ExactHead::kWherePays, bytes - 1)->w, nullptr);
  EXPECT_EQ(made(large.w, SlotType::kF32, ExactHead::kNo)->w, nullptr);
  EXPECT_EQ(made(small.w, SlotType::kF32, ExactHead::kWherePays)->w, nullptr);
  EXPECT_EQ(made(packed.w, SlotType::kF32, ExactHead::kWherePays)->w, nullptr);
  EXPECT_EQ(made(packed.w, SlotType::kInt8Blocks, ExactHead::kWherePays)->w, nullptr);
  EXPECT_NE(made(small.w, SlotType::kF32, ExactHead::kYes)->w, nullptr);

  EXPECT_EQ(made(packed.w, SlotType::kF32, ExactHead::kYes).error().code, ErrorCode::kNotSupported);
  EXPECT_EQ(made(packed.w, SlotType::kInt8Blocks, ExactHead::kYes).error().code, ErrorCode::kNotSupported);
  EXPECT_EQ(made(large.w, SlotType::kF32, ExactHead::kYes, bytes - 1).error().code, ErrorCode::kOutOfMemory);
  Tensor scaled = large.w;
  scaled.scale = 0.5f;
  EXPECT_EQ(made(scaled, SlotType::kF32, ExactHead::kWherePays)->w, nullptr);
  EXPECT_EQ(made(scaled, SlotType::kF32, ExactHead::kYes).error().code, ErrorCode::kNotSupported);
  const HeadCase wide(Format::kF16, 300, kMostHeadCols + 64);
  EXPECT_EQ(made(wide.w, SlotType::kF32, ExactHead::kWherePays)->w, nullptr);
  const auto refused = made(wide.w, SlotType::kF32, ExactHead::kYes);
  EXPECT_NE(refused.error().message.find("at most 32768 columns, but it has 32832"), std::string::npos);
}

TEST(BestLogits, OnlyWhereItPays) {
  HeadCase c(Format::kF16, 300, 64);
  c.fill(4);
  BestLogits best(copy_of(c), 1);
  EXPECT_FALSE(best.begin(0));
  EXPECT_FALSE(best.begin(-1));
  EXPECT_FALSE(best.begin(300));
  EXPECT_FALSE(best.begin(cpu::kMostBestLogits + 1));
  EXPECT_TRUE(best.begin(299));

  // After a token for which all rows had to be computed, the next tokens do not try the copy.
  for (int r = 0; r < c.rows; ++r) c.set_row(r, std::vector<float>(64, 0.25f));
  BestLogits useless(copy_of(c), 1);
  ASSERT_TRUE(useless.begin(1));
  std::vector<float> scratch(BestLogits::scratch(c.cols)), out(300);
  const ops::FloatLinear op{{.x = c.x.data()}, 1, &c.w, ops::Store::kSet, out.data()};
  std::atomic<int> next = 0, rest = 0;
  cpu::WorkQueue queue(next, 1, scratch), rest_share(rest, 1, scratch);
  ASSERT_TRUE(useless.estimate(op, 0, queue));
  useless.choose();
  useless.rescore(op, 0, rest_share);
  EXPECT_EQ(useless.n_rescored(), 300);
  int n_full = 0;
  while (!useless.begin(1)) ++n_full;
  EXPECT_EQ(n_full, 31);
}

}  // namespace
}  // namespace tern::conform
