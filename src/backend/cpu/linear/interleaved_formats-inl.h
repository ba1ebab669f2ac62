// Interleaved blocks (interleave.h) as vectors of codes (block_formats-inl.h). Included once per instruction set.
#if defined(TERN_BACKEND_CPU_INTERLEAVED_FORMATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_INTERLEAVED_FORMATS_INL_H_
#undef TERN_BACKEND_CPU_INTERLEAVED_FORMATS_INL_H_
#else
#define TERN_BACKEND_CPU_INTERLEAVED_FORMATS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backend/cpu/linear/block_formats-inl.h"
#include "backend/cpu/linear/interleave.h"
#include "backend/cpu/ops/load_floats-inl.h"
#include "base/half.h"
#include "quant/formats/block_formats.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace block {

inline constexpr size_t kRecordGroups = kRecordRuns / kLanes;

// Shifts left, or right if kBits < 0; bits cross into the next byte.
template <int kBits>
HWY_INLINE VU8 ShiftBits(VU8 v) {
  if constexpr (kBits > 0) {
    return hn::BitCast(DU8(), hn::ShiftLeft<kBits>(hn::BitCast(DU16(), v)));
  } else if constexpr (kBits < 0) {
    return ShiftRightBits<-kBits>(v);
  } else {
    return v;
  }
}

// An f16 number in all lanes.
HWY_INLINE VF32 SetHalf(uint16_t half) {
#if HWY_TARGET == HWY_WASM
  return hn::Set(DF32(), f16_to_f32(half));
#else
  const hn::Rebind<uint16_t, DF32> d16;
  return hn::PromoteTo(DF32(), hn::BitCast(hn::Rebind<hwy::float16_t, DF32>(), hn::Set(d16, half)));
#endif
}

// A record has two numbers, one per block; gives each of the group's runs the one of its block.
HWY_INLINE VF32 LoadBlockScales(const uint8_t* at, size_t group_of_record) {
  uint16_t both[2];
  std::memcpy(both, at, sizeof both);
  if constexpr (kLanes == kRecordRuns) {
    const DF32 d;
    return hn::ConcatLowerLower(d, SetHalf(both[1]), SetHalf(both[0]));
  } else {
    return SetHalf(both[group_of_record / (kRecordGroups / 2)]);
  }
}

// Loads one byte per run and converts them to floats.
template <class Byte>
HWY_INLINE VF32 LoadByteScales(const Byte* at) {
  return hn::ConvertTo(DF32(), hn::PromoteTo(DI32(), hn::LoadU(hn::Rebind<Byte, DI32>(), at)));
}

// Bits kShift … kShift + kBits − 1 of each run's two bytes, sign-extended if kIsSigned.
template <int kShift, int kBits, bool kIsSigned>
HWY_INLINE VI32 LoadPairBits(const uint8_t* at) {
  const auto pairs = hn::LoadU(hn::Rebind<uint16_t, DI32>(), reinterpret_cast<const uint16_t*>(at));
  const VI32 up = hn::ShiftLeft<32 - kShift - kBits>(hn::PromoteTo(DI32(), pairs));
  if constexpr (kIsSigned) {
    return hn::ShiftRight<32 - kBits>(up);
  } else {
    return hn::BitCast(DI32(), hn::ShiftRight<32 - kBits>(hn::BitCast(DU32(), up)));
  }
}

// A format (quant/block_format.h) in records, whose words need no gathering.
//
// kMins is 1 if every run has a min, and 2 if both of its halves have one. From the product of those values with their
// activations, min(i) · Σx is subtracted.
template <class Type>
class Interleaved {
 public:
  using Block = typename Type::Block;
  static constexpr Coding kCoding = Type::kCoding;
  static constexpr RecordLayout kLayout = RecordLayout(kCoding);
  static constexpr int kValues = Type::kValues;
  // Unevenly spaced levels are signed bytes, as in Q8.
  static constexpr int kZero = kCoding.levels ? Q8::kZero : kCoding.zero;
  static constexpr int kLargest = kCoding.levels ? Q8::kLargest : kCoding.n_codes - 1;
  static constexpr bool kHalfScales = kCoding.has_scales() && kCoding.group == 16;
  static constexpr int kMins = kCoding.has_mins ? kRun / kCoding.group : 0;
  static constexpr size_t kGroupBytes = kLayout.bytes / kRecordGroups;
  static constexpr int value(int step, int byte) { return 4 * step + byte; }

  HWY_INLINE Interleaved(const uint8_t* row, size_t group)
      : record_(row + group / kRecordGroups * kLayout.bytes), group_(group % kRecordGroups) {
    for (size_t i = 0; i < kLines; ++i) lines_[i] = hn::LoadU(DU8(), record_ + i * kRecordLine + group_ * kVectorBytes);
  }
  template <int kStep>
  HWY_INLINE VU8 codes() const {
    if constexpr (kLayout.low_bits == 8) {
      return Q8::codes_of<kStep>(lines_);
    } else {
      VU8 codes = low<kStep>();
      if constexpr (kLayout.high_bits > 0) codes = hn::Or(codes, high<kStep>());
      if constexpr (kCoding.levels != nullptr) codes = Q8::codes_of_signed(hn::TableLookupBytes(levels(), codes));
      return codes;
    }
  }
  // The scale of each run.
  HWY_INLINE VF32 scale() const {
    const VF32 d = factor(kLayout.d_at);
    if constexpr (kCoding.has_scales() && !kHalfScales) {
      using Byte = std::conditional_t<(kCoding.least_scale < 0), int8_t, uint8_t>;
      const uint8_t* const of_group = record_ + kLayout.scales_at + group_ * kLanes;
      return hn::Mul(d, LoadByteScales(reinterpret_cast<const Byte*>(of_group)));
    }
    return d;
  }
  // The scale of the first or last half of each run.
  template <int kHalf>
  HWY_INLINE VI32 half_scale() const {
    return LoadPairBits<8 * kHalf, kMins == 0 ? 8 : 4, kMins == 0>(pairs());
  }
  // The min of each run, or of its first or last half.
  template <int kPart>
  HWY_INLINE VF32 min() const {
    const VF32 dmin = factor(kLayout.dmin_at);
    if constexpr (kMins == 2) {
      return hn::Mul(dmin, hn::ConvertTo(DF32(), LoadPairBits<8 * kPart + 4, 4, false>(pairs())));
    } else if constexpr (kCoding.has_scales()) {
      return hn::Mul(dmin, LoadByteScales(record_ + kLayout.scales_at + kRecordRuns + group_ * kLanes));
    } else {
      return dmin;
    }
  }

 private:
  static constexpr size_t kLines = kLayout.low_lines + kLayout.high_lines;

  HWY_INLINE const uint8_t* pairs() const { return record_ + kLayout.scales_at + 2 * group_ * kLanes; }
  HWY_INLINE VF32 factor(size_t at) const {
    if constexpr (kLayout.runs_per_d > 1) {
      return LoadBlockScales(record_ + at, group_);
    } else {
      const uint8_t* const of_group = record_ + at + group_ * kLanes * sizeof(uint16_t);
      using Scale = std::conditional_t<kCoding.has_bf16_d, hwy::bfloat16_t, hwy::float16_t>;
      return LoadFloats(reinterpret_cast<const Scale*>(of_group), kLanes);
    }
  }
  template <int kStep>
  HWY_INLINE VU8 low() const {
    if constexpr (kLayout.low_bits == 4) {
      return hn::And(ShiftBits<-4 * (kStep / 4)>(lines_[kStep % 4]), hn::Set(DU8(), 15));
    } else {
      return hn::And(ShiftBits<-2 * (kStep % 4)>(lines_[kStep / 4]), hn::Set(DU8(), 3));
    }
  }
  template <int kStep>
  HWY_INLINE VU8 high() const {
    if constexpr (kLayout.high_bits == 2) {
      const VU8 line = lines_[kLayout.low_lines + kStep / 4];
      return hn::And(ShiftBits<kLayout.low_bits - 2 * (kStep % 4)>(line), hn::Set(DU8(), 3 << kLayout.low_bits));
    } else {
      const VU8 line = lines_[kLayout.low_lines];
      return hn::And(ShiftBits<kLayout.low_bits - kStep>(line), hn::Set(DU8(), 1 << kLayout.low_bits));
    }
  }
  static HWY_INLINE VU8 levels() { return hn::LoadDup128(DU8(), reinterpret_cast<const uint8_t*>(kCoding.levels)); }

  const uint8_t* record_;
  size_t group_;  // index in the record
  VU8 lines_[kLines];
};

template <class F>
inline constexpr bool kHasScales = requires(const F& format) { format.scale(); };
template <class F>
inline constexpr int kMinsOf = 0;
template <class Type>
inline constexpr int kMinsOf<Interleaved<Type>> = Interleaved<Type>::kMins;

}  // namespace block
}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
