// The instruction sets that kernels are compiled for; each file of kernels includes this before Highway. Left out: sets
// that add nothing these kernels use (each costs compile time), and vectors of unknown length, which cannot be held in
// arrays.
#pragma once

#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_ZEN4 | HWY_AVX3_SPR | HWY_AVX10_2 | HWY_NEON_BF16 | HWY_ALL_SVE | HWY_RVV)
