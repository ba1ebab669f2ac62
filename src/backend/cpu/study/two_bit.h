// Rows of two-bit codes in the engine's layout: I2_S blocks (quant/formats/i2_s.h), rows padded with zeros to whole
// blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backend/cpu/study/study.h"
#include "quant/formats/i2_s.h"

namespace tern::cpu::study {

// The columns including the padding of the last block.
inline int64_t two_bit_cols(int64_t cols) { return (cols + kI2sBlock - 1) / kI2sBlock * kI2sBlock; }
inline int64_t two_bit_row_bytes(int64_t cols) { return two_bit_cols(cols) / 4; }
inline uint64_t two_bit_bytes(int64_t rows, int64_t cols) {
  return static_cast<uint64_t>(rows) * static_cast<uint64_t>(two_bit_row_bytes(cols));
}

inline void pack_two_bit(const Codes& codes, MutableBytes out) {
  const auto row_bytes = static_cast<size_t>(two_bit_row_bytes(codes.cols));
  std::vector<int8_t> padded(4 * row_bytes, 0);
  for (int r = 0; r < codes.rows; ++r) {
    std::ranges::copy(codes.row(r), padded.begin());
    encode_i2_s_codes(padded, out.subspan(static_cast<size_t>(r) * row_bytes, row_bytes));
  }
}

inline constexpr Packing kTwoBit = {"2-bit", two_bit_bytes, pack_two_bit};

}  // namespace tern::cpu::study
