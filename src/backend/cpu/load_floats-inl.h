// Loading values of any float type as float32 vectors. Included once per instruction set, after <hwy/highway.h>.
#if defined(TERN_BACKEND_CPU_LOAD_FLOATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_LOAD_FLOATS_INL_H_
#undef TERN_BACKEND_CPU_LOAD_FLOATS_INL_H_
#else
#define TERN_BACKEND_CPU_LOAD_FLOATS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

#if HWY_TARGET == HWY_WASM
#include <wasm_simd128.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_WASM
// Halves as floats, exactly, but infinity as 65,536 and NaN as more: the bits moved to where a float has them make a
// number 2¹¹² times too small, subnormal or not.
HWY_INLINE hwy::HWY_NAMESPACE::Vec128<float> HalvesToFloats(v128_t sign_extended) {
  const v128_t bits = wasm_v128_and(wasm_i32x4_shl(sign_extended, 13), wasm_i32x4_const_splat(~0x70001FFF));
  return {wasm_f32x4_mul(bits, wasm_f32x4_const_splat(0x1p112f))};
}
#endif

// `n` ≤ lanes values of float, hwy::float16_t or hwy::bfloat16_t; the lanes beyond are 0.
template <class T>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::ScalableTag<float>> LoadFloats(const T* at, size_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  if constexpr (std::is_same_v<T, float>) {
    return n == hn::Lanes(d) ? hn::LoadU(d, at) : hn::LoadN(d, at, n);
#if HWY_TARGET == HWY_WASM
  } else if constexpr (std::is_same_v<T, hwy::float16_t>) {
    if (n == 4) return HalvesToFloats(wasm_i32x4_load16x4(at));
    int16_t some[4] = {};
    std::memcpy(some, at, n * sizeof(T));
    return HalvesToFloats(wasm_i32x4_load16x4(some));
#endif
  } else {
    const hn::Rebind<T, hn::ScalableTag<float>> dt;
    return hn::PromoteTo(d, n == hn::Lanes(d) ? hn::LoadU(dt, at) : hn::LoadN(dt, at, n));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
