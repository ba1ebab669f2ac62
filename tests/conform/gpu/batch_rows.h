// Rows of activations for kernels that take several at a time.
#pragma once

#include "base/bytes.h"
#include "conform/gpu/norm_stats.h"
#include "conform/values.h"

namespace tern::conform {

// The rows of a batch, padded with further rows to a multiple of `columns`.
struct RowsAndMore {
  RowsAndMore(int n, int cols, uint32_t columns, uint32_t n_parts)
      : x(random(padded(n, columns) * static_cast<size_t>(cols), 1)), gain(random(static_cast<size_t>(cols), 2)) {
    stats = stats_of(x, gain, n_parts);
  }
  static size_t padded(int n, uint32_t columns) { return ceil_div(static_cast<uint32_t>(n), columns) * columns; }
  std::vector<float> x, gain, stats;
};

inline std::vector<uint32_t> leading_bits(const std::vector<float>& values, size_t count) {
  std::vector<uint32_t> bits;
  for (size_t i = 0; i < count; ++i) bits.push_back(std::bit_cast<uint32_t>(values[i]));
  return bits;
}

}  // namespace tern::conform
