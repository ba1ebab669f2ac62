// The statistics that a kernel writes for the norm that follows (gpu/kernels/ternary/norm_fused.h).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "conform/values.h"

namespace tern::conform {

// [n_rows, n_parts, 2] (Σx², max |x·gain|) of x [n_rows, width], in parts of about the same size.
inline std::vector<float> stats_of(const std::vector<float>& x, const std::vector<float>& gain, size_t n_parts) {
  const size_t width = gain.size();
  std::vector<float> stats;
  for (size_t row = 0; row < x.size() / width; ++row) {
    for (size_t part = 0; part < n_parts; ++part) {
      double squares = 0;
      float largest = 0;
      for (size_t i = part * width / n_parts; i < (part + 1) * width / n_parts; ++i) {
        const float value = x[row * width + i];
        squares += static_cast<double>(value) * value;
        largest = std::max(largest, std::abs(value * gain[i]));
      }
      stats.insert(stats.end(), {static_cast<float>(squares), largest});
    }
  }
  return stats;
}

// Checks that the parts of each row add up to the statistics of `x`, the values that the same kernel wrote, however
// rows were divided. A square and its addition are a rounding each. The largest product has only its own rounding.
inline void expect_stats(const std::vector<float>& stats, const std::vector<float>& x, const std::vector<float>& gain) {
  const size_t width = gain.size(), n_rows = x.size() / width, n_parts = stats.size() / 2 / n_rows;
  const std::vector<float> expected = stats_of(x, gain, 1);
  for (size_t row = 0; row < n_rows; ++row) {
    double squares = 0;
    float largest = 0;
    for (size_t part = 0; part < n_parts; ++part) {
      squares += stats[2 * (row * n_parts + part)];
      largest = std::max(largest, stats[2 * (row * n_parts + part) + 1]);
      ASSERT_FALSE(std::isnan(stats[2 * (row * n_parts + part) + 1])) << "part " << part << " of row " << row;
    }
    ASSERT_NEAR(squares, expected[2 * row], expected[2 * row] * static_cast<double>(width + 2) * kUlp) << "row " << row;
    ASSERT_NEAR(largest, expected[2 * row + 1], expected[2 * row + 1] * 2 * kUlp) << "row " << row;
  }
}

}  // namespace tern::conform
