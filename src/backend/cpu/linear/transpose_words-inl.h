// Transposes rows of bytes to words of four columns, with the rows side by side, as in panels (code_panel.h). Included
// once per instruction set.
#if defined(TERN_BACKEND_CPU_TRANSPOSE_WORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_TRANSPOSE_WORDS_INL_H_
#undef TERN_BACKEND_CPU_TRANSPOSE_WORDS_INL_H_
#else
#define TERN_BACKEND_CPU_TRANSPOSE_WORDS_INL_H_
#endif

#include <hwy/highway.h>

#include "backend/cpu/linear/code_panel.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Stores the first `width` bytes (a multiple of 16) of each row of [kPanelRows, stride] as words of four bytes, with
// the rows side by side: [width / 4][kPanelRows][4].
HWY_NOINLINE inline void TransposeWords(const uint8_t* rows, size_t stride, size_t width, uint8_t* words) {
  const hn::Full128<uint32_t> d;
  const hn::Full128<uint64_t> d64;
  const auto load = [&](const uint8_t* at) HWY_ATTR { return hn::BitCast(d, hn::LoadU(hn::Full128<uint8_t>(), at)); };
  const auto wide = [&](auto v) HWY_ATTR { return hn::BitCast(d64, v); };
  // Transposes four rows × four words at a time.
  for (size_t i = 0; i < width; i += 16) {
    for (size_t r = 0; r < kPanelRows; r += 4) {
      const uint8_t* const from = rows + r * stride + i;
      const auto a = load(from), b = load(from + stride), c = load(from + 2 * stride), e = load(from + 3 * stride);
      const auto ab0 = wide(hn::InterleaveLower(d, a, b)), ab1 = wide(hn::InterleaveUpper(d, a, b));
      const auto ce0 = wide(hn::InterleaveLower(d, c, e)), ce1 = wide(hn::InterleaveUpper(d, c, e));
      const auto put = [&](size_t word, auto v) HWY_ATTR {
        hn::StoreU(hn::BitCast(hn::Full128<uint8_t>(), v), hn::Full128<uint8_t>(),
                   words + (i + 4 * word) * kPanelRows + 4 * r);
      };
      put(0, hn::InterleaveLower(d64, ab0, ce0));
      put(1, hn::InterleaveUpper(d64, ab0, ce0));
      put(2, hn::InterleaveLower(d64, ab1, ce1));
      put(3, hn::InterleaveUpper(d64, ab1, ce1));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
