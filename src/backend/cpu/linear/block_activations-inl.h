// The operands for a format's codes: byte dot products, and the layout of activations that are arranged in the order of
// a format's steps. Included once per instruction set. Vectors and formats: block_formats-inl.h.
#if defined(TERN_BACKEND_CPU_BLOCK_ACTIVATIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_BLOCK_ACTIVATIONS_INL_H_
#undef TERN_BACKEND_CPU_BLOCK_ACTIVATIONS_INL_H_
#else
#define TERN_BACKEND_CPU_BLOCK_ACTIVATIONS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

#include "backend/cpu/linear/block_formats-inl.h"
#include "backend/cpu/linear/interleaved_formats-inl.h"
#include "backend/cpu/linear/wasm_dot-inl.h"
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

HWY_INLINE VI8 LoadBytes(const uint8_t* at) { return hn::BitCast(DI8(), hn::Load(DU8(), at)); }
HWY_INLINE VI32 LoadInts(const uint8_t* at) { return hn::Load(DI32(), reinterpret_cast<const int32_t*>(at)); }
HWY_INLINE VF32 LoadFloat32s(const uint8_t* at) { return hn::Load(DF32(), reinterpret_cast<const float*>(at)); }

#if HWY_TARGET == HWY_WASM
template <int kLargest>
using Dot = WasmDot<kLargest>;
#else
// Products of four bytes with codes up to kLargest, summed over `kSteps` steps. Without an instruction for this, pairs
// of products are added first. They fit 16 bits for codes up to 127. For codes up to 15, eight of them do: 8·2·15·128 =
// 30,720.
template <int kLargest>
struct Dot {
  static constexpr size_t kVectors = 1;  // vectors of activations per step
  static constexpr bool kIn16 = !kHasDot4 && kSteps * 2 * kLargest * 128 < 32768;
  using D = std::conditional_t<kIn16, DI16, DI32>;
  using Sum = hn::Vec<D>;
  using Operand = VI8;

  // Stores a run's four activations of one step in its lane.
  static void put(const int8_t* q, uint8_t* lane) { std::memcpy(lane, q, 4); }
  // Σ (code − weight)·q of one run, with `q` in the order of the steps.
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
  // Adds two steps at a time, if their pairs together fit 16 bits.
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

// The largest code as the tile kernel knows it. It is rounded up so that several formats share one instantiation.
template <class F>
inline constexpr int kLargestOf = kHasDot4            ? 255
                                  : F::kLargest <= 15 ? 15
                                                      : F::kLargest;

// The record of one token and group: the steps' values, then d, then −zero·Σq of each run or half run, then d·Σq of
// each run or half run, which is multiplied with the mins.
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
// The record of a panel's row and group: the steps' codes, d, the two scales of half runs, and the mins.
template <bool kHalfScales, int kMins>
inline constexpr size_t kPanelBytes = (kSteps + (kHalfScales ? 3 : 1) + kMins) * kVectorBytes;
template <class F>
inline constexpr size_t kPanelBytesOf = kPanelBytes<F::kHalfScales, kMinsOf<F>>;
inline constexpr size_t kMostPanelBytes = kPanelBytes<true, 2>;

constexpr size_t Groups(size_t cols) { return (cols + kGroup - 1) / kGroup; }

// The positions within a run of the values that each step takes, for shuffles of its two halves.
struct StepOrder {
  uint8_t from[2][kRun];  // by half of the run; 0x80: the value is in the other half, so the shuffle gives 0
};
template <class F>
constexpr StepOrder MakeStepOrder() {
  StepOrder order = {};
  for (int i = 0; i < kRun; ++i) {
    const int at = F::value(i / 4, i % 4);
    order.from[0][i] = static_cast<uint8_t>(at < 16 ? at : 0x80);
    order.from[1][i] = static_cast<uint8_t>(at < 16 ? 0x80 : at - 16);
  }
  return order;
}
template <class F>
inline constexpr StepOrder kStepOrderOf = MakeStepOrder<F>();

}  // namespace block
}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
