// The packed formats as types that turn the bytes of a row into vectors of codes. Included once per instruction set.
//
// A group is kLanes runs of 32 values. Int32 lane i of every vector belongs to run i of the group. So a step multiplies
// four codes of each run with four activations of the same run, eight steps complete the runs' dot products, and one
// fused multiply-add per group applies kLanes scales. Each format chooses which four values a step takes (`value`): the
// order that unpacks with the fewest operations. Activations are put into that order once per op.
//
// A format has
//   Block, kValues      its block in the file, with the f16 scale `d`, and the values per block (quant/*.h)
//   kZero, kLargest     a value is d · (code − kZero), codes are 0 … kLargest
//   kHalfScales         two signed bytes multiply d, for the first and the last 16 values of a run
//   value(step, byte)   the position in its run of the code in `byte` of a lane in this step
//   Format(row, group)  loads the group's bytes and reads nothing outside them
//   codes<step>()       unpacks the codes of one step
// The scales of these formats are gathered; interleaved_formats-inl.h has formats with vectors of scales.
#if defined(TERN_BACKEND_CPU_BLOCK_FORMATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_BLOCK_FORMATS_INL_H_
#undef TERN_BACKEND_CPU_BLOCK_FORMATS_INL_H_
#else
#define TERN_BACKEND_CPU_BLOCK_FORMATS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "backend/cpu/linear/wasm_dot-inl.h"
#include "quant/formats/q1_0.h"
#include "quant/formats/q2_0.h"
#include "quant/formats/q4_0.h"
#include "quant/formats/q8_0.h"
#include "quant/formats/tq2_0.h"
#include "quant/k_quants/q6_k.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace block {
namespace hn = hwy::HWY_NAMESPACE;

using DU8 = hn::CappedTag<uint8_t, 64>;
using DI8 = hn::RebindToSigned<DU8>;
using DU16 = hn::Repartition<uint16_t, DU8>;
using DI16 = hn::RebindToSigned<DU16>;
using DU32 = hn::Repartition<uint32_t, DU8>;
using DI32 = hn::Repartition<int32_t, DU8>;
using DF32 = hn::Repartition<float, DU8>;
using VU8 = hn::Vec<DU8>;
using VI8 = hn::Vec<DI8>;
using VU32 = hn::Vec<DU32>;
using VI32 = hn::Vec<DI32>;
using VF32 = hn::Vec<DF32>;

inline constexpr int kRun = 32;   // values that share a scale of the activations
inline constexpr int kSteps = 8;  // of four values of each run
inline constexpr size_t kLanes = hn::MaxLanes(DI32());
inline constexpr size_t kGroup = kLanes * kRun;  // values
inline constexpr size_t kParts = kLanes / 4;     // 16-byte parts of a vector
inline constexpr size_t kVectorBytes = kLanes * sizeof(int32_t);

// Loads the 16 bytes at address(0), address(1), … side by side.
template <class Address>
HWY_INLINE VU8 LoadParts(const Address& address) {
  const DU8 d;
  if constexpr (kParts == 1) {
    return hn::LoadU(d, address(0));
  } else if constexpr (kParts == 2) {
    const hn::Half<DU8> dh;
    return hn::Combine(d, hn::LoadU(dh, address(1)), hn::LoadU(dh, address(0)));
  } else {
    const hn::Half<DU8> dh;
    const hn::Half<decltype(dh)> dq;
    const auto low = hn::Combine(dh, hn::LoadU(dq, address(1)), hn::LoadU(dq, address(0)));
    const auto high = hn::Combine(dh, hn::LoadU(dq, address(3)), hn::LoadU(dq, address(2)));
    return hn::Combine(d, high, low);
  }
}
HWY_INLINE VU8 LoadParts(const uint8_t* first, size_t stride) {
  return LoadParts([=](size_t part) HWY_ATTR { return first + part * stride; });
}

HWY_INLINE VU8 InterleaveLower32(VU8 a, VU8 b) {
  const DU32 d;
  return hn::BitCast(DU8(), hn::InterleaveLower(d, hn::BitCast(d, a), hn::BitCast(d, b)));
}
HWY_INLINE VU8 InterleaveUpper32(VU8 a, VU8 b) {
  const DU32 d;
  return hn::BitCast(DU8(), hn::InterleaveUpper(d, hn::BitCast(d, a), hn::BitCast(d, b)));
}
HWY_INLINE VU8 InterleaveLower64(VU8 a, VU8 b) {
  const hn::Repartition<uint64_t, DU8> d;
  return hn::BitCast(DU8(), hn::InterleaveLower(d, hn::BitCast(d, a), hn::BitCast(d, b)));
}
HWY_INLINE VU8 InterleaveUpper64(VU8 a, VU8 b) {
  const hn::Repartition<uint64_t, DU8> d;
  return hn::BitCast(DU8(), hn::InterleaveUpper(d, hn::BitCast(d, a), hn::BitCast(d, b)));
}

template <int kBits>
HWY_INLINE VU8 ShiftRightBits(VU8 v) {  // bits cross into the next byte: the caller must mask them
  return hn::BitCast(DU8(), hn::ShiftRight<kBits>(hn::BitCast(DU16(), v)));
}

template <int kLane>
HWY_INLINE VU8 Broadcast32(VU8 v) {  // within each 16-byte part
  return hn::BitCast(DU8(), hn::Broadcast<kLane>(hn::BitCast(DU32(), v)));
}

// Shifts the runs 4i … 4i + 3 right by s0, s1, s2, s3. The caller must mask off the upper bits of each byte, as many as
// the largest shift.
template <int s0, int s1, int s2, int s3>
HWY_INLINE VU8 ShiftRunsRight(VU8 v) {
#if HWY_TARGET == HWY_WASM
  // There is no shift of lanes by different distances. A product shifts them left, then all shift right by the same.
  constexpr int kMost = s3;
  static_assert(s0 <= kMost && s1 <= kMost && s2 <= kMost);
  constexpr uint16_t u0 = 1 << (kMost - s0), u1 = 1 << (kMost - s1), u2 = 1 << (kMost - s2);
  auto up = hn::Dup128VecFromValues(DU16(), u0, u0, u1, u1, u2, u2, 1, 1);
  asm("" : "+r"(up.raw));  // without this, Clang turns the product into shifts, lane by lane
  return ShiftRightBits<kMost>(hn::BitCast(DU8(), hn::Mul(hn::BitCast(DU16(), v), up)));
#else
  const auto bits = hn::Dup128VecFromValues(DU32(), s0, s1, s2, s3);
  return hn::BitCast(DU8(), hn::Shr(hn::BitCast(DU32(), v), bits));
#endif
}

// Transposes vectors a, b, c, d, whose part k holds the four words of run 4k, 4k + 1, …, to vectors with one word of
// every run.
HWY_INLINE void Transpose(VU8 a, VU8 b, VU8 c, VU8 d, VU8* words) {
  const VU8 ab_low = InterleaveLower32(a, b), ab_high = InterleaveUpper32(a, b);
  const VU8 cd_low = InterleaveLower32(c, d), cd_high = InterleaveUpper32(c, d);
  words[0] = InterleaveLower64(ab_low, cd_low);
  words[1] = InterleaveUpper64(ab_low, cd_low);
  words[2] = InterleaveLower64(ab_high, cd_high);
  words[3] = InterleaveUpper64(ab_high, cd_high);
}

// A run is one word of bits. The codes 0 and 2 stand for −1 and +1, so each step moves its bit to bit 1.
class Q1 {
 public:
  using Block = Q1_0Block;
  static constexpr int kValues = kQ1_0Block, kZero = 1, kLargest = 2;
  static constexpr bool kHalfScales = false;
  static constexpr int value(int step, int byte) { return 8 * byte + step; }

  HWY_INLINE Q1(const uint8_t* row, size_t group)
      : bits_(LoadParts(row + group * kParts * sizeof(Block) + offsetof(Block, bits), sizeof(Block))) {}
  template <int kStep>
  HWY_INLINE VU8 codes() const {
    const VU8 mask = hn::Set(DU8(), 2);
    if constexpr (kStep == 0) {
      return hn::And(hn::Add(bits_, bits_), mask);
    } else if constexpr (kStep == 1) {
      return hn::And(bits_, mask);
    } else {
      return hn::And(ShiftRightBits<kStep - 1>(bits_), mask);
    }
  }

 private:
  VU8 bits_;
};

// A run is two words of two-bit codes, in order.
template <int kBlockValues>
class Q2 {
 public:
  using Block = Q2Block<kBlockValues>;
  static constexpr int kValues = kBlockValues, kZero = 1, kLargest = 3;
  static constexpr bool kHalfScales = false;
  static constexpr int value(int step, int byte) { return 16 * (step / 4) + 4 * byte + step % 4; }

  HWY_INLINE Q2(const uint8_t* row, size_t group) {
    // 16 bytes are runs 0 and 1 of four, or runs 2 and 3.
    const uint8_t* first = row + group * (kGroup / kBlockValues) * sizeof(Block) + offsetof(Block, codes);
    constexpr size_t kBlocks = 128 / kBlockValues;  // in four runs
    constexpr size_t kNext = kBlocks == 1 ? 16 : sizeof(Block);
    const VU8 a = swap_middle(LoadParts(first, kBlocks * sizeof(Block)));
    const VU8 b = swap_middle(LoadParts(first + kNext, kBlocks * sizeof(Block)));
    words_[0] = InterleaveLower64(a, b);
    words_[1] = InterleaveUpper64(a, b);
  }
  template <int kStep>
  HWY_INLINE VU8 codes() const {
    return hn::And(ShiftRightBits<2 * (kStep % 4)>(words_[kStep / 4]), hn::Set(DU8(), 3));
  }

 private:
  static HWY_INLINE VU8 swap_middle(VU8 v) {
    return hn::BitCast(DU8(), hn::Per4LaneBlockShuffle<3, 1, 2, 0>(hn::BitCast(DU32(), v)));
  }
  VU8 words_[2];
};

// A run is a block of four words, with values 0 … 15 in the low nibbles and the rest in the high ones.
class Q4 {
 public:
  using Block = Q4_0Block;
  static constexpr int kValues = kQ4_0Block, kZero = 8, kLargest = 15;
  static constexpr bool kHalfScales = false;
  static constexpr int value(int step, int byte) { return 4 * step + byte; }

  HWY_INLINE Q4(const uint8_t* row, size_t group) {
    const uint8_t* first = row + group * kLanes * sizeof(Block) + offsetof(Block, nibbles);
    const auto blocks = [=](size_t i) HWY_ATTR { return LoadParts(first + i * sizeof(Block), 4 * sizeof(Block)); };
    Transpose(blocks(0), blocks(1), blocks(2), blocks(3), words_);
  }
  template <int kStep>
  HWY_INLINE VU8 codes() const {
    return codes_of<kStep>(words_);
  }
  template <int kStep>
  static HWY_INLINE VU8 codes_of(const VU8* words) {
    return hn::And(ShiftRightBits<4 * (kStep / 4)>(words[kStep % 4]), hn::Set(DU8(), 15));
  }

 private:
  VU8 words_[4];
};

// A run is a block of eight words. Signed bytes become codes by adding 128, or stay as WebAssembly's dot products need
// them (wasm_dot-inl.h).
class Q8 {
 public:
  using Block = Q8_0Block;
  static constexpr int kValues = kQ8_0Block, kZero = 128, kLargest = 255;
  static constexpr bool kHalfScales = false;
  static constexpr int value(int step, int byte) { return 4 * step + byte; }

  HWY_INLINE Q8(const uint8_t* row, size_t group) {
    const uint8_t* first = row + group * kLanes * sizeof(Block) + offsetof(Block, q);
    for (size_t half = 0; half < 2; ++half) {
      const auto blocks = [=](size_t i)
                              HWY_ATTR { return LoadParts(first + 16 * half + i * sizeof(Block), 4 * sizeof(Block)); };
      Transpose(blocks(0), blocks(1), blocks(2), blocks(3), words_ + 4 * half);
    }
  }
  template <int kStep>
  HWY_INLINE VU8 codes() const {
    return codes_of<kStep>(words_);
  }
  template <int kStep>
  static HWY_INLINE VU8 codes_of(const VU8* words) {
    return codes_of_signed(words[kStep]);
  }
  static HWY_INLINE VU8 codes_of_signed(VU8 bytes) {
#if HWY_TARGET == HWY_WASM
    return WasmCodesOfSigned(bytes);
#else
    return hn::Xor(bytes, hn::Set(DU8(), 0x80));
#endif
  }

 private:
  VU8 words_[8];
};

// Four runs are the planes of the same 32 bytes.
class Tq2 {
 public:
  using Block = Tq2_0Block;
  static constexpr int kValues = kTq2_0Block, kZero = 1, kLargest = 3;
  static constexpr bool kHalfScales = false;
  static constexpr int value(int step, int byte) { return 4 * step + byte; }

  HWY_INLINE Tq2(const uint8_t* row, size_t group) {
    for (size_t half = 0; half < 2; ++half) {
      planes_[half] = LoadParts([=](size_t part) HWY_ATTR {
        const size_t fours = group * kParts + part;  // index of a set of four runs; a block has two
        return row + fours / 2 * sizeof(Block) + offsetof(Block, codes) + fours % 2 * 32 + 16 * half;
      });
    }
  }
  template <int kStep>
  HWY_INLINE VU8 codes() const {
    const VU8 words = Broadcast32<kStep % 4>(planes_[kStep / 4]);
    return hn::And(ShiftRunsRight<0, 2, 4, 6>(words), hn::Set(DU8(), 3));
  }

 private:
  VU8 planes_[2];
};

// Four runs a, b, c, d share 32 bytes of high bits, one plane each. Of the low nibbles, a and c share 32 bytes, b and d
// the next 32.
class Q6 {
 public:
  using Block = Q6_KBlock;
  static constexpr int kValues = kQ6_KBlock, kZero = 32, kLargest = 63;
  static constexpr bool kHalfScales = true;
  static constexpr int value(int step, int byte) { return 4 * step + byte; }

  HWY_INLINE Q6(const uint8_t* row, size_t group) {
    for (size_t half = 0; half < 2; ++half) {
      const auto load = [=](size_t array, size_t bytes, size_t at) HWY_ATTR {
        return LoadParts([=](size_t part) HWY_ATTR {
          const size_t fours = group * kParts + part;  // index of a set of four runs; a block has two
          return row + fours / 2 * sizeof(Block) + array + fours % 2 * bytes + at + 16 * half;
        });
      };
      high_[half] = load(offsetof(Block, high), 32, 0);
      const VU8 ac = load(offsetof(Block, low), 64, 0);
      const VU8 bd = load(offsetof(Block, low), 64, 32);
      low_[2 * half] = InterleaveLower32(ac, bd);
      low_[2 * half + 1] = InterleaveUpper32(ac, bd);
    }
  }
  template <int kStep>
  HWY_INLINE VU8 codes() const {
    const auto pairs = hn::BitCast(DU32(), low_[kStep / 2]);
    VU32 both;
    if constexpr (kStep % 2 == 0) {
      both = hn::Per4LaneBlockShuffle<1, 0, 1, 0>(pairs);
    } else {
      both = hn::Per4LaneBlockShuffle<3, 2, 3, 2>(pairs);
    }
    const VU8 low = hn::And(ShiftRunsRight<0, 0, 4, 4>(hn::BitCast(DU8(), both)), hn::Set(DU8(), 15));
    const VU8 words = Broadcast32<kStep % 4>(high_[kStep / 4]);
    const VU8 high = hn::And(ShiftRunsRight<0, 2, 4, 6>(words), hn::Set(DU8(), 3));
    return hn::Or(low, hn::BitCast(DU8(), hn::ShiftLeft<4>(hn::BitCast(DU16(), high))));
  }

 private:
  VU8 high_[2], low_[4];
};

}  // namespace block
}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
