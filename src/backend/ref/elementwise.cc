// copy, glu_mul, add, add_bias and softcap.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "backend/ref/ops.h"
#include "base/check.h"

namespace tern::ref {

void copy(const ops::Copy& op) { std::copy_n(op.in, op.count, op.out); }

namespace {

double activate(GluAct act, double gate) {
  switch (act) {
    case GluAct::kRelu2:
      break;  // below
    case GluAct::kSilu:
      return gate / (1 + std::exp(-gate));
    case GluAct::kGeluTanh: {
      const double inner = std::sqrt(2 / std::numbers::pi) * (gate + 0.044715 * gate * gate * gate);
      return 0.5 * gate * (1 + std::tanh(inner));
    }
  }
  CHECK(false);
}

}  // namespace

void glu_mul(const ops::GluMul& op) {
  for (size_t i = 0; i < op.count; ++i) {
    if (op.act == GluAct::kRelu2) {  // in single precision: exactly what other backends compute
      const float positive = std::max(op.gate[i], 0.0f);
      op.out[i] = positive * positive * op.up[i];
    } else {
      op.out[i] = static_cast<float>(activate(op.act, op.gate[i]) * op.up[i]);
    }
  }
}

void add(const ops::Add& op) {
  for (size_t i = 0; i < op.count; ++i) op.x[i] += op.in[i];
}

void add_bias(const ops::AddBias& op) {
  const auto width = static_cast<size_t>(op.width);
  for (size_t i = 0; i < static_cast<size_t>(op.n) * width; ++i) op.x[i] += op.bias[i % width];
}

void softcap(const ops::Softcap& op) {
  const double cap = op.cap;
  for (size_t i = 0; i < op.count; ++i) op.x[i] = static_cast<float>(cap * std::tanh(op.x[i] / cap));
}

}  // namespace tern::ref
