#include <vector>

#include "backend/ref/ops.h"
#include "backend/ref/weight_rows.h"

namespace tern::ref {

// y = Σ w·q / s · scale. Weights that decode to whole numbers give an integer sum, which a double holds exactly.
void ternary_linear(const ops::TernaryLinear& op) {
  const auto cols = static_cast<size_t>(op.w->cols);
  for (int row = 0; row < op.w->rows; ++row) {
    const std::vector<float> weights = weight_row(*op.w, row);
    for (int r = 0; r < op.n; ++r) {
      const int8_t* q = op.in.q + static_cast<size_t>(r) * cols;
      double dot = 0;
      for (size_t i = 0; i < cols; ++i) dot += static_cast<double>(weights[i]) * q[i];
      const float y = static_cast<float>(dot) / op.in.scale[r] * op.w->scale;
      float& out = op.out[static_cast<size_t>(r) * static_cast<size_t>(op.w->rows) + static_cast<size_t>(row)];
      out = op.store == ops::Store::kAdd ? out + y : y;
    }
  }
}

void ternary_glu(const ops::TernaryGlu& op) {
  const size_t count = static_cast<size_t>(op.n) * static_cast<size_t>(op.w_gate->rows);
  std::vector<float> gate(count), up(count);
  ternary_linear({op.in, op.n, op.w_gate, ops::Store::kSet, gate.data()});
  ternary_linear({op.in, op.n, op.w_up, ops::Store::kSet, up.data()});
  glu_mul({gate.data(), up.data(), op.act, count, op.out});
}

}  // namespace tern::ref
