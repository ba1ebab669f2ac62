// The short kernels in one translation unit: Highway's headers are read once per instruction set, which takes longer
// than compiling any of these. Builds with TERN_UNITY=OFF compile each file alone.
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

#if HWY_ONCE  // these use no vectors
#include "backend/cpu/embed.cc"
#include "backend/cpu/rope.cc"
#endif
