// Rows of unpacked codes × several tokens: Σ code·q, exact in int32. Included once per instruction set.
//
// A panel of kPanelRows rows is unpacked to bytes once and then multiplied with all tokens of a batch. Its codes lie in
// words of four columns, with the rows side by side: [cols / 4][kPanelRows][4]. So a vector holds four columns of as
// many rows as it has words, each of its words is multiplied with the same four activations of a token, and no sums
// across lanes are needed. Columns are handled in chunks whose codes stay in the first-level cache for all tokens.
#if defined(TERN_BACKEND_CPU_CODE_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_CODE_TILES_INL_H_
#undef TERN_BACKEND_CPU_CODE_TILES_INL_H_
#else
#define TERN_BACKEND_CPU_CODE_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "backend/cpu/linear/code_panel.h"
#include "backend/cpu/linear/dot_bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A tile's vectors of rows and tokens: as many sums as fit the registers beside the codes and one token's activations.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
inline constexpr int kTileVectors = 2, kTileTokens = 12;  // 32 registers
#elif HWY_ARCH_ARM_A64
inline constexpr int kTileVectors = 4, kTileTokens = 6;  // 32 registers
#else
inline constexpr int kTileVectors = 2, kTileTokens = 6;  // 16 registers
#endif
inline constexpr size_t kTileRows = kTileVectors * kVectorBytes / 4;
static_assert(kPanelRows % kTileRows == 0);

// Columns per chunk. Pairs of products fit 16 bits for 64 steps of four columns (64 · 2 · 128 · 2 gives at least
// −32,768); sums of four products are in 32 bits.
template <class Dot>
inline constexpr size_t kChunk = Dot::kQuads ? 1024 : 256;

// sums[t · kPanelRows + r] += Σ code·q over `cols` columns, for the rows of kTileVectors vectors and T tokens, whose
// activations are at q + t·stride. The loops over sums are unrolled, because otherwise GCC keeps the array in memory.
template <class Dot, int T>
HWY_INLINE void DotTile(const uint8_t* codes, const int8_t* q, size_t stride, size_t cols, int32_t* sums) {
  const DU8 d;
  const DI32 di32;
  const size_t lanes = hn::Lanes(di32);
  typename Dot::Sum acc[T][kTileVectors];
#pragma GCC unroll 12
  for (int t = 0; t < T; ++t) {
#pragma GCC unroll 12
    for (int v = 0; v < kTileVectors; ++v) acc[t][v] = Dot::zero();
  }
  for (size_t i = 0; i < cols; i += 4) {
    VU8 c[kTileVectors];
#pragma GCC unroll 12
    for (int v = 0; v < kTileVectors; ++v) {
      c[v] = hn::LoadU(d, codes + i * kPanelRows + static_cast<size_t>(v) * kVectorBytes);
    }
#pragma GCC unroll 12
    for (int t = 0; t < T; ++t) {
      int32_t four;
      std::memcpy(&four, q + static_cast<size_t>(t) * stride + i, sizeof(four));
      const VI8 x = hn::BitCast(DI8(), hn::Set(di32, four));
#pragma GCC unroll 12
      for (int v = 0; v < kTileVectors; ++v) acc[t][v] = Dot::add(c[v], x, acc[t][v]);
    }
  }
#pragma GCC unroll 12
  for (int t = 0; t < T; ++t) {
#pragma GCC unroll 12
    for (int v = 0; v < kTileVectors; ++v) {
      int32_t* const at = sums + t * kPanelRows + static_cast<size_t>(v) * lanes;
      hn::StoreU(hn::Add(hn::LoadU(di32, at), Dot::widen(acc[t][v])), di32, at);
    }
  }
}

template <class Dot, int T>
HWY_INLINE void DotRows(const uint8_t* codes, const int8_t* q, size_t stride, size_t cols, int32_t* sums) {
  for (size_t r = 0; r < kPanelRows; r += kTileRows) DotTile<Dot, T>(codes + 4 * r, q, stride, cols, sums + r);
}

// Sets sums[t · kPanelRows + r] = Σ code·q for a panel's rows and n tokens over cols, a multiple of 4.
template <class Dot>
HWY_NOINLINE void DotPanel(const uint8_t* codes, const int8_t* q, size_t n, size_t cols, int32_t* sums) {
  std::fill_n(sums, n * kPanelRows, 0);
  for (size_t from = 0; from < cols; from += kChunk<Dot>) {
    const size_t n_cols = std::min(kChunk<Dot>, cols - from);
    const uint8_t* const c = codes + from * kPanelRows;
    size_t t = 0;
    const auto run = [&]<int T>() HWY_ATTR {
      for (; t + T <= n; t += T) DotRows<Dot, T>(c, q + t * cols + from, cols, n_cols, sums + t * kPanelRows);
    };
    run.template operator()<kTileTokens>();
    run.template operator()<kTileTokens / 3>();
    run.template operator()<1>();
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
