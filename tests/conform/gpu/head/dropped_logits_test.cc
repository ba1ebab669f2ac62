// Typical-p and XTC on the device compared with Sampler's.
#include "device_sampler_test_support.h"

namespace tern::gpu {
namespace {

// Alone, with other filters before and after, together, and rows without them.
const std::vector<Sampling> kDropping = {
    {.temperature = 0.8f, .top_k = 0, .typical_p = 0.5f},
    {.temperature = 1.3f, .top_k = 50, .top_p = 0.9013f, .typical_p = 0.7017f},
    {.temperature = 1.0f, .top_k = 0, .min_p = 0.05f, .top_n_sigma = 1.503f, .typical_p = 0.2019f},
    {.temperature = 0.9f, .top_k = 0, .xtc_probability = 1, .xtc_threshold = 0.0303f},
    {.temperature = 1.2f, .top_k = 60, .top_p = 0.9511f, .xtc_probability = 0.5f, .xtc_threshold = 0.1007f},
    {.temperature = 2.0f, .top_k = 0, .min_p = 0.1f, .xtc_probability = 0.7f, .xtc_threshold = 0.0501f},
    {.temperature = 1.5f,
     .top_k = 30,
     .top_p = 0.9707f,
     .min_p = 0.02f,
     .top_n_sigma = 2.51f,
     .typical_p = 0.8023f,
     .xtc_probability = 0.9f,
     .xtc_threshold = 0.0211f},
    {.temperature = 0.8f, .top_k = 40},
    {.temperature = 0},
    {.temperature = 9.0f, .top_k = 0, .top_p = 0.9f},
};

class DroppedLogitsTest : public DeviceSamplerTest {
 protected:
  // Tokens of one batch. Returns how many differ.
  int n_different(const std::vector<Sampling>& rows, const std::vector<Logits>& logits, int n_steps, uint64_t seed) {
    Logits all;
    for (const Logits& row : logits) all.insert(all.end(), row.begin(), row.end());
    std::vector<Sampler> hosts, numbers;
    for (size_t row = 0; row < rows.size(); ++row) {
      Sampling options = rows[row];
      options.seed = seed * 100 + row;
      hosts.emplace_back(options, static_cast<int>(logits[row].size()));
      numbers.emplace_back(options, 1);
    }
    Draws draws(*device, all, true, rows.size());
    int n = 0;
    for (int step = 0; step < n_steps; ++step) {
      draws.put(all);
      const auto found = draws.sampled(
          rows, 1, {}, [&](size_t row) { return rows[row].temperature > 0 ? numbers[row].uniform() : 0.0f; });
      for (size_t row = 0; row < rows.size(); ++row) {
        const TokenId expected = hosts[row].sample(logits[row]);
        if (found[row][0] == expected) continue;
        ++n;
        text_ += " row " + std::to_string(row) + ": " + std::to_string(expected) + " became " +
                 std::to_string(found[row][0]);
      }
    }
    return n;
  }

  std::string text_;
};

std::vector<Logits> rows_of_logits(size_t n_vocab, size_t n_rows, uint64_t seed, float spread) {
  std::vector<Logits> logits;
  for (size_t row = 0; row < n_rows; ++row) {
    logits.push_back(random_logits(n_vocab, seed * 50 + row, spread));
    if (row % 3 == 2 && n_vocab > 3) logits.back()[row % n_vocab] = kNan;
    if (row % 4 == 1 && n_vocab > 4) logits.back()[(row + 2) % n_vocab] = -kInf;
    // One token leads, as in texts.
    if (row % 2 == 0) logits.back()[row * 31 % n_vocab] = 4 * spread;
  }
  return logits;
}

TEST_F(DroppedLogitsTest, RowsHaveOptionsOfTheirOwn) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    for (const size_t n_vocab : {1u, 2u, 37u, 300u, 5000u}) {
      const auto logits = rows_of_logits(n_vocab, kDropping.size(), seed, seed % 3 == 0 ? 0.5f : 2.0f);
      EXPECT_EQ(n_different(kDropping, logits, 3, seed), 0) << n_vocab << " logits, seed " << seed << ":" << text_;
      text_.clear();
    }
  }
}

TEST_F(DroppedLogitsTest, OfALargeVocabulary) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const auto logits = rows_of_logits(151'936, kDropping.size(), seed, 2.0f);
    EXPECT_LE(n_different(kDropping, logits, 2, seed), 1) << text_;
  }
}

// Each filter alone, without rows that have others.
TEST_F(DroppedLogitsTest, EachAlone) {
  for (size_t i = 0; i < kDropping.size(); ++i) {
    const auto logits = rows_of_logits(2000, 1, i, 2.0f);
    EXPECT_EQ(n_different({kDropping[i]}, logits, 12, i), 0) << i << text_;
  }
}

// Among equal logits, the lower ids are kept, and of equal top choices the last one.
TEST_F(DroppedLogitsTest, TiesGoByTheirIds) {
  Logits logits(3000);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>((i * 7) % 5);
  logits[700] = logits[2900] = logits[2990] = 12;
  EXPECT_EQ(n_different(kDropping, std::vector<Logits>(kDropping.size(), logits), 12, 3), 0) << text_;
  for (const float all : {kInf, -kInf, kNan, 1.5f}) {
    const std::vector<Logits> flat(kDropping.size(), Logits(3000, all));  // three parts
    EXPECT_EQ(n_different(kDropping, flat, 6, 4), 0) << all << text_;
  }
}

// At a high temperature, what has no probability without it may be drawn.
TEST_F(DroppedLogitsTest, RowsWithoutTypicalPKeepImprobableTokens) {
  Logits logits(500, -150.0f);
  logits[20] = 0;
  const std::vector<Sampling> rows = {{.typical_p = 0.5f}, {.temperature = 100, .top_k = 0}};
  EXPECT_EQ(n_different(rows, {logits, logits}, 12, 6), 0) << text_;
}

// A threshold of 0 makes all tokens top choices that have a probability.
TEST_F(DroppedLogitsTest, XtcKeepsATokenThatIsPossible) {
  Logits logits(500, -kInf);
  logits[20] = 3, logits[30] = 2, logits[40] = -500;
  const std::vector<Sampling> rows = {{.temperature = 1, .top_k = 0, .xtc_probability = 1, .xtc_threshold = 0}};
  EXPECT_EQ(n_different(rows, {logits}, 4, 6), 0) << text_;
}

TEST_F(DroppedLogitsTest, SameWithoutSubgroups) {
  open({.validation = true, .without = {.subgroups = true, .default_limits = true}});
  const auto logits = rows_of_logits(3000, kDropping.size(), 5, 2.0f);
  EXPECT_EQ(n_different(kDropping, logits, 3, 5), 0) << text_;
}

}  // namespace
}  // namespace tern::gpu
