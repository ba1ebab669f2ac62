#include <vector>

#include "backend/ref/ops.h"
#include "backend/ref/weight_rows.h"

namespace tern::ref {

void float_linear(const ops::FloatLinear& op) {
  const auto cols = static_cast<size_t>(op.w->cols);
  if (op.n == 0) return;
  for (int row = 0; row < op.w->rows; ++row) {
    const std::vector<float> weights = weight_row(*op.w, row);
    for (int r = 0; r < op.n; ++r) {
      const float* in = op.in + static_cast<size_t>(r) * cols;
      double dot = 0;
      for (size_t i = 0; i < cols; ++i) dot += static_cast<double>(weights[i]) * in[i];
      op.out[static_cast<size_t>(r) * static_cast<size_t>(op.w->rows) + static_cast<size_t>(row)] =
          static_cast<float>(dot * op.w->scale);
    }
  }
}

}  // namespace tern::ref
