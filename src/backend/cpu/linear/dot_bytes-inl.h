// Dot products of unsigned codes 0 … 2 (or 4 times these) with int8 activations, exact in int32, with the best
// instructions of each instruction set. Included once per instruction set.
#if defined(TERN_BACKEND_CPU_DOT_BYTES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_DOT_BYTES_INL_H_
#undef TERN_BACKEND_CPU_DOT_BYTES_INL_H_
#else
#define TERN_BACKEND_CPU_DOT_BYTES_INL_H_
#endif

#include <hwy/highway.h>

#include "backend/cpu/linear/wasm_dot-inl.h"
#include "backend/cpu/ops/cpu_target.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The widest vectors.
using DU8 = hn::CappedTag<uint8_t, 64>;
using DI8 = hn::RebindToSigned<DU8>;
using DU16 = hn::Repartition<uint16_t, DU8>;
using DI16 = hn::RebindToSigned<DU16>;
using DI32 = hn::Repartition<int32_t, DU8>;
using VU8 = hn::Vec<DU8>;
using VI8 = hn::Vec<DI8>;
using VU16 = hn::Vec<DU16>;
using VI16 = hn::Vec<DI16>;
using VI32 = hn::Vec<DI32>;
inline constexpr size_t kVectorBytes = hn::MaxLanes(DU8());

// Adds pairs of products, which fit 16 bits: a pair with codes up to 2 is −512 … 508. Pairs are summed in 16 bits for
// as long as they fit, then in 32.
struct PairDot {
  static constexpr bool kQuads = false;
  using Sum = VI16;
  static HWY_INLINE Sum zero() { return hn::Zero(DI16()); }
  static HWY_INLINE Sum add(VU8 codes, VI8 q, Sum sum) {
#if HWY_TARGET == HWY_AVX2 && !HWY_COMPILER_MSVC
    // Both instructions in one asm: GCC would do all products of a tile before the sums and run out of registers.
    __m256i pairs;
    asm("vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0" : "+x"(sum.raw), "=&x"(pairs) : "x"(codes.raw), "xm"(q.raw));
    return sum;
#else
    return hn::Add(sum, hn::SatWidenMulPairwiseAdd(DI16(), codes, q));
#endif
  }
  static HWY_INLINE VI32 widen(Sum sum) { return hn::WidenMulPairwiseAdd(DI32(), sum, hn::Set(DI16(), 1)); }
};

// Adds four products with one instruction.
struct QuadDot {
  static constexpr bool kQuads = true;
  using Sum = VI32;
  static HWY_INLINE Sum zero() { return hn::Zero(DI32()); }
  static HWY_INLINE VI32 widen(Sum sum) { return sum; }
  static HWY_INLINE Sum add(VU8 codes, VI8 q, Sum sum) {
#if HWY_TARGET == HWY_WASM
    return WasmDot4(codes, q, sum);
#elif HWY_TARGET == HWY_AVX2 && !HWY_COMPILER_MSVC
    // AVX-VNNI. Highway has no target for it; inline assembly needs no other compiler flags.
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum.raw) : "x"(codes.raw), "xm"(q.raw));
    return sum;
#elif HWY_ARCH_ARM_A64 && HWY_TARGET != HWY_NEON_BF16
    asm(".arch_extension dotprod\n\tsdot %0.4s, %1.16b, %2.16b" : "+w"(sum.raw) : "w"(codes.raw), "w"(q.raw));
    return sum;
#else
    return hn::SumOfMulQuadAccumulate(DI32(), codes, q, sum);
#endif
  }
};

// Calls body with the better one of the two that this machine has.
template <class Body>
HWY_INLINE void with_dot(const Body& body) {
#if HWY_TARGET == HWY_WASM || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL)
  body(QuadDot());
#elif HWY_TARGET == HWY_AVX2 && !HWY_COMPILER_MSVC
  cpu_target().avx_vnni ? body(QuadDot()) : body(PairDot());
#elif HWY_ARCH_ARM_A64
  cpu_target().neon_dot ? body(QuadDot()) : body(PairDot());
#else
  body(PairDot());
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
