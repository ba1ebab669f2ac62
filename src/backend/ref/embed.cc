#include <algorithm>

#include "backend/ref/ops.h"
#include "backend/ref/weight_rows.h"

namespace tern::ref {

void embed(const ops::Embed& op) {
  float* out = op.out;
  for (const TokenId token : op.tokens) {
    const std::vector<float> row = weight_row(*op.table, token);
    out = std::ranges::transform(row, out, [&](float value) { return value * op.scale; }).out;
  }
}

}  // namespace tern::ref
