// The loops under block_linear.cc: activations put in order, dot products of groups, rows and tiles. Included once per
// instruction set. Vectors and formats: block_formats-inl.h.
#if defined(TERN_BACKEND_CPU_BLOCK_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_BLOCK_KERNELS_INL_H_
#undef TERN_BACKEND_CPU_BLOCK_KERNELS_INL_H_
#else
#define TERN_BACKEND_CPU_BLOCK_KERNELS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backend/cpu/block_formats-inl.h"
#include "backend/cpu/fetch_ahead.h"
#include "backend/cpu/interleaved_formats-inl.h"
#include "backend/cpu/load_floats-inl.h"
#include "backend/cpu/wasm_dot-inl.h"
#include "backend/ops.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace block {

#if HWY_TARGET <= HWY_AVX3_DL && HWY_ARCH_X86
inline constexpr bool kHasDot4 = true;  // vpdpbusd
#else
inline constexpr bool kHasDot4 = false;
#endif

// A tile's sums and operands, as many as the registers hold.
inline constexpr int kTileRows = 4;
#if (HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86) || HWY_ARCH_ARM_A64
inline constexpr int kTileTokens = 4;  // 32 registers
#else
inline constexpr int kTileTokens = 2;
#endif

HWY_INLINE VI8 LoadBytes(const uint8_t* at) { return hn::BitCast(DI8(), hn::Load(DU8(), at)); }
HWY_INLINE VI32 LoadInts(const uint8_t* at) { return hn::Load(DI32(), reinterpret_cast<const int32_t*>(at)); }
HWY_INLINE VF32 LoadFloat32s(const uint8_t* at) { return hn::Load(DF32(), reinterpret_cast<const float*>(at)); }

#if HWY_TARGET == HWY_WASM
template <int kLargest>
using Dot = WasmDot<kLargest>;
#else
// Products of four bytes with codes up to kLargest, summed up over `kSteps` steps. Without an instruction for it pairs
// of products are made first, which fit 16 bits up to 127; and up to 15 so do eight of them: 8·2·15·128 = 30,720.
template <int kLargest>
struct Dot {
  static constexpr size_t kVectors = 1;  // of activations in a step
  static constexpr bool kIn16 = !kHasDot4 && kSteps * 2 * kLargest * 128 < 32768;
  using D = std::conditional_t<kIn16, DI16, DI32>;
  using Sum = hn::Vec<D>;
  using Operand = VI8;

  // Puts a run's four activations of one step into its lane.
  static void put(const int8_t* q, uint8_t* lane) { std::memcpy(lane, q, 4); }
  // What a run's codes exceed its weights by, times its activations, given in the order of the steps.
  static int32_t excess(const int8_t* /*q*/, size_t /*n*/, int zero, int32_t sum) { return zero * sum; }

  static HWY_INLINE Operand load(const uint8_t* at) { return LoadBytes(at); }
  static HWY_INLINE Sum start(VI32 init) {
    if constexpr (kIn16) {
      return hn::Zero(D());
    } else {
      return init;
    }
  }
  static HWY_INLINE Sum add(VU8 codes, Operand q, Sum sum) {
    if constexpr (kIn16) {
      return hn::Add(sum, hn::SatWidenMulPairwiseAdd(DI16(), codes, q));
    } else if constexpr (!kHasDot4 && 2 * kLargest * 128 < 32768) {
      const auto pairs = hn::SatWidenMulPairwiseAdd(DI16(), codes, q);
      return hn::Add(sum, hn::WidenMulPairwiseAdd(DI32(), pairs, hn::Set(DI16(), 1)));
    } else {
      return hn::SumOfMulQuadAccumulate(DI32(), codes, q, sum);
    }
  }
  // Two steps at once, where their pairs fit 16 bits together.
  static constexpr bool kTwoSteps = !kHasDot4 && !kIn16 && 4 * kLargest * 128 < 32768;
  static HWY_INLINE Sum add_two(VU8 codes0, Operand q0, VU8 codes1, Operand q1, Sum sum) {
    const DI16 d;
    const auto pairs = hn::Add(hn::SatWidenMulPairwiseAdd(d, codes0, q0), hn::SatWidenMulPairwiseAdd(d, codes1, q1));
    return hn::Add(sum, hn::WidenMulPairwiseAdd(DI32(), pairs, hn::Set(d, 1)));
  }
  static HWY_INLINE VI32 total(Sum sum, VI32 init) {
    if constexpr (kIn16) {
      return hn::Add(init, hn::WidenMulPairwiseAdd(DI32(), sum, hn::Set(DI16(), 1)));
    } else {
      return sum;
    }
  }
};
#endif

// What the tile kernel has to know of a format; fewer than there are formats.
template <class F>
inline constexpr int kLargestOf = kHasDot4            ? 255
                                  : F::kLargest <= 15 ? 15
                                                      : F::kLargest;

// The activations of one token and group: the steps' values, then d, then −zero·Σq of each run, or of each half run;
// then what mins are multiplied with, d·Σq of each run or half run.
template <int kLargest>
inline constexpr size_t kStepBytes = Dot<kLargest>::kVectors * kVectorBytes;
template <int kLargest>
inline constexpr size_t kAfterSteps = kSteps * kStepBytes<kLargest>;
template <int kLargest, bool kHalfScales>
inline constexpr size_t kSumsAt = kAfterSteps<kLargest> + (kHalfScales ? 3 : 2) * kVectorBytes;
template <int kLargest, bool kHalfScales, int kMins>
inline constexpr size_t kActivationBytes = kSumsAt<kLargest, kHalfScales> + kMins * kVectorBytes;
template <class F>
inline constexpr size_t kActivationBytesOf = kActivationBytes<kLargestOf<F>, F::kHalfScales, kMinsOf<F>>;
// A panel's row and group: the steps' codes, d, the two scales of half runs, and the mins.
template <bool kHalfScales, int kMins>
inline constexpr size_t kPanelBytes = (kSteps + (kHalfScales ? 3 : 1) + kMins) * kVectorBytes;
template <class F>
inline constexpr size_t kPanelBytesOf = kPanelBytes<F::kHalfScales, kMinsOf<F>>;
inline constexpr size_t kMostPanelBytes = kPanelBytes<true, 2>;

constexpr size_t Groups(size_t cols) { return (cols + kGroup - 1) / kGroup; }

// Puts the 32 activations of a run into the order of the format's steps.
template <class F>
HWY_INLINE void Permute(const int8_t* q, uint8_t* out) {
  struct Order {
    uint8_t from[2][kRun];  // by half of q; 0x80: from the other half, so nothing
    constexpr Order() : from() {
      for (int i = 0; i < kRun; ++i) {
        const int at = F::value(i / 4, i % 4);
        from[0][i] = static_cast<uint8_t>(at < 16 ? at : 0x80);
        from[1][i] = static_cast<uint8_t>(at < 16 ? 0x80 : at - 16);
      }
    }
  };
  static constexpr Order kOrder;
  const hn::FixedTag<uint8_t, 16> d;
  const auto low = hn::LoadU(d, reinterpret_cast<const uint8_t*>(q));
  const auto high = hn::LoadU(d, reinterpret_cast<const uint8_t*>(q) + 16);
  for (int half = 0; half < kRun; half += 16) {
    const auto a = hn::TableLookupBytesOr0(low, hn::LoadU(d, kOrder.from[0] + half));
    const auto b = hn::TableLookupBytesOr0(high, hn::LoadU(d, kOrder.from[1] + half));
    hn::StoreU(hn::Or(a, b), d, out + half);
  }
}

// Writes [n][groups] records of kActivationBytes to `out`, the runs beyond the last as zeros.
template <class F>
void Arrange(const ops::BlockRows& in, int n, size_t cols, uint8_t* out) {
  using D = Dot<kLargestOf<F>>;
  constexpr size_t kBytes = kActivationBytesOf<F>, kStep = kStepBytes<kLargestOf<F>>;
  constexpr size_t kAfter = kAfterSteps<kLargestOf<F>>;
  const size_t runs = cols / kRun;
  int8_t permuted[kRun];
  for (size_t t = 0; t < static_cast<size_t>(n); ++t, out += Groups(cols) * kBytes) {
    if (cols % kGroup != 0) std::memset(out + cols / kGroup * kBytes, 0, kBytes);
    for (size_t run = 0; run < runs; ++run) {
      uint8_t* const lane = out + run / kLanes * kBytes + run % kLanes * 4;
      const int8_t* q = in.q + t * cols + run * kRun;
      Permute<F>(q, reinterpret_cast<uint8_t*>(permuted));
      for (size_t step = 0; step < kSteps; ++step) D::put(permuted + 4 * step, lane + step * kStep);
      std::memcpy(lane + kAfter, in.scale + t * runs + run, 4);
      const int32_t sum = in.sum[t * runs + run];
      int32_t init[2] = {-D::excess(permuted, kRun, F::kZero, sum), 0};
      int32_t first = 0;
      if constexpr (F::kHalfScales || kMinsOf<F> == 2) {
        for (size_t i = 0; i < kRun / 2; ++i) first += q[i];
      }
      if constexpr (F::kHalfScales) {
        init[1] = init[0] + F::kZero * first;
        init[0] = -F::kZero * first;
        std::memcpy(lane + kAfter + 2 * kVectorBytes, init + 1, 4);
      }
      std::memcpy(lane + kAfter + kVectorBytes, init, 4);
      for (size_t part = 0; part < kMinsOf<F>; ++part) {
        const int32_t of_part = kMinsOf<F> == 1 ? sum : part == 0 ? first : sum - first;
        const float x = static_cast<float>(of_part) * in.scale[t * runs + run];
        std::memcpy(lane + kSumsAt<kLargestOf<F>, F::kHalfScales> + part * kVectorBytes, &x, 4);
      }
    }
  }
}

// The scales of one row, one per run: f16, and pairs of signed bytes.
struct RowScales {
  uint16_t* d;
  uint16_t* halves;

  RowScales row(size_t r, size_t cols) const {
    const size_t at = r * Groups(cols) * kLanes;
    return {d + at, halves + at};
  }
};

template <class F>
HWY_INLINE void GatherScales(const uint8_t* row, size_t cols, const RowScales& out) {
  if constexpr (kHasScales<F>) return;
  using Block = typename F::Block;
  constexpr size_t kRuns = F::kValues / kRun;
  for (size_t b = 0; b < cols / F::kValues; ++b) {
    const uint8_t* at = row + b * sizeof(Block);
    uint16_t d;
    std::memcpy(&d, at + offsetof(Block, d), sizeof d);
    const uint64_t four = d * 0x0001'0001'0001'0001u;
    for (size_t i = 0; i < kRuns; i += 4) std::memcpy(out.d + b * kRuns + i, &four, std::min<size_t>(kRuns, 4) * 2);
    if constexpr (F::kHalfScales) std::memcpy(out.halves + b * kRuns, at + offsetof(Block, scales), kRuns * 2);
  }
}

HWY_INLINE VF32 LoadScales(const uint16_t* d) { return LoadFloats(reinterpret_cast<const hwy::float16_t*>(d), kLanes); }

// The scales of a group's runs; `gathered` if the format has no others.
template <class F>
HWY_INLINE VF32 ScaleOf(const F& weights, const RowScales& gathered, size_t group) {
  if constexpr (kHasScales<F>) {
    return weights.scale();
  } else {
    return LoadScales(gathered.d + group * kLanes);
  }
}

// The scale of every run's first or last half, likewise.
template <class F, int kHalf>
HWY_INLINE VI32 HalfScaleOf(const F& weights, const RowScales& gathered, size_t group) {
  if constexpr (kHasScales<F>) {
    return weights.template half_scale<kHalf>();
  } else {
    return LoadPairBits<8 * kHalf, 8, true>(reinterpret_cast<const uint8_t*>(gathered.halves + group * kLanes));
  }
}

// sum − Σ min · d·Σq over the parts of runs that have one, in their order.
template <int kMins, class Min>
HWY_INLINE VF32 TakeMins(VF32 sum, const Min& min, const uint8_t* sums) {
  if constexpr (kMins > 0) sum = hn::NegMulAdd(min(std::integral_constant<int, 0>()), LoadFloat32s(sums), sum);
  if constexpr (kMins > 1) {
    sum = hn::NegMulAdd(min(std::integral_constant<int, 1>()), LoadFloat32s(sums + kVectorBytes), sum);
  }
  return sum;
}

template <class F, int kFrom, int kTo, class Sum>
HWY_INLINE Sum AddSteps(const F& weights, const uint8_t* activations, Sum sum) {
  using D = Dot<kLargestOf<F>>;
  constexpr size_t kStep = kStepBytes<kLargestOf<F>>;
  constexpr bool kTwo = requires { requires D::kTwoSteps; };
  if constexpr (kTwo && kFrom + 1 < kTo) {
    const uint8_t* const at = activations + kFrom * kStep;
    sum = D::add_two(weights.template codes<kFrom>(), D::load(at), weights.template codes<kFrom + 1>(),
                     D::load(at + kStep), sum);
    return AddSteps<F, kFrom + 2, kTo>(weights, activations, sum);
  } else if constexpr (kFrom < kTo) {
    sum = D::add(weights.template codes<kFrom>(), D::load(activations + kFrom * kStep), sum);
    return AddSteps<F, kFrom + 1, kTo>(weights, activations, sum);
  }
  return sum;
}

// The dot product of every run of a group, in units of d_w·d_x.
template <class F>
HWY_INLINE VI32 GroupDot(const F& weights, const uint8_t* activations, const RowScales& scales, size_t group) {
  using D = Dot<kLargestOf<F>>;
  const uint8_t* after = activations + kAfterSteps<kLargestOf<F>>;
  const VI32 init = LoadInts(after + kVectorBytes);
  if constexpr (F::kHalfScales) {
    const VI32 init1 = LoadInts(after + 2 * kVectorBytes);
    const VI32 dot0 = D::total(AddSteps<F, 0, kSteps / 2>(weights, activations, D::start(init)), init);
    const VI32 dot1 = D::total(AddSteps<F, kSteps / 2, kSteps>(weights, activations, D::start(init1)), init1);
    return hn::Add(hn::Mul(dot0, HalfScaleOf<F, 0>(weights, scales, group)),
                   hn::Mul(dot1, HalfScaleOf<F, 1>(weights, scales, group)));
  } else {
    return D::total(AddSteps<F, 0, kSteps>(weights, activations, D::start(init)), init);
  }
}

// Calls body(weights, group) for every group of a row; a last one that is not whole is read from a copy, or is filled
// up already (interleaved).
template <class F, class Body>
HWY_INLINE void ForGroups(const uint8_t* row, size_t cols, const Body& body) {
  constexpr size_t kBytes = std::max<size_t>(kGroup / F::kValues, 1) * sizeof(typename F::Block);
  const size_t whole = kHasScales<F> ? Groups(cols) : cols / kGroup;
  for (size_t g = 0; g < whole; ++g) body(F(row, g), g);
  if (!kHasScales<F> && cols % kGroup != 0) {
    uint8_t copy[kBytes] = {};
    std::memcpy(copy, row + whole * kBytes, cols % kGroup / F::kValues * sizeof(typename F::Block));
    body(F(copy, 0), whole);
  }
}

// Σ over the groups of one row, not yet over the lanes. Its scales have been gathered. Weights are asked for
// ahead, those of the next rows too.
template <class F>
HWY_INLINE VF32 RowSums(const uint8_t* row, size_t cols, const uint8_t* activations, const RowScales& scales,
                        FetchAhead ahead) {
  size_t group_bytes = kGroup * sizeof(typename F::Block) / F::kValues;
  if constexpr (kHasScales<F>) group_bytes = F::kGroupBytes;
  VF32 sum = hn::Zero(DF32());
  ForGroups<F>(row, cols, [&](const F& weights, size_t g) HWY_ATTR {
    for (size_t i = 0; i < group_bytes; i += kCacheLine) fetch_ahead(row + g * group_bytes + i, ahead);
    const uint8_t* record = activations + g * kActivationBytesOf<F>;
    const VI32 dot = GroupDot(weights, record, scales, g);
    const VF32 d = LoadFloat32s(record + kAfterSteps<kLargestOf<F>>);
    sum = hn::MulAdd(hn::ConvertTo(DF32(), dot), hn::Mul(ScaleOf(weights, scales, g), d), sum);
    sum = TakeMins<kMinsOf<F>>(
        sum, [&]<int P>(std::integral_constant<int, P>) HWY_ATTR { return weights.template min<P>(); },
        record + kSumsAt<kLargestOf<F>, F::kHalfScales>);
  });
  return sum;
}

// out[i] = Σ over the lanes of v[i], in one order whoever calls: halves are added up to four lanes, then the outer
// pairs of those.
HWY_INLINE void SumLanes(const VF32 (&v)[4], float scale, float* out) {
  const hn::FixedTag<float, 4> d4;
  const auto fold = [](VF32 x) HWY_ATTR {
    const hn::Half<DF32> dh;
    if constexpr (kParts == 1) {
      return x;
    } else if constexpr (kParts == 2) {
      return hn::Add(hn::LowerHalf(dh, x), hn::UpperHalf(dh, x));
    } else {
      const hn::Half<decltype(dh)> dq;
      const auto half = hn::Add(hn::LowerHalf(dh, x), hn::UpperHalf(dh, x));
      return hn::Add(hn::LowerHalf(dq, half), hn::UpperHalf(dq, half));
    }
  };
  const auto a = fold(v[0]), b = fold(v[1]), c = fold(v[2]), e = fold(v[3]);
  const hn::Repartition<double, decltype(d4)> d2;
  const auto ab = hn::Add(hn::InterleaveLower(d4, a, b), hn::InterleaveUpper(d4, a, b));
  const auto ce = hn::Add(hn::InterleaveLower(d4, c, e), hn::InterleaveUpper(d4, c, e));
  const auto low = hn::InterleaveLower(d2, hn::BitCast(d2, ab), hn::BitCast(d2, ce));
  const auto high = hn::InterleaveUpper(d2, hn::BitCast(d2, ab), hn::BitCast(d2, ce));
  hn::StoreU(hn::Mul(hn::Add(hn::BitCast(d4, low), hn::BitCast(d4, high)), hn::Set(d4, scale)), d4, out);
}

template <class F, int kStep>
HWY_INLINE void StoreSteps(const F& weights, uint8_t* out) {
  if constexpr (kStep < kSteps) {
    hn::Store(weights.template codes<kStep>(), DU8(), out + kStep * kVectorBytes);
    StoreSteps<F, kStep + 1>(weights, out);
  }
}

template <class F>
void UnpackRow(const uint8_t* row, size_t cols, const RowScales& scales, uint8_t* out) {
  GatherScales<F>(row, cols, scales);
  ForGroups<F>(row, cols, [&](const F& weights, size_t g) HWY_ATTR {
    uint8_t* const record = out + g * kPanelBytesOf<F>;
    StoreSteps<F, 0>(weights, record);
    auto* after = reinterpret_cast<float*>(record + kSteps * kVectorBytes);
    hn::Store(ScaleOf(weights, scales, g), DF32(), after);
    after += kLanes;
    if constexpr (F::kHalfScales) {
      auto* const halves = reinterpret_cast<int32_t*>(after);
      hn::Store(HalfScaleOf<F, 0>(weights, scales, g), DI32(), halves);
      hn::Store(HalfScaleOf<F, 1>(weights, scales, g), DI32(), halves + kLanes);
      after += 2 * kLanes;
    }
    if constexpr (kMinsOf<F> > 0) hn::Store(weights.template min<0>(), DF32(), after);
    if constexpr (kMinsOf<F> > 1) hn::Store(weights.template min<1>(), DF32(), after + kLanes);
  });
}

// kTileRows rows of a panel × T tokens.
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

}  // namespace block
}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
