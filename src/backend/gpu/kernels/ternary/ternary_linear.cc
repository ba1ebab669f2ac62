#include "backend/gpu/kernels/ternary/ternary_linear.h"

#include "backend/gpu/kernels/ternary/ternary_bodies.h"

namespace tern::gpu {

using namespace wgsl;

TernaryDots::TernaryDots(const TernaryConfig& c, LocalIndex tid)
    : c_(c),
      tid_(tid),
      dot4_(c.caps),
      group_(let("group", tid / c.lanes)),
      lane_(let("lane_of_row", tid & (c.lanes - 1))) {
  CHECK(c.cols % 4 == 0 && c.lanes > 0 && (c.lanes & (c.lanes - 1)) == 0 && c.workgroup % c.lanes == 0);
}

std::vector<Name<U32>> rows_of_group(const TernaryConfig& c, const WorkgroupId& wg, const Name<U32>& group) {
  std::vector<Name<U32>> rows;
  const uint32_t groups = c.workgroup / c.lanes;
  for (uint32_t r = 0; r < c.rows_per_group; ++r) {
    rows.push_back(let("row", wg.x * c.rows_per_workgroup() + r * groups + group));
  }
  return rows;
}

std::vector<Name<U32>> row_starts(const TernaryConfig& c, const std::vector<Name<U32>>& rows) {
  std::vector<Name<U32>> starts;
  for (const auto& row : rows) {
    if (c.rows % c.rows_per_workgroup() == 0) {
      starts.push_back(let("start", row * c.row_vectors()));
    } else {
      starts.push_back(let("start", min(row, c.rows - 1) * c.row_vectors()));
    }
  }
  return starts;
}

TernaryMatvecKernel ternary_matvec(const TernaryConfig& c) {
  return kernel(c.store == Store::kAdd ? "ternary_matvec_add" : "ternary_matvec", c.workgroup,
                [&](In<"w", TernaryWeights> w, In<"x", QuantizedWords> x, WeightScales scales, InOut<"y", F32> y,
                    WorkgroupId wg, LocalIndex tid) {
                  StoredActivations activations(c, x, wg);
                  RowResults results(c, wg, tid);
                  write_matvec(c, w, activations, scales, y, results, wg, tid);
                });
}

TernaryGluKernel ternary_glu(const TernaryConfig& c) {
  return kernel("ternary_glu", c.workgroup,
                [&](In<"w_gate", TernaryWeights> w_gate, In<"w_up", TernaryWeights> w_up, In<"x", QuantizedWords> x,
                    WeightScales scales, Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  StoredActivations activations(c, x, wg);
                  RowResults results(c, wg, tid);
                  write_glu(c, w_gate, w_up, activations, scales, y, results, wg, tid);
                });
}

}  // namespace tern::gpu
