// The layout of tmac_int8.cc: tiles of 64 rows, each with 64 bytes for every four columns.
#pragma once

#include <cstdint>

#include "backend/cpu/study/study.h"

namespace tern::cpu::study {

inline constexpr int kTileRows = 64;
inline constexpr int kMostPairSum = 254;    // of two activations, each at most ±127
inline constexpr size_t kGroupTables = 64;  // bytes of tables for four columns: two pairs, each with low and high parts

inline int64_t tmac_groups(int64_t cols) { return (cols + 3) / 4; }
inline uint64_t tmac_bytes(int64_t rows, int64_t cols) {
  return static_cast<uint64_t>((rows + kTileRows - 1) / kTileRows * kTileRows) *
         static_cast<uint64_t>(tmac_groups(cols));
}

// Packs `codes`. Rows and columns beyond the matrix are zero weights, code 1.
inline void pack_tmac(const Codes& codes, MutableBytes out) {
  constexpr int kZeros = 0b01010101;
  const auto n_groups = static_cast<size_t>(tmac_groups(codes.cols));
  std::ranges::fill(out, static_cast<std::byte>(kZeros));
  for (int r = 0; r < codes.rows; ++r) {
    const auto row = codes.row(r);
    const size_t tile = static_cast<size_t>(r / kTileRows) * n_groups * kTileRows;
    for (size_t g = 0; g < n_groups; ++g) {
      int byte = kZeros;
      for (size_t k = 0; k < 4 && 4 * g + k < row.size(); ++k) byte += row[4 * g + k] * (1 << (2 * k));
      out[tile + g * kTileRows + static_cast<size_t>(r % kTileRows)] = static_cast<std::byte>(byte);
    }
  }
}

}  // namespace tern::cpu::study
