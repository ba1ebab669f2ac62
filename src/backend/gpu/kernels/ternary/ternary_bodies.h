// The bodies of the ternary matrix × vector kernels. They differ in where activations come from (`in`: int8 in storage,
// or floats that are normed on the way, one row of them or several) and in what becomes of results (`out`).
#pragma once

#include "backend/gpu/kernels/ternary/norm_fused.h"

namespace tern::gpu {

// Loaders for TernaryDots: the group's rows of one matrix, or of a gate and then the same rows of `up`.
template <class W>
struct OneMatrix {
  static constexpr size_t kMatrices = 1;
  const W& w;
  auto operator()(size_t, wgsl::Temp<wgsl::U32> i) const { return w[std::move(i)]; }
};
template <class W, class V>
struct GateAndUp {
  static constexpr size_t kMatrices = 2;
  const W& gate;
  const V& up;
  size_t n_rows;  // of each
  auto operator()(size_t r, wgsl::Temp<wgsl::U32> i) const {
    return r < n_rows ? gate[std::move(i)] : up[std::move(i)];
  }
};

// The results of row wg.y, stored by the first lane of each group, and their statistics if a norm follows.
class RowResults {
 public:
  RowResults(const TernaryConfig& c, const wgsl::WorkgroupId& wg, const wgsl::LocalIndex& tid,
             StatsWriter* stats = nullptr)
      : c_(c), wg_(wg), tid_(tid), stats_(stats) {}
  template <class Activations>
  void begin(const Activations& /*in*/) {}
  wgsl::Temp<wgsl::Bool> are_stored_by(const TernaryDots& dots) const { return dots.lane() == 0u; }
  wgsl::Temp<wgsl::U32> index(const wgsl::Name<wgsl::U32>& row) const { return wg_.y * c_.rows + row; }
  void add(const wgsl::Name<wgsl::F32>& value, const wgsl::Name<wgsl::U32>& row) {
    if (stats_) stats_->add(value, row);
  }
  void finish(const TernaryDots& /*dots*/) {
    if (stats_) stats_->finish(c_.caps, tid_, c_.lanes, c_.workgroup, wg_.y, wg_.x, c_.workgroups());
  }

 private:
  TernaryConfig c_;
  wgsl::WorkgroupId wg_;
  wgsl::LocalIndex tid_;
  StatsWriter* stats_;
};

// Calls store(r, row, dots, scale) for each row that exists, with the dot products of the rows of all matrices.
template <class Load, class Activations, class Results, class Store>
void write_rows(const TernaryConfig& c, const Load& load, Activations& in, Results& out, const wgsl::WorkgroupId& wg,
                const wgsl::LocalIndex& tid, const Store& store) {
  using namespace wgsl;
  TernaryDots dots(c, tid);
  const auto rows = rows_of_group(c, wg, dots.group());
  auto starts = row_starts(c, rows);
  for (size_t r = rows.size(); r < Load::kMatrices * rows.size(); ++r) {
    starts.push_back(Name<U32>(starts[r - rows.size()]));
  }
  dots.load_weights(starts, load);
  in.prepare();
  const auto totals = in.multiply(dots, starts, load);
  const ActivationScale x_scale = in.scale(dots);
  out.begin(in);
  when(out.are_stored_by(dots), [&] {
    for (size_t r = 0; r < rows.size(); ++r) {
      if (c.rows % c.rows_per_workgroup() == 0) {
        store(r, rows[r], totals, x_scale);
      } else {
        when(rows[r] < c.rows, [&] { store(r, rows[r], totals, x_scale); });
      }
    }
  });
  out.finish(dots);
}

template <class W, class Activations, class Results, class Y>
void write_matvec(const TernaryConfig& c, const W& w, Activations& in, const WeightScales& scales, const Y& y,
                  Results& out, const wgsl::WorkgroupId& wg, const wgsl::LocalIndex& tid) {
  using namespace wgsl;
  write_rows(c, OneMatrix<W>{w}, in, out, wg, tid,
             [&](size_t r, const Name<U32>& row, const auto& totals, const ActivationScale& x_scale) {
               auto value = let("value", dequantize(totals[r], x_scale, scales.get<"a">()));
               auto index = let("index", out.index(row));
               if (c.store == Store::kSet) {
                 y[index] = value;
                 return;
               }
               auto sum = let("y_new", y[index] + value);
               y[index] = sum;
               out.add(sum, row);
             });
}

// Computes rows_per_group rows of each of the two matrices.
template <class W, class V, class Activations, class Results, class Y>
void write_glu(const TernaryConfig& c, const W& w_gate, const V& w_up, Activations& in, const WeightScales& scales,
               const Y& y, Results& out, const wgsl::WorkgroupId& wg, const wgsl::LocalIndex& tid) {
  using namespace wgsl;
  const size_t n = c.rows_per_group;
  write_rows(c, GateAndUp<W, V>{w_gate, w_up, n}, in, out, wg, tid,
             [&](size_t r, const Name<U32>& row, const auto& totals, const ActivationScale& x_scale) {
               auto value = let("value", glu_of_dots(c.act, totals[r], totals[n + r], x_scale, scales));
               y[out.index(row)] = value;
               out.add(value, row);
             });
}

}  // namespace tern::gpu
