#include <vector>

#include "backend/ref/ops.h"
#include "backend/ref/weight_rows.h"

namespace tern::ref {
void float_linear(const ops::FloatLinear& op) {
  const auto cols = static_cast<size_t>(op.w->cols);
  if (op.n == 0) return;
  std::vector<std::vector<double>> inputs;
  for (int r = 0; r < op.n; ++r) inputs.push_back(input_row(op.in, r, cols));
  for (int row = 0; row < op.w->rows; ++row) {
    const std::vector<float> weights = weight_row(*op.w, row);
    for (int r = 0; r < op.n; ++r) {
      double dot = 0;
      for (size_t i = 0; i < cols; ++i) dot += static_cast<double>(weights[i]) * inputs[static_cast<size_t>(r)][i];
      const auto y = static_cast<float>(dot * op.w->scale);
      float& out = op.out[static_cast<size_t>(r) * static_cast<size_t>(op.w->rows) + static_cast<size_t>(row)];
      out = op.store == ops::Store::kAdd ? out + y : y;
    }
  }
}

void float_glu(const ops::FloatGlu& op) {
  const size_t count = static_cast<size_t>(op.n) * static_cast<size_t>(op.w_gate->rows);
  std::vector<float> gate(count), up(count);
  float_linear({op.in, op.n, op.w_gate, ops::Store::kSet, gate.data()});
  float_linear({op.in, op.n, op.w_up, ops::Store::kSet, up.data()});
  glu_mul({gate.data(), up.data(), op.act, count, op.out});
}

}  // namespace tern::ref
