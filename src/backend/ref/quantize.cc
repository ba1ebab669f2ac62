#include <algorithm>
#include <cmath>

#include "backend/ref/ops.h"

namespace tern::ref {

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
      q[i] = static_cast<int8_t>(std::clamp(std::nearbyint(in[i] * scale), -128.0f, 127.0f));
      sum += q[i];
    }
    op.out.scale[r] = scale;
    op.out.sum[r] = sum;
  }
}

}  // namespace tern::ref
