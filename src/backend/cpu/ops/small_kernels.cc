// The short kernels in one translation unit: Highway's headers are read once per instruction set, which takes longer
// than compiling any of these. Builds with TERN_UNITY=OFF compile each file alone.
#define HWY_TARGET_INCLUDE "backend/cpu/ops/small_kernels.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "backend/cpu/ops/activations.cc"
#include "backend/cpu/ops/delta.cc"
#include "backend/cpu/ops/elementwise.cc"
#include "backend/cpu/ops/head_copy.cc"
#include "backend/cpu/ops/kv_cache.cc"
#include "backend/cpu/ops/results.cc"
#include "backend/cpu/ops/sum_words.cc"

#if HWY_ONCE  // these use no vectors
#include "backend/cpu/ops/rope.cc"
#endif
