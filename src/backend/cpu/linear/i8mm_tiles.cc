#include "backend/cpu/linear/i8mm_tiles.h"

#include "backend/cpu/linear/code_panel.h"
#include "base/check.h"

#if defined(__aarch64__)
#include <arm_neon.h>

namespace tern::cpu {
namespace {

#define TERN_I8MM __attribute__((target("+i8mm")))

constexpr size_t kTileRows = 8;                // 4 pairs
constexpr size_t kWordBytes = 4 * kPanelRows;  // of the panel: four columns of all rows
constexpr size_t kTileTokens = 8;              // 4 pairs: 16 sums of 2 × 2, in half of the registers
static_assert(kPanelRows % kTileRows == 0);

struct Rows {
  int8x16_t pairs[kTileRows / 2];  // 8 columns of one row, then of the next
};

// Eight columns of kTileRows rows. A panel has words of four columns, with the rows side by side.
TERN_I8MM inline Rows load_rows(const uint8_t* panel) {
  Rows rows;
  for (size_t half = 0; half < 2; ++half) {
    const uint32x4_t first = vreinterpretq_u32_u8(vld1q_u8(panel + 16 * half));
    const uint32x4_t next = vreinterpretq_u32_u8(vld1q_u8(panel + kWordBytes + 16 * half));
    rows.pairs[2 * half] = vreinterpretq_s8_u32(vzip1q_u32(first, next));
    rows.pairs[2 * half + 1] = vreinterpretq_s8_u32(vzip2q_u32(first, next));
  }
  return rows;
}

// Multiplies kTileRows rows with kPairs pairs of tokens. kLastIsAlone: the last pair's second token does not exist.
template <size_t kPairs, bool kLastIsAlone>
TERN_I8MM void multiply(const uint8_t* panel, const int8_t* q, size_t cols, int32_t* sums) {
  int32x4_t acc[kPairs][kTileRows / 2];
  for (auto& pair : acc) {
    for (int32x4_t& sum : pair) sum = vdupq_n_s32(0);
  }
  for (size_t i = 0; i < cols; i += kI8mmColumns, panel += 2 * kWordBytes) {
    const Rows rows = load_rows(panel);
    for (size_t t = 0; t < kPairs; ++t) {
      const int8_t* const at = q + 2 * t * cols + i;
      const int8x8_t second = kLastIsAlone && t + 1 == kPairs ? vdup_n_s8(0) : vld1_s8(at + cols);
      const int8x16_t tokens = vcombine_s8(vld1_s8(at), second);
      for (size_t r = 0; r < kTileRows / 2; ++r) acc[t][r] = vmmlaq_s32(acc[t][r], tokens, rows.pairs[r]);
    }
  }
  // A sum has two rows of the first token, then of the second.
  for (size_t t = 0; t < kPairs; ++t) {
    for (size_t r = 0; r < kTileRows / 2; ++r) {
      int32_t* const at = sums + 2 * t * kPanelRows + 2 * r;
      vst1_s32(at, vget_low_s32(acc[t][r]));
      if (!kLastIsAlone || t + 1 < kPairs) vst1_s32(at + kPanelRows, vget_high_s32(acc[t][r]));
    }
  }
}

template <size_t kPairs, bool kLastIsAlone = false>
TERN_I8MM void multiply_all_rows(const uint8_t* panel, const int8_t* q, size_t cols, int32_t* sums) {
  for (size_t r = 0; r < kPanelRows; r += kTileRows) {
    multiply<kPairs, kLastIsAlone>(panel + 4 * r, q, cols, sums + r);
  }
}

}  // namespace

TERN_I8MM void i8mm_panel(const uint8_t* panel, const int8_t* q, size_t n, size_t cols, int32_t* sums) {
  size_t t = 0;
  for (; t + kTileTokens <= n; t += kTileTokens) {
    multiply_all_rows<kTileTokens / 2>(panel, q + t * cols, cols, sums + t * kPanelRows);
  }
  for (; t + 2 <= n; t += 2) multiply_all_rows<1>(panel, q + t * cols, cols, sums + t * kPanelRows);
  if (t < n) multiply_all_rows<1, true>(panel, q + t * cols, cols, sums + t * kPanelRows);
}

}  // namespace tern::cpu

#else

namespace tern::cpu {

void i8mm_panel(const uint8_t*, const int8_t*, size_t, size_t, int32_t*) { CHECK(false); }

}  // namespace tern::cpu

#endif
