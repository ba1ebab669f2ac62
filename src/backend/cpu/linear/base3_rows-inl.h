// Rows in base 3 (base3.h): Σ code·q of one row and one token, and rows as panels. Included once per instruction set.
#if defined(TERN_BACKEND_CPU_BASE3_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_BASE3_ROWS_INL_H_
#undef TERN_BACKEND_CPU_BASE3_ROWS_INL_H_
#else
#define TERN_BACKEND_CPU_BASE3_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "backend/cpu/linear/base3.h"
#include "backend/cpu/linear/dot_bytes-inl.h"
#include "backend/cpu/linear/transpose_words-inl.h"
#include "backend/cpu/ops/fetch_ahead.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The low bytes of 16-bit lanes below 256 as one vector: each 16 bytes are eight of `a`, then eight of `b`, as in x86's
// pack instruction. Vectors of other machines have 16 bytes.
HWY_INLINE VU8 PackBytes(VU16 a, VU16 b) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return VU8{_mm512_packus_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  return VU8{_mm256_packus_epi16(a.raw, b.raw)};
#elif HWY_TARGET <= HWY_SSE2 && HWY_ARCH_X86
  return VU8{_mm_packus_epi16(a.raw, b.raw)};
#else
  const DU8 d;
  return hn::ConcatEven(d, hn::BitCast(d, b), hn::BitCast(d, a));
#endif
}

// The digits of the pairs 0 … 8, looked up by a byte shuffle.
alignas(16) inline constexpr uint8_t kFirstDigit[16] = {0, 0, 0, 1, 1, 1, 2, 2, 2};
alignas(16) inline constexpr uint8_t kSecondDigit[16] = {0, 1, 2, 0, 1, 2, 0, 1, 2};

struct Base3Rows {
  static constexpr size_t kWordsPerVector = kVectorBytes / 2;
  static constexpr size_t kStep = 2 * kWordsPerVector;  // words per step: two vectors

  static size_t row_bytes(size_t cols) { return base3_row_bytes(cols); }

  static size_t arranged_bytes(size_t cols) { return (base3_words(cols) + kStep - 1) / kStep * kStep * kBase3Digits; }

  // Stores the activations of one token in the order in which dot() reads them: for every step, the activations of
  // digit 0, digit 1 and so on, in the order of PackBytes; 0 beyond the row's end.
  static void arrange(const int8_t* q, size_t cols, int8_t* out) {
    const size_t words = base3_words(cols);
    for (size_t step = 0; step < words; step += kStep) {
      for (size_t digit = 0; digit < kBase3Digits; ++digit) {
        for (size_t i = 0; i < kStep; i += 8, out += 8) {
          const size_t word = step + i / 16 * 8 + (i % 16 == 0 ? 0 : kWordsPerVector);
          const size_t column = digit * words + word;
          const size_t n = word < words && column < cols ? std::min<size_t>(8, cols - column) : 0;
          std::memset(out, 0, 8);
          std::memcpy(out, q + column, n);
        }
      }
    }
  }

  static constexpr int kMostTokens = 1;

  // One row at a time: unpacking takes too many registers for two.
  template <class Dot>
  static constexpr int kRows = 1;

  template <class Dot>
  static HWY_INLINE int32_t dot(const uint8_t* row, const int8_t* q, size_t cols, FetchAhead ahead) {
    const auto* words = reinterpret_cast<const uint16_t*>(row);
    const DU16 d;
    const VU8 digits[2] = {hn::LoadDup128(DU8(), kFirstDigit), hn::LoadDup128(DU8(), kSecondDigit)};
    const size_t n_words = base3_words(cols);
    VI32 total = hn::Zero(DI32());
    size_t word = 0;
    while (word + kStep <= n_words) {
      // Twelve steps of pairs stay within 16 bits: 12 · 5 · 512 = 30,720.
      const size_t end = Dot::kQuads ? n_words : std::min(n_words, word + 12 * kStep);
      typename Dot::Sum first = Dot::zero(), second = Dot::zero();
      for (; word + kStep <= end; word += kStep, q += kBase3Digits * kVectorBytes) {
        for (size_t i = 0; i < 2 * kVectorBytes; i += kCacheLine) fetch_ahead(row + word * 2 + i, ahead);
        add_step<Dot>(hn::LoadU(d, words + word), hn::LoadU(d, words + word + kWordsPerVector), digits, q, first,
                      second);
      }
      total = hn::Add(total, hn::Add(Dot::widen(first), Dot::widen(second)));
    }
    if (word < n_words) {  // one vector is left of a 512-bit pair
      typename Dot::Sum first = Dot::zero(), second = Dot::zero();
      add_step<Dot>(hn::LoadU(d, words + word), hn::Zero(d), digits, q, first, second);
      total = hn::Add(total, hn::Add(Dot::widen(first), Dot::widen(second)));
    }
    return hn::ReduceSum(DI32(), total);
  }

  // Unpacks kPanelRows rows to a panel (code_panel.h): first each row's codes to bytes, then those to words. `spare`
  // must have spare_bytes() bytes.
  static size_t spare_bytes(size_t cols) { return kPanelRows * decoded_bytes(cols); }
  static void make_panel(const uint8_t* rows, size_t cols, uint8_t* panel, uint8_t* spare) {
    for (size_t r = 0; r < kPanelRows; ++r) {
      decode(rows + r * base3_row_bytes(cols), cols, spare + r * decoded_bytes(cols));
    }
    TransposeWords(spare, decoded_bytes(cols), cols, panel);
  }

 private:
  static size_t decoded_bytes(size_t cols) { return base3_words(cols) * kBase3Digits; }
  static void decode(const uint8_t* row, size_t cols, uint8_t* out) {
    const auto* words = reinterpret_cast<const uint16_t*>(row);
    const hn::Half<DU8> dh;
    const DU16 d;
    const hn::CappedTag<uint8_t, std::max<size_t>(16, kVectorBytes / 2)> table;  // whole, even if dh has only 8 bytes
    const auto first = hn::LoadDup128(table, kFirstDigit), second = hn::LoadDup128(table, kSecondDigit);
    const VU16 nine = hn::Set(d, 9);
    const size_t n_words = base3_words(cols);
    for (size_t word = 0; word < n_words; word += kWordsPerVector) {
      VU16 x = hn::LoadU(d, words + word);
      for (size_t pair = 0; pair < kBase3Digits / 2; ++pair) {
        const auto codes = hn::TruncateTo(dh, hn::MulHigh(x, nine));
        hn::StoreU(hn::TableLookupBytes(first, codes), dh, out + 2 * pair * n_words + word);
        hn::StoreU(hn::TableLookupBytes(second, codes), dh, out + (2 * pair + 1) * n_words + word);
        x = hn::Mul(x, nine);
      }
    }
  }

  // Adds two vectors of words: ten runs of codes.
  template <class Dot>
  static HWY_INLINE void add_step(VU16 a, VU16 b, const VU8 (&digits)[2], const int8_t* q, typename Dot::Sum& first,
                                  typename Dot::Sum& second) {
    const DI8 di8;
    const VU16 nine = hn::Set(DU16(), 9);
    for (size_t pair = 0; pair < kBase3Digits / 2; ++pair, q += 2 * kVectorBytes) {
      const VU8 pairs = PackBytes(hn::MulHigh(a, nine), hn::MulHigh(b, nine));
      first = Dot::add(hn::TableLookupBytes(digits[0], pairs), hn::LoadU(di8, q), first);
      second = Dot::add(hn::TableLookupBytes(digits[1], pairs), hn::LoadU(di8, q + kVectorBytes), second);
      if (pair + 1 < kBase3Digits / 2) {
        a = hn::Mul(a, nine);
        // The same as Mul, but leaves the multiplication ports free.
        b = hn::Add(hn::ShiftLeft<3>(b), b);
      }
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
