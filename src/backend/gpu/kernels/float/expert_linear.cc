#include "backend/gpu/kernels/float/expert_sums.h"
#include "backend/gpu/kernels/float/matvec_columns.h"

namespace tern::gpu {

using namespace wgsl;
using namespace float_matvec;

namespace {

// The expert of a workgroup, and its rows.
struct ExpertRows {
  Name<U32> choice;               // of all tokens' choices
  std::vector<Name<U32>> rows;    // of the expert
  Name<U32> first;                // its first row in the matrix
  std::vector<Name<U32>> starts;  // first units
};

// Workgroups past the last one get rows past the last one, which are not stored.
ExpertRows rows_of_expert(const ExpertLinearConfig& c, const FloatDots& dots, const ChosenExperts& chosen,
                          const Grid& grid) {
  const FloatLinearConfig& linear = c.linear;
  ExpertRows mine;
  auto n = let("n", grid.wg.y * grid.n_wg.x + grid.wg.x);
  auto which = let("which", min(n / workgroups_per_expert(c), c.n_used - 1));
  mine.choice = let("choice", grid.wg.z * c.n_used + which);
  auto workgroup = let("of_expert", n - which * workgroups_per_expert(c));
  auto first = let("first", workgroup * linear.rows_per_workgroup() + dots.group());
  for (uint32_t r = 0; r < linear.rows_per_group; ++r) {
    mine.rows.push_back(let("row", first + r * (linear.workgroup / linear.lanes)));
  }
  auto expert = let("expert", call<U32>("u32", chosen[grid.wg.z * (2 * c.n_used) + which]));
  mine.first = let("first_row", expert * linear.rows);
  for (const auto& row : mine.rows) {
    mine.starts.push_back(let("start", (mine.first + min(row, linear.rows - 1)) * dots.units()));
  }
  return mine;
}

// gain: of the norm, if there is one.
Columns<Input> input_of_expert(const ExpertLinearConfig& c, const ExpertRows& mine, const FloatX& x, const Grid& grid,
                               const FloatGain* gain = nullptr) {
  CHECK(c.linear.columns == 1 && c.linear.normed == (gain != nullptr));
  Columns<Input> columns;
  columns.rows.push_back(mine.choice);
  auto row = let("x_row", c.own_input ? e(mine.choice) : e(grid.wg.z));
  columns.in.emplace_back(c.linear, x, gain ? *gain : FloatGain{}, row, grid.tid);
  return columns;
}

struct ExpertGluInputs {
  const FloatX& x;
  const FloatGain* gain;  // null: no norm
  const ChosenExperts& chosen;
  const ExpertBias& bias;
};

void write_expert_glu(const ExpertLinearConfig& c, uint32_t n_experts, const WeightPlanes& gate, const WeightPlanes& up,
                      const ExpertGluInputs& in, const Out<"y", F32>& y, const Grid& grid) {
  CHECK(c.linear.up_coding.words == c.linear.coding.words);
  const FloatDots dots(c.linear, grid.tid);
  const ExpertRows mine = rows_of_expert(c, dots, in.chosen, grid);
  auto columns = input_of_expert(c, mine, in.x, grid, in.gain);
  const auto totals = multiply(dots, {{&gate, mine.starts}, {&up, mine.starts}}, columns.in);
  const auto store = [&](const Name<U32>& row, const Totals& of_row, size_t r) {
    const Name<F32>&g = of_row[r], &u = of_row[mine.rows.size() + r];
    y[row * c.linear.rows + mine.rows[r]] = expert_gated(c, n_experts, g, u, in.bias, mine.first, mine.rows[r]);
  };
  store_columns(dots, columns, mine.rows, c.linear.rows, totals, store);
}

}  // namespace

uint32_t workgroups_per_expert(const ExpertLinearConfig& c) {
  return ceil_div(c.linear.rows, c.linear.rows_per_workgroup());
}

ExpertLinearKernel expert_linear(const ExpertLinearConfig& c) {
  return kernel("expert_linear", c.linear.workgroup,
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, FloatX x, ChosenExperts chosen, ExpertBias bias,
                    Out<"y", F32> y, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const WeightPlanes planes(c.linear.coding, w, scales);
                  const Grid grid{wg, n_wg, tid};
                  const FloatDots dots(c.linear, tid);
                  const ExpertRows mine = rows_of_expert(c, dots, chosen, grid);
                  auto columns = input_of_expert(c, mine, x, grid);
                  const auto totals = multiply(dots, {{&planes, mine.starts}}, columns.in);
                  const auto store = [&](const Name<U32>& row, const Totals& of_row, size_t r) {
                    y[row * c.linear.rows + mine.rows[r]] = expert_sum(c, of_row[r], bias, mine.first, mine.rows[r]);
                  };
                  store_columns(dots, columns, mine.rows, c.linear.rows, totals, store);
                });
}

ExpertGluKernel expert_glu(const ExpertLinearConfig& c, uint32_t n_experts) {
  return kernel("expert_glu", c.linear.workgroup,
                [&](In<"w_gate", WeightUnits> w_gate, In<"gate_scales", U32> gate_scales, In<"w_up", WeightUnits> w_up,
                    In<"up_scales", U32> up_scales, FloatX x, ChosenExperts chosen, ExpertBias bias, Out<"y", F32> y,
                    WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const WeightPlanes gate(c.linear.coding, w_gate, gate_scales);
                  const WeightPlanes up(c.linear.up_coding, w_up, up_scales);
                  write_expert_glu(c, n_experts, gate, up, {x, nullptr, chosen, bias}, y, {wg, n_wg, tid});
                });
}

ExpertNormGluKernel expert_norm_glu(const ExpertLinearConfig& c, uint32_t n_experts) {
  return kernel("expert_norm_glu", c.linear.workgroup,
                [&](In<"w_gate", WeightUnits> w_gate, In<"gate_scales", U32> gate_scales, In<"w_up", WeightUnits> w_up,
                    In<"up_scales", U32> up_scales, FloatX x, FloatGain gain, ChosenExperts chosen, ExpertBias bias,
                    Out<"y", F32> y, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const WeightPlanes gate(c.linear.coding, w_gate, gate_scales);
                  const WeightPlanes up(c.linear.up_coding, w_up, up_scales);
                  write_expert_glu(c, n_experts, gate, up, {x, &gain, chosen, bias}, y, {wg, n_wg, tid});
                });
}

}  // namespace tern::gpu
