#include "backend/gpu/kernels/ternary_linear.h"

namespace tern::gpu {

using namespace wgsl;

TernaryDots::TernaryDots(const TernaryConfig& c, LocalIndex tid)
    : c_(c),
      tid_(tid),
      dot4_(c.caps),
      group_(let("group", tid / c.lanes)),
      lane_(let("lane_of_row", tid & (c.lanes - 1))) {
  CHECK(c.cols % 128 == 0 && c.lanes > 0 && (c.lanes & (c.lanes - 1)) == 0 && c.workgroup % c.lanes == 0);
}

namespace {

// The group's rows: its first, and the next ones as far apart as there are groups, so that neighbouring groups read
// neighbouring rows. Rows past the end are computed again as the last one and not stored.
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
      starts.push_back(let("start", row * (c.cols / 64)));
    } else {
      starts.push_back(let("start", min(row, c.rows - 1) * (c.cols / 64)));
    }
  }
  return starts;
}

// body(r, row) for each row that exists, on the first lane of its group.
template <class Body>
void store_rows(const TernaryConfig& c, const TernaryDots& dots, const std::vector<Name<U32>>& rows, Body&& body) {
  when(dots.lane() == 0u, [&] {
    for (size_t r = 0; r < rows.size(); ++r) {
      if (c.rows % c.rows_per_workgroup() == 0) {
        body(r, rows[r]);
      } else {
        when(rows[r] < c.rows, [&] { body(r, rows[r]); });
      }
    }
  });
}

}  // namespace

TernaryMatvecKernel ternary_matvec(const TernaryConfig& c) {
  return kernel(c.store == TernaryStore::kAdd ? "ternary_matvec_add" : "ternary_matvec", c.workgroup,
                [&](In<"w", TernaryWeights> w, In<"x", QuantizedWords> x, WeightScales scales, InOut<"y", F32> y,
                    WorkgroupId wg, LocalIndex tid) {
                  const TernaryDots dots(c, tid);
                  const auto rows = rows_of_group(c, wg, dots.group());
                  auto x_base = let("x_base", wg.y * quantized_stride(c.cols));
                  const auto totals = dots.compute(
                      row_starts(c, rows), [&](size_t, auto&& i) { return w[std::forward<decltype(i)>(i)]; }, x, x_base);
                  const ActivationScale x_scale = load_activation_scale(x, x_base, c.cols);
                  store_rows(c, dots, rows, [&](size_t r, const Name<U32>& row) {
                    auto value = let("value", dequantise(totals[r], x_scale, scales.get<"a">()));
                    auto index = let("index", wg.y * c.rows + row);
                    if (c.store == TernaryStore::kAdd) {
                      y[index] += value;
                    } else {
                      y[index] = value;
                    }
                  });
                });
}

TernaryGluKernel ternary_glu(const TernaryConfig& config) {
  TernaryConfig c = config;
  c.rows_per_group = 2;  // the same row of both matrices
  const uint32_t groups = c.workgroup / c.lanes;
  TernaryConfig tiling = c;
  tiling.rows_per_group = 1;
  return kernel("ternary_glu", c.workgroup,
                [&](In<"w_gate", TernaryWeights> w_gate, In<"w_up", TernaryWeights> w_up, In<"x", QuantizedWords> x,
                    WeightScales scales, Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const TernaryDots dots(c, tid);
                  const std::vector<Name<U32>> rows = {let("row", wg.x * groups + dots.group())};
                  const Name<U32> start = row_starts(tiling, rows)[0];
                  auto x_base = let("x_base", wg.y * quantized_stride(c.cols));
                  const auto totals = dots.compute(
                      {start, start},
                      [&](size_t r, auto&& i) {
                        return r == 0 ? w_gate[std::forward<decltype(i)>(i)] : w_up[std::forward<decltype(i)>(i)];
                      },
                      x, x_base);
                  const ActivationScale x_scale = load_activation_scale(x, x_base, c.cols);
                  store_rows(tiling, dots, rows, [&](size_t, const Name<U32>& row) {
                    auto gate = let("gate", dequantise(totals[0], x_scale, scales.get<"a">()));
                    auto up = let("up", dequantise(totals[1], x_scale, scales.get<"b">()));
                    auto positive = let("positive", max(gate, 0.0f));
                    y[wg.y * c.rows + row] = positive * positive * up;
                  });
                });
}

}  // namespace tern::gpu
