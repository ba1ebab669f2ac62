#include "engine/pass_costs.h"

#include <algorithm>
#include <utility>

#include "backend/kv_layout.h"
#include "routing/cost_curve.h"

namespace tern {

PassCosts::PassCosts(std::array<CostCurve, 2> curves, Prefer prefer, int n_reply)
    : curves_(std::move(curves)),
      by_energy_(prefer == Prefer::kEnergy &&
                 std::ranges::all_of(
                     curves_, [](const CostCurve& curve) { return predict(curve, {}).total.joules.has_value(); })),
      n_reply_(std::max(n_reply, 1)) {}

double PassCosts::moving(size_t to, int64_t n_positions) const {
  if (by_energy_) return 0;
  return (curves_[1 - to].kv_out_seconds + curves_[to].kv_in_seconds) * static_cast<double>(n_positions);
}

double PassCosts::writing(size_t device, int n_replies, int n_before) const {
  return amount(step_cost(curves_[device].steps, n_replies, n_before));
}

double PassCosts::operator()(size_t device, Batch slices, int64_t n_missing) const {
  double pass = moving(device, n_missing);
  int n_single = 0, n_replies = 0;
  int64_t single_before = 0, after = 0;  // positions before single tokens, and up to the end of each slice
  int64_t to_move = 0;                   // … in whole blocks: nothing is won by waiting until one is full
  for (const Slice& slice : slices) {
    const int end = slice.first_pos + static_cast<int>(slice.tokens.size());
    ++n_replies;
    after += end;
    to_move += int64_t{kv_blocks_for(end)} * kKvBlock;
    if (slice.tokens.size() == 1) {
      ++n_single;
      single_before += slice.first_pos;
    } else {
      const auto up_to = [&](int n) { return n > 0 ? amount(prompt_cost(curves_[device].prompt, n)) : 0.0; };
      pass += std::max(up_to(end) - up_to(slice.first_pos), 0.0);
    }
  }
  if (n_single > 0) pass += writing(device, n_single, static_cast<int>(single_before / n_single));
  const int n_before = static_cast<int>(after / std::max(n_replies, 1)) + n_reply_ / 2;
  const auto rest_on = [&](size_t writer) {
    return n_reply_ * writing(writer, n_replies, n_before) + (writer == device ? 0 : moving(writer, to_move));
  };
  return pass + std::min(rest_on(0), rest_on(1));
}

}  // namespace tern
