#include "backend/gpu/program.h"

#include <algorithm>

namespace tern::gpu {
namespace {

bool applies(const RecordedDispatch& d, const RunShape& shape) {
  if (d.rows == Rows::kLogits && shape.n_logit_rows == 0) return false;
  return shape.n_tokens >= d.when.min_tokens && shape.n_tokens <= d.when.max_tokens && shape.n_pos >= d.when.min_pos &&
         shape.n_pos <= d.when.max_pos;
}

Grid grid_for(const RecordedDispatch& d, const RunShape& shape) {
  Grid grid = d.grid;
  const auto rows = static_cast<uint32_t>(d.rows == Rows::kTokens ? shape.n_tokens : shape.n_logit_rows);
  const uint32_t groups = (rows + d.rows_per_workgroup - 1) / d.rows_per_workgroup;
  if (d.axis == Axis::kY) grid.y = groups;
  if (d.axis == Axis::kZ) grid.z = groups;
  if (d.positions_per_split > 0) {
    const auto n_pos = static_cast<uint32_t>(shape.n_pos);
    grid.z = std::min((n_pos + d.positions_per_split - 1) / d.positions_per_split, d.max_splits);
  }
  return grid;
}

}  // namespace

void Program::commands(const RunShape& shape, std::vector<Command>& out, int first_step, int end_step) const {
  for (const RecordedDispatch& d : dispatches_) {
    if (d.step < first_step || d.step >= end_step || !applies(d, shape)) continue;
    out.push_back(
        {.pipeline = d.pipeline, .bindings = d.bindings.get(), .grid = grid_for(d, shape), .from = {}, .to = {}});
  }
}

std::vector<int> Program::steps(const RunShape& shape) const {
  std::vector<int> steps;
  for (const RecordedDispatch& d : dispatches_) {
    if (applies(d, shape)) steps.push_back(d.step);
  }
  return steps;
}

}  // namespace tern::gpu
