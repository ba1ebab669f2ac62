// Products of vectors, as a model's layers have: slow processors differ from fast ones most in these.
#include <wasm_simd128.h>

#include <array>

#include "base/platform/processors.h"

namespace tern::platform {
namespace {

// Some ten microseconds of independent products; returns something that depends on all of them.
int multiply(int seed) {
  std::array<v128_t, 8> sums;
  sums.fill(wasm_i32x4_splat(seed));
  const v128_t weights = wasm_i16x8_splat(static_cast<int16_t>(seed | 1));
  for (int i = 0; i < 2000; ++i) {
    for (v128_t& sum : sums) sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(sum, weights));
  }
  int all = 0;
  for (const v128_t sum : sums) all += wasm_i32x4_extract_lane(sum, 0);
  return all;
}

}  // namespace

int measure_speed(std::chrono::steady_clock::time_point end) {
  int units = 0;
  volatile int result = 0;  // so that nothing is left out
  for (; std::chrono::steady_clock::now() < end; ++units) result = multiply(result + units);
  return units;
}

}  // namespace tern::platform
