#include <algorithm>
#include <cmath>

#include "backend/ref/ops.h"

namespace tern::ref {

namespace {

// What is not a number becomes 0, as vector instructions make it.
int8_t to_int8(float x) {
  return std::isnan(x) ? int8_t{0} : static_cast<int8_t>(std::clamp(std::nearbyint(x), -128.0f, 127.0f));
}

}  // namespace

// In float, as the model was trained: the integers are part of the model's definition, so every backend must find the
// same ones for the same input.
void quantize(const ops::Quantize& op) {
  for (int r = 0; r < op.n; ++r) {
    const float* in = op.in + static_cast<size_t>(r) * static_cast<size_t>(op.width);
    int8_t* q = op.out.q + static_cast<size_t>(r) * static_cast<size_t>(op.width);
    float largest = 0;
    for (int i = 0; i < op.width; ++i) largest = std::max(largest, std::abs(in[i]));
    const float scale = 127.0f / std::max(largest, 1e-5f);
    int32_t sum = 0;
    for (int i = 0; i < op.width; ++i) {
      q[i] = to_int8(in[i] * scale);
      sum += q[i];
    }
    op.out.scale[r] = scale;
    op.out.sum[r] = sum;
  }
}

// d = max|x| / 127 and q = x / d rounded, in float: Q8_0's quantiser with its scale left at f32.
void quantize_blocks(const ops::QuantizeBlocks& op) {
  const size_t n_blocks = static_cast<size_t>(op.n) * static_cast<size_t>(op.width) / kInt8Block;
  for (size_t b = 0; b < n_blocks; ++b) {
    const float* in = op.in + b * kInt8Block;
    float largest = 0;
    for (int i = 0; i < kInt8Block; ++i) largest = std::max(largest, std::abs(in[i]));
    const float inverse = largest > 0 ? 127.0f / largest : 0.0f;
    int32_t sum = 0;
    for (int i = 0; i < kInt8Block; ++i) {
      const int8_t q = to_int8(in[i] * inverse);
      op.out.q[b * kInt8Block + static_cast<size_t>(i)] = q;
      sum += q;
    }
    op.out.scale[b] = largest / 127.0f;
    op.out.sum[b] = sum;
  }
}

}  // namespace tern::ref
