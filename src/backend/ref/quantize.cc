#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "backend/ref/ops.h"

namespace tern::ref {

namespace {

int8_t to_int8(float x) { return static_cast<int8_t>(std::clamp(std::nearbyint(x), -128.0f, 127.0f)); }

// If a value of a row or block is not finite, all codes become 0 and the scale NaN, so that every result computed from
// them is NaN.
bool are_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float x) { return std::isfinite(x); });
}

constexpr float kNoScale = std::numeric_limits<float>::quiet_NaN();

}  // namespace

// In float, as in training: the integers are part of the model's definition, so every backend must find the same ones
// for the same input.
void quantize(const ops::Quantize& op) {
  for (int r = 0; r < op.n; ++r) {
    const float* in = op.in + static_cast<size_t>(r) * static_cast<size_t>(op.width);
    int8_t* q = op.out.q + static_cast<size_t>(r) * static_cast<size_t>(op.width);
    op.out.sum[r] = 0;
    if (!are_finite({in, static_cast<size_t>(op.width)})) {
      std::fill_n(q, op.width, int8_t{0});
      op.out.scale[r] = kNoScale;
      continue;
    }
    float largest = 0;
    for (int i = 0; i < op.width; ++i) largest = std::max(largest, std::abs(in[i]));
    const float scale = 127.0f / std::max(largest, 1e-5f);
    for (int i = 0; i < op.width; ++i) {
      q[i] = to_int8(in[i] * scale);
      op.out.sum[r] += q[i];
    }
    op.out.scale[r] = scale;
  }
}

// d = max|x| / 127 and q = x / d rounded, in float: Q8_0's quantization, but the scale stays f32.
void quantize_blocks(const ops::QuantizeBlocks& op) {
  const size_t n_blocks = static_cast<size_t>(op.n) * static_cast<size_t>(op.width) / kInt8Block;
  for (size_t b = 0; b < n_blocks; ++b) {
    const float* in = op.in + b * kInt8Block;
    op.out.sum[b] = 0;
    if (!are_finite({in, kInt8Block})) {
      std::fill_n(op.out.q + b * kInt8Block, kInt8Block, int8_t{0});
      op.out.scale[b] = kNoScale;
      continue;
    }
    float largest = 0;
    for (int i = 0; i < kInt8Block; ++i) largest = std::max(largest, std::abs(in[i]));
    const float inverse = largest > 0 ? 127.0f / largest : 0.0f;
    for (int i = 0; i < kInt8Block; ++i) {
      const int8_t q = to_int8(in[i] * inverse);
      op.out.q[b * kInt8Block + static_cast<size_t>(i)] = q;
      op.out.sum[b] += q;
    }
    op.out.scale[b] = largest / 127.0f;
  }
}

}  // namespace tern::ref
