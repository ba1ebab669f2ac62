// Byte dot products on WebAssembly, exact in int32. Highway has no instruction for them there. Included once per
// instruction set.
//
// Relaxed SIMD has such an instruction, for i8 × i7. The browser chooses what it does with the eighth bit of its second
// operand, and whether a sum of two products saturates at 16 bits. Neither matters while the second operand is 0 … 127,
// because two products are then at most 2·128·127 = 32,512.
//
// Without relaxed SIMD, pairs of bytes are multiplied as 16-bit numbers by i32x4.dot_i16x8. For the 16-bit code c =
// 256·odd + even, Σ even·q₀ + odd·q₁ = Σ c·q₀ + (c >> 8)·(q₁ − 256·q₀), so no code has to be masked. The activations'
// parts are made once per op.
#if defined(TERN_BACKEND_CPU_WASM_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_WASM_DOT_INL_H_
#undef TERN_BACKEND_CPU_WASM_DOT_INL_H_
#else
#define TERN_BACKEND_CPU_WASM_DOT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdlib>
#include <cstring>

#if HWY_TARGET == HWY_WASM
#include <wasm_simd128.h>

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {

using WasmU8 = hwy::HWY_NAMESPACE::Vec128<uint8_t>;
using WasmI8 = hwy::HWY_NAMESPACE::Vec128<int8_t>;
using WasmI32 = hwy::HWY_NAMESPACE::Vec128<int32_t>;

// Returns sum + codes·q, in groups of four bytes; codes are 0 … 127.
HWY_INLINE WasmI32 WasmDot4(WasmU8 codes, WasmI8 q, WasmI32 sum) {
#ifdef __wasm_relaxed_simd__
  return WasmI32{wasm_i32x4_relaxed_dot_i8x16_i7x16_add(q.raw, codes.raw, sum.raw)};
#else
  const v128_t even = wasm_i32x4_dot_i16x8(wasm_v128_and(codes.raw, wasm_i16x8_const_splat(0xFF)),
                                           wasm_i16x8_shr(wasm_i16x8_shl(q.raw, 8), 8));
  const v128_t odd = wasm_i32x4_dot_i16x8(wasm_u16x8_shr(codes.raw, 8), wasm_i16x8_shr(q.raw, 8));
  return WasmI32{wasm_i32x4_add(wasm_i32x4_add(sum.raw, even), odd)};
#endif
}

// Converts signed bytes to the codes of WasmDot<255>.
HWY_INLINE WasmU8 WasmCodesOfSigned(WasmU8 w) {
#ifdef __wasm_relaxed_simd__
  return w;
#else
  return WasmU8{wasm_v128_xor(w.raw, wasm_i16x8_const_splat(0x80))};  // the lower byte of 16 bits has no sign
#endif
}

// Block dot products (block_kernels-inl.h) for codes up to kLargest: 127, or 255 for signed bytes. Activations are −127
// … 127 (ops::BlockRows).
template <int kLargest>
struct WasmDot {
  static constexpr bool kSigned = kLargest > 127;
  using Sum = WasmI32;
  struct Operand {
    v128_t a, b;
  };

#ifdef __wasm_relaxed_simd__
  // Signed weights are the first operand, and |q| the second. With the sign s ∈ {0, −1} of q, (w ^ s)·|q| is w·q if q
  // is positive, and w·q − |q| if it is negative: w ^ −1 = −w − 1, which is valid for every w.
  static constexpr size_t kVectors = kSigned ? 2 : 1;

  static void put(const int8_t* q, uint8_t* lane) {
    if (!kSigned) {
      std::memcpy(lane, q, 4);
      return;
    }
    for (int i = 0; i < 4; ++i) {
      lane[i] = static_cast<uint8_t>(std::abs(q[i]));
      lane[16 + i] = q[i] < 0 ? 0xFF : 0;
    }
  }
  static int32_t excess(const int8_t* q, size_t n, int zero, int32_t sum) {
    if (!kSigned) return zero * sum;
    int32_t negative = 0;
    for (size_t i = 0; i < n; ++i) negative += q[i] < 0 ? q[i] : 0;
    return negative;
  }
  static HWY_INLINE Operand load(const uint8_t* at) {
    return {wasm_v128_load(at), kSigned ? wasm_v128_load(at + 16) : wasm_i8x16_const_splat(0)};
  }
  static HWY_INLINE Sum add(WasmU8 codes, const Operand& q, Sum sum) {
    if constexpr (kSigned) {
      return WasmI32{wasm_i32x4_relaxed_dot_i8x16_i7x16_add(wasm_v128_xor(codes.raw, q.b), q.a, sum.raw)};
    } else {
      return WasmI32{wasm_i32x4_relaxed_dot_i8x16_i7x16_add(q.a, codes.raw, sum.raw)};
    }
  }
#else
  static constexpr size_t kVectors = 2;

  static void put(const int8_t* q, uint8_t* lane) {  // |q₁ − 256·q₀| ≤ 127 + 256·127 < 2¹⁵
    const int16_t even[2] = {q[0], q[2]};
    const int16_t odd[2] = {static_cast<int16_t>(q[1] - 256 * q[0]), static_cast<int16_t>(q[3] - 256 * q[2])};
    std::memcpy(lane, even, 4);
    std::memcpy(lane + 16, odd, 4);
  }
  static int32_t excess(const int8_t* q, size_t n, int zero, int32_t sum) {
    if (!kSigned) return zero * sum;
    int32_t even = 0;
    for (size_t i = 0; i < n; i += 2) even += q[i];
    return zero * even;
  }
  static HWY_INLINE Operand load(const uint8_t* at) { return {wasm_v128_load(at), wasm_v128_load(at + 16)}; }
  static HWY_INLINE Sum add(WasmU8 codes, const Operand& q, Sum sum) {
    const v128_t both = wasm_i32x4_dot_i16x8(codes.raw, q.a);
    const v128_t odd = wasm_i32x4_dot_i16x8(wasm_i16x8_shr(codes.raw, 8), q.b);
    return WasmI32{wasm_i32x4_add(wasm_i32x4_add(sum.raw, both), odd)};
  }
#endif

  static HWY_INLINE Sum start(WasmI32 init) { return init; }
  static HWY_INLINE WasmI32 total(Sum sum, WasmI32 /*init*/) { return sum; }
};

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // HWY_WASM

#endif  // per-target include guard
