// Blocks in the order of interleave.h as vectors of codes (block_formats-inl.h). Included once per instruction set.
#if defined(TERN_BACKEND_CPU_INTERLEAVED_FORMATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_INTERLEAVED_FORMATS_INL_H_
#undef TERN_BACKEND_CPU_INTERLEAVED_FORMATS_INL_H_
#else
#define TERN_BACKEND_CPU_INTERLEAVED_FORMATS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "backend/cpu/block_formats-inl.h"
#include "backend/cpu/interleave.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace block {

inline constexpr size_t kRecordGroups = kRecordBlocks / kLanes;

// Blocks of Q4 or Q8, interleaved when the model was loaded: words, and so vectors, lie ready.
template <class F>
class Interleaved {
 public:
  using Block = typename F::Block;
  static constexpr int kValues = F::kValues, kZero = F::kZero, kLargest = F::kLargest;
  static constexpr bool kHalfScales = false;
  static constexpr int value(int step, int byte) { return F::value(step, byte); }

  HWY_INLINE Interleaved(const uint8_t* row, size_t group) {
    const uint8_t* record = row + group / kRecordGroups * kRecordBlocks * sizeof(Block);
    const uint8_t* first = record + group % kRecordGroups * kVectorBytes;
    for (size_t i = 0; i < kWords; ++i) words_[i] = hn::LoadU(DU8(), first + i * kRecordLine);
    scales_ = record + kWords * kRecordLine + group % kRecordGroups * kLanes * sizeof(uint16_t);
  }
  template <int kStep>
  HWY_INLINE VU8 codes() const {
    return F::template codes_of<kStep>(words_);
  }
  HWY_INLINE const uint16_t* scales() const { return reinterpret_cast<const uint16_t*>(scales_); }
  static constexpr size_t kGroupBytes = kLanes * sizeof(Block);

 private:
  static constexpr size_t kWords = (sizeof(Block) - sizeof(Block::d)) / sizeof(uint32_t);
  VU8 words_[kWords];
  const uint8_t* scales_;
};

// Blocks of Q6, interleaved when the model was loaded.
class InterleavedQ6 {
 public:
  using Block = Q6_KBlock;
  static constexpr int kValues = kQ6_KBlock, kZero = Q6::kZero, kLargest = Q6::kLargest;
  static constexpr bool kHalfScales = true;
  static constexpr size_t kGroupBytes = kQ6RecordBytes / kRecordBlocks * kLanes;
  static constexpr int value(int step, int byte) { return 4 * step + byte; }

  HWY_INLINE InterleavedQ6(const uint8_t* row, size_t group) {
    const uint8_t* record = row + group / kRecordGroups * kQ6RecordBytes;
    const uint8_t* first = record + group % kRecordGroups * kVectorBytes;
    for (size_t i = 0; i < 4; ++i) low_[i] = hn::LoadU(DU8(), first + i * kRecordLine);
    for (size_t i = 0; i < 2; ++i) high_[i] = hn::LoadU(DU8(), first + (4 + i) * kRecordLine);
    scales_ = reinterpret_cast<const uint16_t*>(record + 6 * kRecordLine) + group % kRecordGroups * kLanes;
  }
  template <int kStep>
  HWY_INLINE VU8 codes() const {
    const DU8 d;
    const VU8 low = hn::And(kStep < 4 ? low_[kStep % 4] : ShiftRightBits<4>(low_[kStep % 4]), hn::Set(d, 15));
    return hn::Or(low, hn::And(in_place<kStep % 4>(high_[kStep / 4]), hn::Set(d, 0x30)));
  }
  HWY_INLINE const uint16_t* halves() const { return scales_; }
  HWY_INLINE const uint16_t* scales() const { return scales_ + kRecordBlocks; }

 private:
  // A step's two bits as bits 4 and 5.
  template <int kAt>
  static HWY_INLINE VU8 in_place(VU8 v) {
    if constexpr (kAt == 2) {
      return v;
    } else if constexpr (kAt == 3) {
      return ShiftRightBits<2>(v);
    } else {
      return hn::BitCast(DU8(), hn::ShiftLeft<4 - 2 * kAt>(hn::BitCast(DU16(), v)));
    }
  }
  VU8 low_[4], high_[2];
  const uint16_t* scales_;
};

template <class F>
inline constexpr bool kHasScales = requires(const F& format) { format.scales(); };

}  // namespace block
}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
