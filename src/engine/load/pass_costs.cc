#include "engine/load/pass_costs.h"

#include <algorithm>
#include <utility>

#include "backend/kv_layout.h"
#include "routing/cost_curve.h"

namespace tern {

namespace {

static_assert(kMovedTogether == kKvBlock);

bool has_joules(const CurvePoint& point) { return point.cost.joules.has_value(); }

bool has_all_joules(const CostCurve& curve) {
  return std::ranges::all_of(curve.prompt, has_joules) && std::ranges::all_of(curve.steps, [](const StepCurve& steps) {
           return std::ranges::all_of(steps.points, has_joules);
         });
}

}  // namespace

PassCosts::PassCosts(std::array<CostCurve, 2> curves, Prefer prefer, int n_reply)
    : curves_(std::move(curves)),
      by_energy_(prefer == Prefer::kEnergy && std::ranges::all_of(curves_, has_all_joules)),
      n_reply_(std::max(n_reply, 1)) {}

double PassCosts::moving(size_t to, int64_t n_positions) const {
  if (by_energy_) return 0;
  return (curves_[1 - to].kv_out_seconds + curves_[to].kv_in_seconds) * static_cast<double>(n_positions);
}

double PassCosts::decoding(size_t device, int n_replies, int n_before) const {
  return amount(step_cost(curves_[device].steps, n_replies, n_before));
}

double PassCosts::operator()(size_t device, Batch slices, const std::array<int64_t, 2>& missing) const {
  double pass = moving(device, missing[device]);
  int n_single = 0, n_replies = 0;
  int64_t single_before = 0, after = 0;  // sums of positions: before single tokens; up to the end of each slice
  int64_t appended = 0;                  // in whole blocks: otherwise a pass before a block is full would look cheaper
  for (const Slice& slice : slices) {
    const auto n = static_cast<int>(slice.tokens.size());
    const int end = slice.first_pos + n;
    ++n_replies;
    after += end;
    appended += int64_t{kv_blocks_for(end) - slice.first_pos / kKvBlock} * kKvBlock;
    if (n == 1) {
      ++n_single;
      single_before += slice.first_pos;
    } else {
      // The cost that the slice adds to its prompt, but at least that of a pass of its own.
      const auto up_to = [&](int tokens) {
        return tokens > 0 ? amount(prompt_cost(curves_[device].prompt, tokens)) : 0;
      };
      pass += std::max(up_to(end) - up_to(slice.first_pos), up_to(n));
    }
  }
  if (n_single > 0) pass += decoding(device, n_single, static_cast<int>(single_before / n_single));
  const int n_before = static_cast<int>(after / std::max(n_replies, 1)) + n_reply_ / 2;
  // The other device would then need the blocks that it lacks now and those that this pass writes.
  const auto rest_on = [&](size_t decoder) {
    const double moved = decoder == device ? 0 : moving(decoder, missing[decoder] + appended);
    return n_reply_ * decoding(decoder, n_replies, n_before) + moved;
  };
  return pass + std::min(rest_on(0), rest_on(1));
}

}  // namespace tern
