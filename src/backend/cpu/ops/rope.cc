#include "backend/cpu/ops/ops.h"

namespace tern::cpu {
namespace {

void rotate_halves(float* head, int half, const float* cos, const float* sin) {
  for (int i = 0; i < half; ++i) {
    const float a = head[i];
    const float b = head[i + half];
    head[i] = a * cos[i] - b * sin[i];
    head[i + half] = b * cos[i] + a * sin[i];
  }
}

void rotate_interleaved(float* head, int half, const float* cos, const float* sin) {
  for (int i = 0; i < half; ++i) {
    const float a = head[2 * i];
    const float b = head[2 * i + 1];
    head[2 * i] = a * cos[i] - b * sin[i];
    head[2 * i + 1] = b * cos[i] + a * sin[i];
  }
}

}  // namespace

void rope(const ops::Rope& op, WorkQueue& queue) {
  const int half = op.rotated() / 2;
  const auto rotate = op.pairs == RopePairs::kHalves ? rotate_halves : rotate_interleaved;
  queue.for_ranges(op.n * op.n_heads, 4, [&](int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const auto angles = static_cast<size_t>(unit / op.n_heads) * static_cast<size_t>(half);
      rotate(op.x + static_cast<size_t>(unit) * static_cast<size_t>(op.head_dim), half, op.cos + angles,
             op.sin + angles);
    }
  });
}

}  // namespace tern::cpu
