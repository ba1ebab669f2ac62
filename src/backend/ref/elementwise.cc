// copy, glu_mul and add.
#include <algorithm>
#include <cmath>

#include "backend/ref/ops.h"

namespace tern::ref {

void copy(const ops::Copy& op) { std::copy_n(op.in, op.count, op.out); }

void glu_mul(const ops::GluMul& op) {
  for (size_t i = 0; i < op.count; ++i) {
    const double gate = op.gate[i];
    if (op.act == GluAct::kSilu) {
      op.out[i] = static_cast<float>(gate / (1 + std::exp(-gate)) * op.up[i]);
    } else {
      const float positive = std::max(op.gate[i], 0.0f);
      op.out[i] = positive * positive * op.up[i];
    }
  }
}

void add(const ops::Add& op) {
  for (size_t i = 0; i < op.count; ++i) op.x[i] += op.in[i];
}

}  // namespace tern::ref
