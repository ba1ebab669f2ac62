// The bodies of the ternary matrix × vector kernels, both for activations stored as int8 and for those that are normed
// on the way (norm_fused.h).
#pragma once

#include "backend/gpu/kernels/ternary/norm_fused.h"

namespace tern::gpu {

template <class W, class Activations, class Y>
void write_matvec(const TernaryConfig& c, const W& w, Activations& activations, const WeightScales& scales, const Y& y,
                  const wgsl::WorkgroupId& wg, const wgsl::LocalIndex& tid, StatsWriter* stats) {
  using namespace wgsl;
  TernaryDots dots(c, tid);
  const auto rows = rows_of_group(c, wg, dots.group());
  const auto starts = row_starts(c, rows);
  const auto load = [&](size_t, Temp<U32> i) { return w[std::move(i)]; };
  dots.load_weights(starts, load);
  activations.prepare();
  const auto totals = dots.multiply(starts, load, activations.quads());
  const ActivationScale x_scale = activations.scale();
  store_rows(c, dots, rows, [&](size_t r, const Name<U32>& row) {
    auto value = let("value", dequantize(totals[r], x_scale, scales.template get<"a">()));
    auto index = let("index", wg.y * c.rows + row);
    if (c.store == Store::kSet) {
      y[index] = value;
      return;
    }
    auto sum = let("y_new", y[index] + value);
    y[index] = sum;
    if (stats) stats->add(sum, row);
  });
  if (stats) {
    stats->finish(c.caps, tid, c.lanes, c.workgroup, wg.y, wg.x,
                  (c.rows + c.rows_per_workgroup() - 1) / c.rows_per_workgroup());
  }
}

// Computes rows_per_group rows of each of the two matrices.
template <class W, class V, class Activations, class Y>
void write_glu(const TernaryConfig& c, const W& w_gate, const V& w_up, Activations& activations,
               const WeightScales& scales, const Y& y, const wgsl::WorkgroupId& wg, const wgsl::LocalIndex& tid,
               StatsWriter* stats) {
  using namespace wgsl;
  TernaryDots dots(c, tid);
  const auto rows = rows_of_group(c, wg, dots.group());
  auto starts = row_starts(c, rows);
  for (size_t r = 0; r < rows.size(); ++r) starts.push_back(Name<U32>(starts[r]));  // rows of the gate, then rows of up
  const size_t n = rows.size();
  const auto load = [&](size_t r, Temp<U32> i) { return r < n ? w_gate[std::move(i)] : w_up[std::move(i)]; };
  dots.load_weights(starts, load);
  activations.prepare();
  const auto totals = dots.multiply(starts, load, activations.quads());
  const ActivationScale x_scale = activations.scale();
  store_rows(c, dots, rows, [&](size_t r, const Name<U32>& row) {
    auto value = let("value", glu_of_dots(c.act, totals[r], totals[n + r], x_scale, scales));
    y[wg.y * c.rows + row] = value;
    if (stats) stats->add(value, row);
  });
  if (stats) {
    stats->finish(c.caps, tid, c.lanes, c.workgroup, wg.y, wg.x,
                  (c.rows + c.rows_per_workgroup() - 1) / c.rows_per_workgroup());
  }
}

}  // namespace tern::gpu
