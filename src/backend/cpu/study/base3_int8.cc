// Base 3 on int8 activations, in vectors of bytes. The digits of a byte are found without a multiplication, in steps
// that work on all bytes of a vector at once:
//
//   v mod 81   The least of v, v − 81 and v − 162 as unsigned bytes, because negative values wrap to the top.
//   digit 4    v − v mod 81 is 0, 81 or 162, which end in the bits 00, 01, 10.
//   r mod 9    With r = v mod 81 = 8h + l, r − 9h = l − h. If that is negative, it wraps, and adding 9 corrects it.
//   r / 9      9·(r / 9) = r − r mod 9 is a multiple of 9 up to 72, and these differ in their lowest four bits.
//
// r mod 9 and r / 9 hold two digits each, which two tables of 16 bytes give (TableLookupBytes). This fails only for r =
// 80, where l − h is −10. As bytes, that gives −10, for which a look-up returns 0, and −80 + 90, which ends in bits
// that no other value has. So the tables hold 2 − digit, and 80 = 2222 in base 3 is right too.
//
// On AVX2 this takes 27 instructions for 32 bytes (160 weights): about 4 bytes per cycle. So the processor is the
// limit, unless a core gets less than that from memory; then 1.6 bits take less time than 2. Dividing by 3 in 16-bit
// lanes, like the scalar kernel, takes 30 instructions. 18 of them are multiplications, of which cores do two per
// cycle.
#ifndef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/study/base3_int8.cc"
#endif
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/cache_control.h>
// clang-format on

#include <cstring>

#include "backend/cpu/linear/dot_bytes-inl.h"
#include "backend/cpu/study/base3.h"
#include "backend/cpu/study/int8_row.h"
#include "backend/cpu/study/kernel_rows.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu::study {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace base3_int8 {
using namespace cpu::HWY_NAMESPACE;  // NOLINT(google-build-using-namespace): the engine's dot products of bytes

// True if byte look-ups use the lowest four bits of an index below 128.
#if HWY_TARGET <= HWY_SSSE3 && HWY_ARCH_X86
inline constexpr bool kLooksUpLowBits = true;
#else
inline constexpr bool kLooksUpLowBits = false;
#endif

inline constexpr size_t kPrefetchBytes = 2048;

// 2 − digit: for r mod 9 at [r mod 9], for r / 9 at the low bits of 9·(r / 9). Other entries are 0.
struct Tables {
  alignas(16) uint8_t ones[16] = {};
  alignas(16) uint8_t threes[16] = {};
  alignas(16) uint8_t nines[16] = {};
  alignas(16) uint8_t twenty_sevens[16] = {};

  constexpr Tables() {
    for (uint32_t r = 0; r < 9; ++r) {
      ones[r] = nines[9 * r % 16] = static_cast<uint8_t>(2 - (r - 3 * third(r)));
      threes[r] = twenty_sevens[9 * r % 16] = static_cast<uint8_t>(2 - third(r));
    }
  }
};
inline constexpr Tables kTables;

struct Digits {
  VU8 low[4];  // 2 − digit 0 … 3
  VU8 top;     // digit 4
};

HWY_INLINE Digits Unpack(VU8 v) {
  const DU8 d;
  const VU8 c81 = hn::Set(d, 81);
  const VU8 less = hn::Min(v, hn::Sub(v, c81));
  const VU8 r = hn::Min(less, hn::Sub(less, c81));
  const VU8 high = hn::And(hn::BitCast(d, hn::ShiftRight<3>(hn::BitCast(DU16(), r))), hn::Set(d, 0x1F));
  const VU8 below = hn::Sub(hn::And(r, hn::Set(d, 7)), high);
  const VU8 mod9 = hn::Min(below, hn::Add(below, hn::Set(d, 9)));
  VU8 nines = hn::Sub(r, mod9);
  if constexpr (!kLooksUpLowBits) nines = hn::And(nines, hn::Set(d, 15));
  return {.low = {hn::TableLookupBytesOr0(hn::LoadDup128(d, kTables.ones), mod9),
                  hn::TableLookupBytesOr0(hn::LoadDup128(d, kTables.threes), mod9),
                  hn::TableLookupBytes(hn::LoadDup128(d, kTables.nines), nines),
                  hn::TableLookupBytes(hn::LoadDup128(d, kTables.twenty_sevens), nines)},
          .top = hn::And(hn::Sub(v, r), hn::Set(d, 3))};
}

// Vectors of bytes whose sums of pairs fit 16 bits: five digits of at most 2·2·127 each.
inline constexpr size_t kVectorsPerSum = 12;
static_assert(kVectorsPerSum * kTrits * 2 * 2 * 127 <= INT16_MAX);

// Σ digit·q over one row, with the lower digits as 2 − digit; q as arranged by Base3Prepare.
template <class Dot>
HWY_INLINE int32_t Base3Dot(const uint8_t* bytes, const int8_t* q, size_t n_bytes) {
  const DU8 d;
  const size_t lanes = hn::Lanes(d);
  VI32 total = hn::Zero(DI32());
  for (size_t m = 0; m < n_bytes;) {
    const size_t end = Dot::kQuads ? n_bytes : std::min(n_bytes, m + kVectorsPerSum * lanes);
    typename Dot::Sum sum[2] = {Dot::zero(), Dot::zero()};
    for (; m < end; m += lanes) {
      hwy::Prefetch(bytes + m + kPrefetchBytes);
      const Digits digits = Unpack(hn::LoadU(d, bytes + m));
      for (size_t k = 0; k < 4; ++k, q += lanes) {
        sum[k % 2] = Dot::add(digits.low[k], hn::LoadU(DI8(), q), sum[k % 2]);
      }
      sum[0] = Dot::add(digits.top, hn::LoadU(DI8(), q), sum[0]);
      q += lanes;
    }
    total = hn::Add(total, hn::Add(Dot::widen(sum[0]), Dot::widen(sum[1])));
  }
  return hn::ReduceSum(DI32(), total);
}

// Writes, after the row's scale and sum, the activations of the five digits for every vector of bytes; those of the
// digits held as 2 − digit are negated, and those beyond the row's end are 0. `sum` becomes the excess of Σ digit·q:
// with w = digit − 1, Σ w·q = Σ (2 − digit)·(−q) + Σ q over the lower planes, and Σ digit·q − Σ q over the top one.
void Prepare(const Packed& w, const float* x, std::byte* out) {
  auto& row = *reinterpret_cast<Int8Row*>(out);
  auto* arranged = reinterpret_cast<int8_t*>(out) + kInt8Header;
  const size_t lanes = hn::Lanes(DU8());
  const auto n_bytes = static_cast<size_t>(base3_row_bytes(w.cols));
  // Quantized into the end of `out`, for which prepared_bytes() has room.
  int8_t* q = arranged + kTrits * (n_bytes + kBase3Slack);
  quantize_row(x, w.cols, q, row);
  std::fill(q + w.cols, q + kTrits * n_bytes, int8_t{0});
  int32_t top = 0;
  for (size_t m = 0; m < n_bytes; ++m) top += q[4 * n_bytes + m];
  row.sum = 2 * top - row.sum;
  for (size_t i = 0; i < 4 * n_bytes; ++i) q[i] = static_cast<int8_t>(-q[i]);
  for (size_t m = 0; m < n_bytes; m += lanes) {
    const size_t n = std::min(lanes, n_bytes - m);
    for (size_t k = 0; k < kTrits; ++k, arranged += lanes) {
      std::memcpy(arranged, q + k * n_bytes + m, n);
      std::memset(arranged + n, 0, lanes - n);
    }
  }
}

void Multiply(const Packed& w, const std::byte* prepared, WorkQueue& queue, float* y) {
  const auto& in = *reinterpret_cast<const Int8Row*>(prepared);
  const auto* q = reinterpret_cast<const int8_t*>(prepared) + kInt8Header;
  const auto row_bytes = static_cast<size_t>(base3_row_bytes(w.cols));
  with_dot([&]<class Dot>(Dot) HWY_ATTR {
    queue.for_ranges(w.rows, kRowGrain, [&](int begin, int end) HWY_ATTR {
      for (int row = begin; row < end; ++row) {
        const int32_t dot = Base3Dot<Dot>(w.bytes() + static_cast<size_t>(row) * row_bytes, q, row_bytes) - in.sum;
        y[row] = int8_result(dot, in, w.scale);
      }
    });
  });
}

}  // namespace base3_int8

void Base3Prepare(const Packed& w, const float* x, std::byte* out) { base3_int8::Prepare(w, x, out); }
void Base3Multiply(const Packed& w, const std::byte* prepared, WorkQueue& queue, float* y) {
  base3_int8::Multiply(w, prepared, queue, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu::study
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu::study {

HWY_EXPORT(Base3Prepare);
HWY_EXPORT(Base3Multiply);

Kernel base3_int8_kernel() {
  return {.name = "base3-int8",
          .packing = kBase3,
          .activations = Activations::kInt8,
          .is_vectors = true,
          .what = "digits of whole vectors of bytes, dot products of bytes",
          .prepared_bytes =
              [](int64_t cols) {
                const auto plane = static_cast<uint64_t>(base3_row_bytes(cols)) + kBase3Slack;
                return kInt8Header + 2 * kTrits * plane;
              },
          .prepare = [](auto... args) { return HWY_DYNAMIC_DISPATCH(Base3Prepare)(args...); },
          .multiply = [](auto... args) { return HWY_DYNAMIC_DISPATCH(Base3Multiply)(args...); },
          .roundings = nullptr};
}

}  // namespace tern::cpu::study
#endif
