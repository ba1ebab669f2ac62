// The short kernels in one translation unit. Highway's headers are read once for each instruction set, which takes
// longer than to compile any of these. Builds with TERN_UNITY=OFF compile each file alone.
#define HWY_TARGET_INCLUDE "backend/cpu/small_kernels.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "backend/cpu/activations.cc"
#include "backend/cpu/elementwise.cc"
#include "backend/cpu/head_copy.cc"
#include "backend/cpu/kv_cache.cc"
#include "backend/cpu/results.cc"
#include "backend/cpu/sum_words.cc"

#if HWY_ONCE  // no vectors of their own
#include "backend/cpu/embed.cc"
#include "backend/cpu/rope.cc"
#endif
