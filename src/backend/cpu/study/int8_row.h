// x as the int8 kernels take it: the engine's own quantisation of one row, and what becomes of a sum of its integers.
#pragma once

#include <cstdint>

#include "backend/cpu/ops.h"

namespace tern::cpu::study {

// Stands at the front of prepared activations. kInt8Header bytes, so that what follows is aligned.
struct Int8Row {
  float scale;  // x ≈ q / scale
  int32_t sum;  // Σ q
};
inline constexpr size_t kInt8Header = 64;

// q[0 … cols) and the rest of `row`. |q| ≤ 127: the largest |x| becomes 127.
inline void quantize_row(const float* x, int cols, int8_t* q, Int8Row& row) {
  std::atomic<int> next = 0;
  WorkQueue alone(next, 1, {});
  quantize({.in = x, .n = 1, .width = cols, .out = {.q = q, .scale = &row.scale, .sum = &row.sum}}, alone);
}

// y of an exact dot = Σ w·q: the same float operations as the engine's.
inline float int8_result(int32_t dot, const Int8Row& row, float weight_scale) {
  return static_cast<float>(dot) / row.scale * weight_scale;
}

}  // namespace tern::cpu::study
