// The study's vector kernels in one translation unit, because Highway's headers take longer to compile than these
// kernels. Builds with TERN_UNITY=OFF compile each file alone.
#define HWY_TARGET_INCLUDE "backend/cpu/study/vector_kernels.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "backend/cpu/study/base3_int8.cc"
#include "backend/cpu/study/f32.cc"
#include "backend/cpu/study/tmac_int8.cc"
#include "backend/cpu/study/two_bit_float.cc"
