// Shared code of the two float look-up kernels. A byte of codes is the index into a table of 256 partial sums. There is
// one table for each byte position of a row, made once per product.
//
// A table is 1 KB, so the tables of a whole row do not fit a cache. Positions are handled in chunks whose tables stay
// in the second-level cache while all rows of a range pass. The cost per weight is a fourth or a fifth of a load that
// misses the first-level cache; these loads are the bottleneck.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "backend/cpu/study/kernel_rows.h"

namespace tern::cpu::study {

inline constexpr size_t kTableFloats = 256;
inline constexpr size_t kChunkBytes = 256;  // positions in a chunk: 256 KB of tables

// Σ tables[m][codes[m]] over n positions, in four independent sums.
inline float look_up(const float* tables, const uint8_t* codes, size_t n) {
  float sum[4] = {};
  size_t m = 0;
  for (; m + 4 <= n; m += 4, tables += 4 * kTableFloats) {
    sum[0] += tables[codes[m]];
    sum[1] += tables[kTableFloats + codes[m + 1]];
    sum[2] += tables[2 * kTableFloats + codes[m + 2]];
    sum[3] += tables[3 * kTableFloats + codes[m + 3]];
  }
  for (; m < n; ++m, tables += kTableFloats) sum[0] += tables[codes[m]];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Computes this worker's rows of y, from tables for all `row_bytes` positions.
inline void multiply_by_tables(const Packed& w, size_t row_bytes, const float* tables, WorkQueue& queue, float* y) {
  queue.for_ranges(w.rows, kRowGrain, [&](int begin, int end) {
    std::fill(y + begin, y + end, 0.0f);
    for (size_t chunk = 0; chunk < row_bytes; chunk += kChunkBytes) {
      const size_t n = std::min(kChunkBytes, row_bytes - chunk);
      for (int row = begin; row < end; ++row) {
        const uint8_t* codes = w.bytes() + static_cast<size_t>(row) * row_bytes + chunk;
        y[row] += look_up(tables + chunk * kTableFloats, codes, n);
      }
    }
    for (int row = begin; row < end; ++row) y[row] *= w.scale;
  });
}

// Bound on the roundings of a result: the table's entry, one of the four sums and their total in a chunk, the sum of
// chunks, the scale.
inline double table_roundings(int64_t row_bytes, int per_entry) {
  const double chain = static_cast<double>(std::min<int64_t>(row_bytes, kChunkBytes)) / 4 + 4;
  return per_entry + chain + 3 + static_cast<double>(row_bytes) / static_cast<double>(kChunkBytes) + 1;
}

}  // namespace tern::cpu::study
