// Loading values of any float type as float32 vectors. Included once per instruction set, after <hwy/highway.h>.
#if defined(TERN_BACKEND_CPU_LOAD_FLOATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_LOAD_FLOATS_INL_H_
#undef TERN_BACKEND_CPU_LOAD_FLOATS_INL_H_
#else
#define TERN_BACKEND_CPU_LOAD_FLOATS_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {

// `n` ≤ lanes values of float, hwy::float16_t or hwy::bfloat16_t; the lanes beyond are 0.
template <class T>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::ScalableTag<float>> LoadFloats(const T* at, size_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  if constexpr (std::is_same_v<T, float>) {
    return n == hn::Lanes(d) ? hn::LoadU(d, at) : hn::LoadN(d, at, n);
  } else {
    const hn::Rebind<T, hn::ScalableTag<float>> dt;
    return hn::PromoteTo(d, n == hn::Lanes(d) ? hn::LoadU(dt, at) : hn::LoadN(dt, at, n));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
