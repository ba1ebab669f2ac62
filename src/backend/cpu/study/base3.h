// Rows of ternary weights in base 3, five to a byte: 1.6 bits per weight. The minimum is log2(3) = 1.585.
//
// A byte is the plain number v = t0 + 3·t1 + 9·t2 + 27·t3 + 81·t4 ≤ 242 of the digits t = w + 1. With B = cols / 5
// bytes per row, rounded up, digit k of byte m is column k·B + m. A vector of bytes is multiplied with five runs of
// consecutive activations, one per digit, B apart in x. Columns beyond the row's end are zero weights (digit 1).
//
// Rows follow each other without gaps, and the last one is followed by 64 bytes, so that a kernel may load whole
// vectors past the end of any row. Those bytes are multiplied with activations that are 0.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/study/study.h"

namespace tern::cpu::study {

inline constexpr int kTrits = 5;
inline constexpr int kBase3Values = 243;
inline constexpr uint64_t kBase3Slack = 64;

inline int64_t base3_row_bytes(int64_t cols) { return (cols + kTrits - 1) / kTrits; }
inline uint64_t base3_bytes(int64_t rows, int64_t cols) {
  return static_cast<uint64_t>(rows) * static_cast<uint64_t>(base3_row_bytes(cols)) + kBase3Slack;
}

// v / 3 for a byte v: 171/512 is 1/3 + 1/1536, too close to 1/3 for any v below 512 to reach the next integer.
constexpr uint32_t third(uint32_t v) { return (v * 171) >> 9; }

constexpr bool third_is_exact() {
  for (uint32_t v = 0; v < 256; ++v) {
    if (third(v) != v / 3) return false;
  }
  return true;
}
static_assert(third_is_exact());

inline void pack_base3(const Codes& codes, MutableBytes out) {
  const auto row_bytes = static_cast<size_t>(base3_row_bytes(codes.cols));
  std::vector<int8_t> padded(kTrits * row_bytes, 0);
  for (int r = 0; r < codes.rows; ++r) {
    std::ranges::copy(codes.row(r), padded.begin());
    for (size_t m = 0; m < row_bytes; ++m) {
      int v = 0;
      for (size_t k = kTrits; k-- > 0;) v = 3 * v + padded[k * row_bytes + m] + 1;
      out[static_cast<size_t>(r) * row_bytes + m] = static_cast<std::byte>(v);
    }
  }
}

inline constexpr Packing kBase3 = {"base-3", base3_bytes, pack_base3};

}  // namespace tern::cpu::study
