// Helpers of the sampler's tests.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "sample/sampler.h"

namespace tern::sample_test {

using Logits = std::vector<float>;

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

// Options with every filter off.
inline Sampling plain(float temperature) { return {.temperature = temperature, .top_k = 0}; }

inline Logits logits_of(const std::vector<double>& probabilities) {
  Logits logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)) + 3.0f);
  return logits;
}

inline TokenId sample_once(const Sampling& options, const Logits& logits) {
  return Sampler(options, static_cast<int>(logits.size())).sample(logits);
}

inline std::vector<int> histogram(const Sampling& options, const Logits& logits, int n) {
  Sampler sampler(options, static_cast<int>(logits.size()));
  std::vector<int> counts(logits.size());
  for (int i = 0; i < n; ++i) ++counts[sampler.sample(logits)];
  return counts;
}

inline std::set<TokenId> tokens_seen(const Sampling& options, const Logits& logits, int n = 3000) {
  const std::vector<int> counts = histogram(options, logits, n);
  std::set<TokenId> seen;
  for (size_t id = 0; id < counts.size(); ++id) {
    if (counts[id] > 0) seen.insert(static_cast<TokenId>(id));
  }
  return seen;
}

// Chi-square test: Σ (observed − expected)² / expected. For the right distribution its mean is n − 1 and its variance
// 2(n − 1). The fixed seed makes the test deterministic, and a bound of mean + 4 standard deviations rejects all but
// tiny errors.
inline void expect_distribution(const std::vector<int>& counts, const std::vector<double>& probabilities) {
  const int n = std::accumulate(counts.begin(), counts.end(), 0);
  double chi_square = 0;
  int freedom = -1;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (probabilities[i] == 0) {
      EXPECT_EQ(counts[i], 0) << "token " << i;
      continue;
    }
    const double expected = probabilities[i] * n;
    chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
    ++freedom;
  }
  EXPECT_LT(chi_square, freedom + 4 * std::sqrt(2.0 * freedom));
}

}  // namespace tern::sample_test
