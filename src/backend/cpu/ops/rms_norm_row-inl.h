// The RMS norm of one row. Compiled once per instruction set, in activations.cc. Included once per instruction set.
#if defined(TERN_BACKEND_CPU_RMS_NORM_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_RMS_NORM_ROW_INL_H_
#undef TERN_BACKEND_CPU_RMS_NORM_ROW_INL_H_
#else
#define TERN_BACKEND_CPU_RMS_NORM_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {

// out = x / √(mean x² + eps) · gain, `width` values. out may be x.
void RmsNormRow(const float* x, const float* gain, float eps, size_t width, float* out);

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
