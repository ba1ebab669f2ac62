// A format's loops: dot products of groups and rows, and rows unpacked for tiles. Included once per instruction set, by
// the files that have formats: block_file_rows.cc, block_record_rows.cc and block_k_record_rows.cc. Vectors and
// formats: block_formats-inl.h; their operands: block_activations-inl.h; their callers: block_linear.cc.
#if defined(TERN_BACKEND_CPU_BLOCK_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_BLOCK_KERNELS_INL_H_
#undef TERN_BACKEND_CPU_BLOCK_KERNELS_INL_H_
#else
#define TERN_BACKEND_CPU_BLOCK_KERNELS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include "backend/cpu/linear/block_activations-inl.h"
#include "backend/cpu/linear/block_formats-inl.h"
#include "backend/cpu/linear/block_job-inl.h"
#include "backend/cpu/linear/interleaved_formats-inl.h"
#include "backend/cpu/ops/fetch_ahead.h"
#include "backend/cpu/ops/load_floats-inl.h"
#include "quant/formats/block_formats.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace block {

template <class F>
HWY_INLINE void GatherScales(const uint8_t* row, size_t cols, const RowScales& out) {
  if constexpr (!kHasScales<F>) {
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
}

HWY_INLINE VF32 LoadScales(const uint16_t* d) { return LoadFloats(reinterpret_cast<const hwy::float16_t*>(d), kLanes); }

// The scales of a group's runs: the format's own, otherwise `gathered`.
template <class F>
HWY_INLINE VF32 ScaleOf(const F& weights, const RowScales& gathered, size_t group) {
  if constexpr (kHasScales<F>) {
    return weights.scale();
  } else {
    return LoadScales(gathered.d + group * kLanes);
  }
}

// The scale of the first or last half of every run, in the same way.
template <class F, int kHalf>
HWY_INLINE VI32 HalfScaleOf(const F& weights, const RowScales& gathered, size_t group) {
  if constexpr (kHasScales<F>) {
    return weights.template half_scale<kHalf>();
  } else {
    return LoadPairBits<8 * kHalf, 8, true>(reinterpret_cast<const uint8_t*>(gathered.halves + group * kLanes));
  }
}

// The min of every run, or of the first or last half of every run.
template <int kPart, class F>
HWY_INLINE VF32 MinOf(const F& weights) {
  if constexpr (kPart < kMinsOf<F>) {
    return weights.template min<kPart>();
  } else {
    return hn::Zero(DF32());
  }
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

// Calls body(weights, group) for every group of a row. An incomplete last group is read from a padded copy; interleaved
// rows are padded already.
template <class F, class Body>
HWY_INLINE void ForGroups(const uint8_t* row, size_t cols, const Body& body) {
  constexpr size_t kBytes = std::max<size_t>(kGroup / F::kValues, 1) * sizeof(typename F::Block);
  const size_t whole = kHasScales<F> ? Groups(cols) : cols / kGroup;
  for (size_t g = 0; g < whole; ++g) body(F(row, g), g);
  if constexpr (kHasScales<F>) return;
  if (cols % kGroup != 0) {
    uint8_t copy[kBytes] = {};
    std::memcpy(copy, row + whole * kBytes, cols % kGroup / F::kValues * sizeof(typename F::Block));
    body(F(copy, 0), whole);
  }
}

// The sum over the groups of one row, not yet over the lanes. Its scales must be gathered. Weights are prefetched, also
// those of the next rows.
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

// sums[t] += the steps [kFrom, kTo) of a group, for the activations of T tokens, `stride` bytes apart.
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

// RowSums for one row and T tokens: each group is unpacked once for all of them.
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

// Multiplies rows with one token.
template <class F>
void RowsForOneToken(const Job& job, const Destination& to) {
  float y[1][kBlockPassRows] = {};
  const auto cols = static_cast<size_t>(job.w->cols);
  const uint8_t* row = job.row(to.row);
  const size_t stride = job.row_stride;
  const uint8_t* activations = job.activations + static_cast<size_t>(to.token) * Groups(cols) * kActivationBytesOf<F>;
  const FetchAhead ahead = blocks_ahead();
  for (int r = 0; r < to.n_rows; r += kScaleRows) {
    const auto n = static_cast<size_t>(std::min(kScaleRows, to.n_rows - r));
    // Gathered before all rows: a vector load right after the narrow stores that it covers would stall.
    for (size_t i = 0; i < n; ++i) GatherScales<F>(row + i * stride, cols, job.scales.row(i, cols));
    VF32 sums[kScaleRows] = {hn::Zero(DF32()), hn::Zero(DF32()), hn::Zero(DF32()), hn::Zero(DF32())};
    for (size_t i = 0; i < n; ++i, row += stride) {
      sums[i] = RowSums<F>(row, cols, activations, job.scales.row(i, cols), ahead);
    }
    SumLanes(sums, job.w->scale, y[0] + r);
  }
  PutTile(*to.results, y, to.token, to.row, to.n_rows);
}

// The same for T tokens.
template <class F, int T>
void RowsForFewTokens(const Job& job, const Destination& to) {
  float y[T][kBlockPassRows] = {};
  const auto cols = static_cast<size_t>(job.w->cols);
  const uint8_t* row = job.row(to.row);
  const size_t stride = job.row_stride;
  const uint8_t* activations = job.activations + static_cast<size_t>(to.token) * Groups(cols) * kActivationBytesOf<F>;
  const FetchAhead ahead = blocks_ahead();
  for (int r = 0; r < to.n_rows; r += kScaleRows) {
    const auto n = static_cast<size_t>(std::min(kScaleRows, to.n_rows - r));
    for (size_t i = 0; i < n; ++i) GatherScales<F>(row + i * stride, cols, job.scales.row(i, cols));
    VF32 sums[T][kScaleRows];
    for (auto& token_sums : sums) {
      for (VF32& sum : token_sums) sum = hn::Zero(DF32());
    }
    for (size_t i = 0; i < n; ++i, row += stride) {
      VF32 of_row[T];
      RowSumsOfTokens<F, T>(row, cols, activations, job.scales.row(i, cols), ahead, of_row);
      for (size_t t = 0; t < T; ++t) sums[t][i] = of_row[t];
    }
    for (int t = 0; t < T; ++t) SumLanes(sums[t], job.w->scale, y[t] + r);
  }
  PutTile(*to.results, y, to.token, to.row, to.n_rows);
}

template <class F>
constexpr Kernel MakeKernel() {
  using Kind = Tiles<kLargestOf<F>, F::kHalfScales, kMinsOf<F>>;
  Kernel kernel = {.order = &kStepOrderOf<F>,
                   .zero = F::kZero,
                   .arrange = Kind::arrange,
                   .rows_of = {},
                   .unpack_row = UnpackRow<F>,
                   .tiles = Kind::tiles,
                   .tiles_of_one = Kind::tiles_of_one,
                   .activation_bytes = kActivationBytesOf<F>,
                   .panel_bytes = kPanelBytesOf<F>};
  if constexpr (kHasRowLoops) {
    kernel.rows_of[0] = RowsForOneToken<F>;
    kernel.rows_of[1] = RowsForFewTokens<F, 2>;
    if constexpr (kTileTokens == 4) {
      kernel.rows_of[2] = RowsForFewTokens<F, 3>;
      kernel.rows_of[3] = RowsForFewTokens<F, 4>;
    }
  }
  return kernel;
}

// The kernel for records of `format`. kIsLarge selects the formats whose blocks have more than one run, or those with
// one.
template <bool kIsLarge, class... Type>
std::optional<Kernel> RecordKernel(Format format, FormatList<Type...> /*formats*/) {
  std::optional<Kernel> kernel;
  const auto look = [&]<class T>(std::type_identity<T>) {
    if constexpr (has_interleaved(T::kCoding) && (T::kValues > kRun) == kIsLarge) {
      if (T::kId.format == format) kernel = MakeKernel<Interleaved<T>>();
    }
  };
  (look(std::type_identity<Type>()), ...);
  return kernel;
}

}  // namespace block
}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
