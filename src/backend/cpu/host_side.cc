// What prepares and steers the kernels, in one translation unit: the standard library's headers take longer than any of
// these. Builds with TERN_UNITY=OFF compile each file alone.
#include "backend/cpu/base3.cc"
#include "backend/cpu/cpu_backend.cc"
#include "backend/cpu/cpu_target.cc"
#include "backend/cpu/interleave.cc"
