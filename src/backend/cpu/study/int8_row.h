// The input of the int8 kernels: one row of x quantized as in the engine, and the conversion of an integer sum to y.
#pragma once

#include <cstdint>

#include "backend/cpu/ops/ops.h"

namespace tern::cpu::study {

// Header of prepared activations. It takes kInt8Header bytes, so that the activations after it are aligned.
struct Int8Row {
  float scale;  // x ≈ q / scale
  int32_t sum;  // Σ q
};
inline constexpr size_t kInt8Header = 64;

// Sets q[0 … cols) and `row`. |q| ≤ 127: the largest |x| becomes 127.
inline void quantize_row(const float* x, int cols, int8_t* q, Int8Row& row) {
  std::atomic<int> next = 0;
  WorkQueue alone(next, 1, {});
  quantize({.in = x, .n = 1, .width = cols, .out = {.q = q, .scale = &row.scale, .sum = &row.sum}}, alone);
}

// Converts the exact dot = Σ w·q to y, with the same float operations as the engine.
inline float int8_result(int32_t dot, const Int8Row& row, float weight_scale) {
  return static_cast<float>(dot) / row.scale * weight_scale;
}

}  // namespace tern::cpu::study
