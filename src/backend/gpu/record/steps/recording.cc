#include "backend/gpu/record/steps/recording.h"

#include "backend/gpu/kernels/elementwise.h"
#include "base/bytes.h"

namespace tern::gpu {

void Recording::add(RecordedDispatch recorded) {
  recorded.step = step_;
  recorded.path = path_;
  When& when = recorded.extent.when;
  when.min_best = std::max(when.min_best, fewest_best_);
  when.max_best = std::min(when.max_best, most_best_);
  program_.add(std::move(recorded));
}

Extent Recording::per_column(SlotId slot) const {
  return {.grid = {.x = ceil_div(width(slot), kElementwiseWorkgroup)}, .axis = Axis::kY, .rows = rows_of(slot)};
}

Result<View<wgsl::Vec2<wgsl::F32>>> Recording::angles(int rope) const {
  TRY(const Buffer* table, c_.work.ropes().table(rope));
  return View<wgsl::Vec2<wgsl::F32>>{{table, 0, 0}};
}

}  // namespace tern::gpu
