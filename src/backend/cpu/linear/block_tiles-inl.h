// The code that formats of one kind share (struct Tiles of block_job-inl.h): activations in the order of a format's
// steps, and tiles of unpacked rows × tokens. Included once per instruction set, only by block_linear.cc.
#if defined(TERN_BACKEND_CPU_BLOCK_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_BLOCK_TILES_INL_H_
#undef TERN_BACKEND_CPU_BLOCK_TILES_INL_H_
#else
#define TERN_BACKEND_CPU_BLOCK_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backend/cpu/linear/block_job-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace block {

// Puts the 32 activations of a run into the order of the format's steps.
HWY_INLINE void Permute(const int8_t* q, const StepOrder& order, uint8_t* out) {
  const hn::FixedTag<uint8_t, 16> d;
  const auto low = hn::LoadU(d, reinterpret_cast<const uint8_t*>(q));
  const auto high = hn::LoadU(d, reinterpret_cast<const uint8_t*>(q) + 16);
  for (int half = 0; half < kRun; half += 16) {
    const auto a = hn::TableLookupBytesOr0(low, hn::LoadU(d, order.from[0] + half));
    const auto b = hn::TableLookupBytesOr0(high, hn::LoadU(d, order.from[1] + half));
    hn::StoreU(hn::Or(a, b), d, out + half);
  }
}

template <int kLargest, bool kHalfScales, int kMins>
void Tiles<kLargest, kHalfScales, kMins>::arrange(const ops::BlockRows& in, int n, size_t cols, const StepOrder& order,
                                                  int zero, uint8_t* out) {
  using D = Dot<kLargest>;
  constexpr size_t kBytes = kActivationBytes<kLargest, kHalfScales, kMins>;
  constexpr size_t kStep = kStepBytes<kLargest>, kAfter = kAfterSteps<kLargest>;
  const size_t runs = cols / kRun;
  int8_t permuted[kRun];
  for (size_t t = 0; t < static_cast<size_t>(n); ++t, out += Groups(cols) * kBytes) {
    const size_t row = in.row(t);
    if (cols % kGroup != 0) std::memset(out + cols / kGroup * kBytes, 0, kBytes);
    for (size_t run = 0; run < runs; ++run) {
      uint8_t* const lane = out + run / kLanes * kBytes + run % kLanes * 4;
      const int8_t* q = in.q + row * cols + run * kRun;
      Permute(q, order, reinterpret_cast<uint8_t*>(permuted));
      for (size_t step = 0; step < kSteps; ++step) D::put(permuted + 4 * step, lane + step * kStep);
      std::memcpy(lane + kAfter, in.scale + row * runs + run, 4);
      const int32_t sum = in.sum[row * runs + run];
      int32_t init[2] = {-D::excess(permuted, kRun, zero, sum), 0};
      int32_t first = 0;
      if constexpr (kHalfScales || kMins == 2) {
        for (size_t i = 0; i < kRun / 2; ++i) first += q[i];
      }
      if constexpr (kHalfScales) {
        init[1] = init[0] + zero * first;
        init[0] = -zero * first;
        std::memcpy(lane + kAfter + 2 * kVectorBytes, init + 1, 4);
      }
      std::memcpy(lane + kAfter + kVectorBytes, init, 4);
      for (size_t part = 0; part < kMins; ++part) {
        const int32_t of_part = kMins == 1 ? sum : part == 0 ? first : sum - first;
        const float x = static_cast<float>(of_part) * in.scale[row * runs + run];
        std::memcpy(lane + kSumsAt<kLargest, kHalfScales> + part * kVectorBytes, &x, 4);
      }
    }
  }
}

// Multiplies kTileRows rows of a panel with T tokens.
template <int T, int kLargest, bool kHalfScales, int kMins>
HWY_INLINE void DotTile(const uint8_t* panel, const uint8_t* activations, size_t groups, float scale,
                        float (&y)[T][kTileRows]) {
  using D = Dot<kLargest>;
  constexpr int kDots = kHalfScales ? 2 : 1;  // per group
  constexpr size_t kA = kActivationBytes<kLargest, kHalfScales, kMins>, kW = kPanelBytes<kHalfScales, kMins>;
  constexpr size_t kStep = kStepBytes<kLargest>, kAfter = kAfterSteps<kLargest>;
  VF32 sums[T][kTileRows];
  for (auto& token : sums) {
    for (VF32& sum : token) sum = hn::Zero(DF32());
  }
  for (size_t g = 0; g < groups; ++g) {
    const auto a = [&](size_t t, size_t byte) { return activations + (t * groups + g) * kA + byte; };
    const auto init = [&](size_t t, size_t part) { return LoadInts(a(t, kAfter + (1 + part) * kVectorBytes)); };
    const auto w = [&](size_t r, size_t vector) { return panel + (r * groups + g) * kW + vector * kVectorBytes; };
    VI32 dots[T][kTileRows];
    for (size_t part = 0; part < kDots; ++part) {
      typename D::Sum acc[T][kTileRows];
      for (size_t t = 0; t < T; ++t) {
        for (size_t r = 0; r < kTileRows; ++r) acc[t][r] = D::start(init(t, part));
      }
#if HWY_COMPILER_GCC_ACTUAL  // in a loop, it copies every sum in every round
#pragma GCC unroll 8
#endif
      for (size_t step = part * kSteps / kDots; step < (part + 1) * kSteps / kDots; ++step) {
        VU8 codes[kTileRows];
        for (size_t r = 0; r < kTileRows; ++r) codes[r] = hn::Load(DU8(), w(r, step));
        for (size_t t = 0; t < T; ++t) {
          const auto q = D::load(a(t, step * kStep));
          for (size_t r = 0; r < kTileRows; ++r) acc[t][r] = D::add(codes[r], q, acc[t][r]);
        }
      }
      for (size_t t = 0; t < T; ++t) {
        for (size_t r = 0; r < kTileRows; ++r) {
          VI32 dot = D::total(acc[t][r], init(t, part));
          if constexpr (kHalfScales) dot = hn::Mul(dot, LoadInts(w(r, kSteps + 1 + part)));
          dots[t][r] = part == 0 ? dot : hn::Add(dots[t][r], dot);
        }
      }
    }
    for (size_t t = 0; t < T; ++t) {
      for (size_t r = 0; r < kTileRows; ++r) {
        const VF32 both = hn::Mul(LoadFloat32s(w(r, kSteps)), LoadFloat32s(a(t, kAfter)));
        sums[t][r] = hn::MulAdd(hn::ConvertTo(DF32(), dots[t][r]), both, sums[t][r]);
        sums[t][r] = TakeMins<kMins>(
            sums[t][r],
            [&]<int P>(std::integral_constant<int, P>)
                HWY_ATTR { return LoadFloat32s(w(r, kSteps + (kHalfScales ? 3 : 1) + P)); },
            a(t, kSumsAt<kLargest, kHalfScales>));
      }
    }
  }
  for (size_t t = 0; t < T; ++t) SumLanes(sums[t], scale, y[t]);
}

// Each tile is stored at once: collecting the tiles of a panel first would cost prompts up to 10 %.
template <int T, int kLargest, bool kHalfScales, int kMins>
HWY_INLINE void TilesOfRows(const uint8_t* panel, const uint8_t* activations, size_t groups, float scale,
                            const Destination& to) {
  for (int r = 0; r < to.n_rows; r += kTileRows) {
    float y[T][kTileRows];
    const uint8_t* const rows = panel + static_cast<size_t>(r) * groups * kPanelBytes<kHalfScales, kMins>;
    DotTile<T, kLargest, kHalfScales, kMins>(rows, activations, groups, scale, y);
    PutTile(*to.results, y, to.token, to.row + r, std::min(kTileRows, to.n_rows - r));
  }
}

template <int kLargest, bool kHalfScales, int kMins>
void Tiles<kLargest, kHalfScales, kMins>::tiles(const uint8_t* panel, const uint8_t* activations, size_t groups,
                                                float scale, const Destination& to) {
  TilesOfRows<kTileTokens, kLargest, kHalfScales, kMins>(panel, activations, groups, scale, to);
}
template <int kLargest, bool kHalfScales, int kMins>
void Tiles<kLargest, kHalfScales, kMins>::tiles_of_one(const uint8_t* panel, const uint8_t* activations, size_t groups,
                                                       float scale, const Destination& to) {
  TilesOfRows<1, kLargest, kHalfScales, kMins>(panel, activations, groups, scale, to);
}

// One instantiation per kind of format. A format of any other kind does not link.
template struct Tiles<255, false, 0>;  // Q8_0, IQ4_NL, IQ4_XS; if there is a dot product of four bytes, all formats
#if HWY_TARGET <= HWY_AVX3_DL && HWY_ARCH_X86
template struct Tiles<255, true, 0>;
template struct Tiles<255, false, 1>;
template struct Tiles<255, true, 2>;
#else
template struct Tiles<15, false, 0>;  // Q1_0, Q2_0, TQ2_0, Q4_0
template struct Tiles<15, true, 0>;   // Q3_K
template struct Tiles<15, false, 1>;  // Q4_1, Q4_K
template struct Tiles<15, true, 2>;   // Q2_K
template struct Tiles<31, false, 0>;  // Q5_0
template struct Tiles<31, false, 1>;  // Q5_1, Q5_K
template struct Tiles<63, true, 0>;   // Q6_K
#endif

}  // namespace block
}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
