#include "backend/ref/ops.h"

namespace tern::ref {

void rope(const ops::Rope& op) {
  const int half = op.rotated() / 2;
  const bool halves = op.pairs == RopePairs::kHalves;
  float* head = op.x;
  for (int r = 0; r < op.n; ++r) {
    const float* cos = op.cos + static_cast<size_t>(r) * static_cast<size_t>(half);
    const float* sin = op.sin + static_cast<size_t>(r) * static_cast<size_t>(half);
    for (int h = 0; h < op.n_heads; ++h, head += op.head_dim) {
      for (int i = 0; i < half; ++i) {
        float& a = head[halves ? i : 2 * i];
        float& b = head[halves ? i + half : 2 * i + 1];
        const float rotated_a = a * cos[i] - b * sin[i];
        const float rotated_b = b * cos[i] + a * sin[i];
        a = rotated_a;
        b = rotated_b;
      }
    }
  }
}

}  // namespace tern::ref
