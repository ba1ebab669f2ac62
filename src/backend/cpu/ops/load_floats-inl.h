// Loads values of any float type as float32 vectors. Included once per instruction set, after <hwy/highway.h>.
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
// Converts four f16 numbers to floats, exactly, except that infinity becomes 65,536 and NaN becomes more. With its bits
// moved to their places in a float, the number is 2¹¹² times too small. If that is subnormal, as the f16 number was,
// the product costs processors 100 more cycles. So this is for weights, of which few are subnormal.
HWY_INLINE hwy::HWY_NAMESPACE::Vec128<float> FloatsOfHalves(const void* at) {
  const v128_t bits = wasm_i32x4_shl(wasm_i32x4_load16x4(at), 13);
  return {wasm_f32x4_mul(wasm_v128_and(bits, wasm_i32x4_const_splat(~0x70001FFF)), wasm_f32x4_const_splat(0x1p112f))};
}

// The same for data in which subnormal f16 numbers are common, such as the scales of small weights. Adding 112 to the
// exponent e makes a normal f16 number a float. A subnormal one m·2⁻²⁴ becomes 2⁻¹⁵ + m·2⁻²⁵, which is corrected by
// adding it once more and subtracting 2⁻¹⁴.
HWY_INLINE hwy::HWY_NAMESPACE::Vec128<float> FloatsOfSmallHalves(const void* at) {
  const v128_t bits = wasm_i32x4_shl(wasm_i32x4_load16x4(at), 13);
  const v128_t magnitude =
      wasm_i32x4_add(wasm_v128_and(bits, wasm_i32x4_const_splat(0x0FFFE000)), wasm_i32x4_const_splat(112 << 23));
  const v128_t missing = wasm_f32x4_sub(magnitude, wasm_f32x4_const_splat(0x1p-14f));
  const v128_t exact = wasm_f32x4_add(magnitude, wasm_f32x4_pmin(wasm_f32x4_const_splat(0), missing));
  return {wasm_v128_or(exact, wasm_v128_and(bits, wasm_i32x4_const_splat(INT32_MIN)))};
}
#endif

// A vector of values of type float, hwy::float16_t or hwy::bfloat16_t.
template <class T>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::ScalableTag<float>> LoadWholeFloats(const T* at) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  if constexpr (std::is_same_v<T, float>) {
    return hn::LoadU(d, at);
#if HWY_TARGET == HWY_WASM
  } else if constexpr (std::is_same_v<T, hwy::float16_t>) {
    return FloatsOfHalves(at);
#endif
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, hn::ScalableTag<float>>(), at));
  }
}

// The same for `n` ≤ lanes values; the other lanes are 0.
template <class T>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::ScalableTag<float>> LoadFloats(const T* at, size_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  if (n == hn::Lanes(d)) return LoadWholeFloats(at);
  // Copied, because a weight in a file may not be aligned to its size.
  HWY_ALIGN T some[hn::MaxLanes(d)] = {};
  std::memcpy(some, reinterpret_cast<const char*>(at), n * sizeof(T));
  return LoadWholeFloats(some);
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
