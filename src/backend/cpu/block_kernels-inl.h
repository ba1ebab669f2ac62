// The loops under block_linear.cc: dot products of groups, rows and tiles. Included once per instruction set. Vectors
// and formats: block_formats-inl.h; what they are multiplied with: block_activations-inl.h.
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

#include "backend/cpu/block_activations-inl.h"
#include "backend/cpu/block_formats-inl.h"
#include "backend/cpu/fetch_ahead.h"
#include "backend/cpu/interleaved_formats-inl.h"
#include "backend/cpu/load_floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace block {

// A tile's sums and operands, as many as the registers hold.
inline constexpr int kTileRows = 4;
#if (HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86) || HWY_ARCH_ARM_A64
inline constexpr int kTileTokens = 4;  // 32 registers
#else
inline constexpr int kTileTokens = 2;
#endif

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

// The min of every run, or of its first or last half.
template <int kPart, class F>
HWY_INLINE VF32 MinOf(const F& weights) {
  if constexpr (kPart < kMinsOf<F>) {
    return weights.template min<kPart>();
  } else {
    return hn::Zero(DF32());
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
        sum, [&]<int P>(std::integral_constant<int, P>) HWY_ATTR { return MinOf<P>(weights); },
        record + kSumsAt<kLargestOf<F>, F::kHalfScales>);
  });
  return sum;
}

// sums[t] += the steps [kFrom, kTo) of a group with the activations of T tokens, `stride` bytes apart.
template <class F, int T, int kFrom, int kTo, class Sum>
HWY_INLINE void AddStepsOfTokens(const F& weights, const uint8_t* activations, size_t stride, Sum (&sums)[T]) {
  using D = Dot<kLargestOf<F>>;
  if constexpr (kFrom < kTo) {
    const VU8 codes = weights.template codes<kFrom>();
    for (size_t t = 0; t < T; ++t) {
      sums[t] = D::add(codes, D::load(activations + t * stride + kFrom * kStepBytes<kLargestOf<F>>), sums[t]);
    }
    AddStepsOfTokens<F, T, kFrom + 1, kTo>(weights, activations, stride, sums);
  }
}

// RowSums of one row and T tokens: a group is unpacked once for all.
template <class F, int T>
HWY_INLINE void RowSumsOfTokens(const uint8_t* row, size_t cols, const uint8_t* activations, const RowScales& scales,
                                FetchAhead ahead, VF32 (&sums)[T]) {
  using D = Dot<kLargestOf<F>>;
  constexpr size_t kAfter = kAfterSteps<kLargestOf<F>>;
  constexpr int kDots = F::kHalfScales ? 2 : 1;  // per group
  size_t group_bytes = kGroup * sizeof(typename F::Block) / F::kValues;
  if constexpr (kHasScales<F>) group_bytes = F::kGroupBytes;
  const size_t stride = Groups(cols) * kActivationBytesOf<F>;
  for (VF32& sum : sums) sum = hn::Zero(DF32());
  ForGroups<F>(row, cols, [&](const F& weights, size_t g) HWY_ATTR {
    for (size_t i = 0; i < group_bytes; i += kCacheLine) fetch_ahead(row + g * group_bytes + i, ahead);
    const uint8_t* const record = activations + g * kActivationBytesOf<F>;
    const auto init = [&](size_t t, size_t part) {
      return LoadInts(record + t * stride + kAfter + (1 + part) * kVectorBytes);
    };
    VI32 dots[T];
    const auto add_part = [&]<int kPart>(std::integral_constant<int, kPart>) HWY_ATTR {
      typename D::Sum acc[T];
      for (size_t t = 0; t < T; ++t) acc[t] = D::start(init(t, kPart));
      AddStepsOfTokens<F, T, kPart * kSteps / kDots, (kPart + 1) * kSteps / kDots>(weights, record, stride, acc);
      for (size_t t = 0; t < T; ++t) {
        VI32 dot = D::total(acc[t], init(t, kPart));
        if constexpr (F::kHalfScales) dot = hn::Mul(dot, HalfScaleOf<F, kPart>(weights, scales, g));
        dots[t] = kPart == 0 ? dot : hn::Add(dots[t], dot);
      }
    };
    add_part(std::integral_constant<int, 0>());
    if constexpr (kDots == 2) add_part(std::integral_constant<int, 1>());
    const VF32 scale = ScaleOf(weights, scales, g);
    for (size_t t = 0; t < T; ++t) {
      const uint8_t* const own = record + t * stride;
      sums[t] = hn::MulAdd(hn::ConvertTo(DF32(), dots[t]), hn::Mul(scale, LoadFloat32s(own + kAfter)), sums[t]);
      sums[t] = TakeMins<kMinsOf<F>>(
          sums[t], [&]<int P>(std::integral_constant<int, P>) HWY_ATTR { return MinOf<P>(weights); },
          own + kSumsAt<kLargestOf<F>, F::kHalfScales>);
    }
  });
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
    if constexpr (kMinsOf<F> > 0) hn::Store(MinOf<0>(weights), DF32(), after);
    if constexpr (kMinsOf<F> > 1) hn::Store(MinOf<1>(weights), DF32(), after + kLanes);
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
