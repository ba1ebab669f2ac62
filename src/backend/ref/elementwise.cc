// select_rows, glu_mul, add, add_bias and softcap.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "backend/ref/ops.h"

namespace tern::ref {

void select_rows(const ops::SelectRows& op) {
  float* out = op.out;
  for (const int row : op.rows) {
    out = std::copy_n(op.in + static_cast<size_t>(row) * static_cast<size_t>(op.width), op.width, out);
  }
}

namespace {

double silu(double x) { return x / (1 + std::exp(-x)); }

double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

}  // namespace

void glu_mul(const ops::GluMul& op) {
  const auto width = static_cast<size_t>(op.width), stride = static_cast<size_t>(op.up_stride);
  for (size_t i = 0; i < op.count; ++i) {
    const float up = op.up[width == 0 ? i : i / width * stride + i % width];
    if (op.act == GluAct::kSwigluOai) {
      const double gate = op.gate[i];
      op.out[i] = static_cast<float>(gate / (1 + std::exp(-1.702 * gate)) * (up + 1.0));
    } else if (op.act == GluAct::kRelu2) {  // in single precision, which is exactly what other backends compute
      const float positive = std::max(op.gate[i], 0.0f);
      op.out[i] = positive * positive * up;
    } else {
      const double gate = op.act == GluAct::kSilu ? silu(op.gate[i]) : gelu_tanh(op.gate[i]);
      op.out[i] = static_cast<float>(gate * up);
    }
  }
}

void add(const ops::Add& op) {
  for (size_t i = 0; i < op.count; ++i) op.x[i] = (op.x[i] + op.in[i]) * op.scale;
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
