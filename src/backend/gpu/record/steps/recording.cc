#include "backend/gpu/record/steps/recording.h"

#include "backend/gpu/kernels/elementwise.h"
#include "base/bytes.h"

namespace tern::gpu {

When LeftInt8::leaving(const When& when) const {
  When some = when;
  some.min_tokens = std::max(when.min_tokens, min_rows);
  some.max_tokens = std::min(when.max_tokens, max_rows);
  if (moves_states != If::kAny) some.moves_states = moves_states;
  return some;
}

std::vector<When> LeftInt8::others(const When& when) const {
  const When some = leaving(when);
  std::vector<When> rest;
  if (when.min_tokens < some.min_tokens) {
    rest.push_back(when);
    rest.back().max_tokens = some.min_tokens - 1;
  }
  if (some.max_tokens < when.max_tokens) {
    rest.push_back(when);
    rest.back().min_tokens = some.max_tokens + 1;
  }
  if (moves_states != If::kAny && when.moves_states == If::kAny) {
    rest.push_back(some);
    rest.back().moves_states = moves_states == If::kYes ? If::kNo : If::kYes;
  }
  return rest;
}

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
