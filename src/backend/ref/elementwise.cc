// copy, relu2_mul and add.
#include <algorithm>

#include "backend/ref/ops.h"

namespace tern::ref {

void copy(const ops::Copy& op) { std::copy_n(op.in, op.count, op.out); }

void relu2_mul(const ops::Relu2Mul& op) {
  for (size_t i = 0; i < op.count; ++i) {
    const float positive = std::max(op.gate[i], 0.0f);
    op.out[i] = positive * positive * op.up[i];
  }
}

void add(const ops::Add& op) {
  for (size_t i = 0; i < op.count; ++i) op.x[i] += op.in[i];
}

}  // namespace tern::ref
