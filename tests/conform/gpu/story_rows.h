// Tokens to run, and the distance between rows of logits.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tern/options.h"

namespace tern {

using Rows = std::vector<float>;  // [n, n_vocab]

// The first n tokens of a fixed pseudorandom sequence.
inline std::vector<TokenId> story(size_t n) {
  std::vector<TokenId> tokens = {1};
  for (uint32_t x = 12345; tokens.size() < n; x = x * 1664525u + 1013904223u) {
    tokens.push_back(static_cast<TokenId>(x >> 19));  // 13 bits: 8192 tokens
  }
  return tokens;
}

inline double nmse(const Rows& actual, const Rows& expected) {
  EXPECT_EQ(actual.size(), expected.size());
  double error = 0, power = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    error += std::pow(static_cast<double>(actual[i]) - expected[i], 2);
    power += std::pow(static_cast<double>(expected[i]), 2);
  }
  return error / power;
}

}  // namespace tern
