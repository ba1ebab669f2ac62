#include "backend/gpu/record/program.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/bytes.h"

namespace tern::gpu {
namespace {

bool holds(If wanted, bool is_so) { return wanted == If::kAny || (wanted == If::kYes) == is_so; }

int rows_in(const RunShape& shape, Rows rows) {
  switch (rows) {
    case Rows::kTokens:
      return shape.n_tokens;
    case Rows::kLogits:
      return shape.n_logit_rows;
    case Rows::kSequences:
      return shape.n_sequences;
  }
  std::unreachable();
}

bool applies(const RecordedDispatch& d, const RunShape& shape) {
  if (d.path != DispatchPath::kAny && (d.path == DispatchPath::kMegakernel) != (shape.megakernel_workgroups > 0))
    return false;
  const Extent& e = d.extent;
  const int n_rows = rows_in(shape, e.rows);
  if (n_rows < std::max(e.when.min_rows, 1) || n_rows > e.when.max_rows) return false;
  if (e.when.slices != Slices::kAny && (e.when.slices == Slices::kDecodeBatch) != shape.is_decode_batch) return false;
  if (shape.slice_tokens_estimate < e.when.min_slice || shape.slice_tokens_estimate > e.when.max_slice) return false;
  if (!holds(e.when.embeds_next, shape.embeds_next) || !holds(e.when.is_embedded, shape.is_embedded)) return false;
  if (!holds(e.when.moves_states, shape.moves_states)) return false;
  if (shape.n_best < e.when.min_best || shape.n_best > e.when.max_best) return false;
  return shape.n_tokens >= e.when.min_tokens && shape.n_tokens <= e.when.max_tokens && shape.n_pos >= e.when.min_pos &&
         shape.n_pos <= e.when.max_pos;
}

Grid grid_for(const RecordedDispatch& d, const RunShape& shape) {
  if (d.path == DispatchPath::kMegakernel) return {.x = shape.megakernel_workgroups};
  const Extent& e = d.extent;
  Grid grid = e.grid;
  const auto rows = static_cast<uint32_t>(rows_in(shape, e.rows));
  const uint32_t groups = ceil_div(rows * e.parts, e.rows_per_workgroup) + e.more;
  if (e.axis == Axis::kY) grid.y = groups;
  if (e.axis == Axis::kZ) grid.z = groups;
  if (e.positions_per_split > 0) {
    grid.z = std::min(ceil_div(static_cast<uint32_t>(shape.n_pos), e.positions_per_split), e.max_splits);
  }
  return grid;
}

}  // namespace

Grid grid_of(uint32_t n, uint32_t most) {
  if (n <= most) return {.x = n};
  const auto side = static_cast<uint32_t>(std::ceil(std::sqrt(static_cast<double>(n))));
  return {.x = side, .y = ceil_div(n, side)};
}

void Program::commands(const RunShape& shape, std::vector<Command>& out, int first_step, int end_step) const {
  for (const RecordedDispatch& d : dispatches_) {
    if (d.step < first_step || d.step >= end_step || !applies(d, shape)) continue;
    out.push_back(
        {.pipeline = d.pipeline, .bindings = d.bindings.get(), .grid = grid_for(d, shape), .from = {}, .to = {}});
  }
}

Result<void> Program::rebind(Device& device, const std::map<BufferView, BufferView>& replaced) {
  for (RecordedDispatch& d : dispatches_) {
    bool is_changed = false;
    for (BufferView& view : d.views) {
      const auto found = replaced.find(view);
      if (found == replaced.end()) continue;
      view = found->second;
      is_changed = true;
    }
    if (!is_changed) continue;
    TRY(d.bindings, device.bind(*d.pipeline, d.views));
  }
  return {};
}

std::vector<int> Program::steps(const RunShape& shape) const {
  std::vector<int> steps;
  for (const RecordedDispatch& d : dispatches_) {
    if (applies(d, shape)) steps.push_back(d.step);
  }
  return steps;
}

}  // namespace tern::gpu
