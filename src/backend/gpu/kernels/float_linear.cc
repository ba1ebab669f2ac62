#include "backend/gpu/kernels/float_activations.h"

namespace tern::gpu {

using namespace wgsl;
using namespace float_matvec;

FloatLinearConfig fit(FloatLinearConfig c) {
  while (c.lanes > 1 && c.lanes / 2 * c.coding.values() >= c.cols) c.lanes /= 2;
  return c;
}

uint32_t staged_bytes(const FloatLinearConfig& c) {
  if (c.int8_x) return c.cols + c.cols / kRun * 8;
  return c.staged ? c.cols * 4 : 0;
}

namespace {

// Dot products of several rows, of one matrix or two, with a row of activations.
class FloatDots {
 public:
  FloatDots(const FloatLinearConfig& c, const LocalIndex& tid)
      : c_(c), tid_(tid), group_(let("group", tid / c.lanes)), lane_(let("lane_of_row", tid & (c.lanes - 1))) {
    CHECK(c.cols % c.coding.values() == 0 && (c.lanes & (c.lanes - 1)) == 0 && c.workgroup % c.lanes == 0);
  }
  const Name<U32>& group() const { return group_; }
  const Name<U32>& lane() const { return lane_; }
  uint32_t units() const { return c_.cols / c_.coding.values(); }

  // On every lane of the group.
  template <class X>
  std::vector<Name<F32>> multiply(const std::vector<Rows>& matrices, X&& x) const {
    std::vector<Var<F32>> sums;
    for (const Rows& m : matrices) {
      for (size_t r = 0; r < m.starts.size(); ++r) sums.push_back(var("acc", 0.0f));
    }
    const uint32_t rounds = (units() + c_.lanes - 1) / c_.lanes;
    if (rounds * sums.size() <= c_.most_ahead) {
      multiply_ahead(matrices, x, rounds, sums);
    } else {
      x.prepare();
      loop("i", lane_, units(), c_.lanes, [&](const Name<U32>& i) { x.add(matrices, load(matrices, i), i, sums); });
    }
    std::vector<Name<F32>> totals;
    for (const Var<F32>& sum : sums) {
      auto mine = let("mine", sum);
      totals.push_back(reduce_lanes(Reduce::kSum, c_.caps, mine, tid_, c_.lanes, c_.workgroup));
    }
    if (!c_.normed) return totals;
    const Name<F32> factor = x.factor();
    for (Name<F32>& total : totals) total = let("normed", total * factor);
    return totals;
  }

 private:
  // Written out, with all weights on their way before the activations are needed.
  template <class X>
  void multiply_ahead(const std::vector<Rows>& matrices, X& x, uint32_t rounds,
                      const std::vector<Var<F32>>& sums) const {
    const auto is_whole = [&](uint32_t k) { return (k + 1) * c_.lanes <= units(); };
    std::vector<std::vector<Loaded>> ahead;
    for (uint32_t k = 0; k < rounds; ++k) {
      // Past the row's end the last unit is loaded again, and left out below.
      auto i = is_whole(k) ? let("i", lane_ + k * c_.lanes) : let("i", min(lane_ + k * c_.lanes, units() - 1));
      ahead.push_back(load(matrices, i));
    }
    x.prepare();
    for (uint32_t k = 0; k < rounds; ++k) {
      auto i = let("i", lane_ + k * c_.lanes);
      if (is_whole(k)) {
        x.add(matrices, ahead[k], i, sums);
      } else {
        when(i < units(), [&] { x.add(matrices, ahead[k], i, sums); });
      }
    }
  }

  static std::vector<Loaded> load(const std::vector<Rows>& matrices, const Name<U32>& i) {
    std::vector<Loaded> loaded;
    for (const Rows& m : matrices) {
      for (const Name<U32>& start : m.starts) {
        auto at = let("at", start + i);
        auto unit = let("unit", m.w->unit(e(at)));
        loaded.push_back({unit, m.w->coding.group > 0 ? m.w->scale(at) : UnitScale{}});
      }
    }
    return loaded;
  }

  FloatLinearConfig c_;
  LocalIndex tid_;
  Name<U32> group_, lane_;
};

// Each row's dot product with the workgroup's row of x.
std::vector<Name<F32>> multiply(const FloatDots& dots, const std::vector<Rows>& matrices, Input&& in) {
  if (in.config().int8_x) return dots.multiply(matrices, Int8Activations(in));
  return dots.multiply(matrices, Activations(in));
}

// The rows of this group: its first, and the next ones as far apart as there are groups, so that neighbouring groups
// read neighbouring rows.
std::vector<Name<U32>> rows_of_group(const FloatLinearConfig& c, const FloatDots& dots, const WorkgroupId& wg,
                                     const NumWorkgroups& n_wg) {
  auto first = let("first", (wg.y * n_wg.x + wg.x) * c.rows_per_workgroup() + dots.group());
  std::vector<Name<U32>> rows;
  for (uint32_t r = 0; r < c.rows_per_group; ++r) rows.push_back(let("row", first + r * (c.workgroup / c.lanes)));
  return rows;
}

// Rows past the end load the last one again.
template <ValueOf<U32> Last>
std::vector<Name<U32>> starts_of(const FloatDots& dots, const std::vector<Name<U32>>& rows, Last&& last) {
  auto last_row = let("last_row", std::forward<Last>(last));
  std::vector<Name<U32>> starts;
  for (const auto& row : rows) starts.push_back(let("start", min(row, last_row) * dots.units()));
  return starts;
}

}  // namespace

FloatLinearKernel float_linear(const FloatLinearConfig& c) {
  return kernel(c.store == Store::kAdd ? "float_linear_add" : "float_linear", c.workgroup,
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, FloatX x, FloatGain gain, RowRange range,
                    InOut<"y", F32> y, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const WeightPlanes planes(c.coding, w, scales);
                  const FloatDots dots(c, tid);
                  const auto rows = rows_of_group(c, dots, wg, n_wg);
                  auto count = let("count", range.get<"count">());
                  const auto starts = starts_of(dots, rows, count - 1u);
                  const auto totals = multiply(dots, {{&planes, starts}}, Input(c, x, gain, wg, tid));
                  for (size_t r = 0; r < rows.size(); ++r) {
                    when(dots.lane() == 0u && rows[r] < count, [&] {
                      auto index = let("index", wg.z * c.rows + range.get<"first">() + rows[r]);
                      if (c.store == Store::kAdd) {
                        y[index] += totals[r];
                      } else {
                        y[index] = totals[r];
                      }
                    });
                  }
                });
}

FloatGluKernel float_glu(const FloatLinearConfig& c) {
  return kernel("float_glu", c.workgroup,
                [&](In<"w_gate", WeightUnits> w_gate, In<"gate_scales", U32> gate_scales, In<"w_up", WeightUnits> w_up,
                    In<"up_scales", U32> up_scales, FloatX x, FloatGain gain, Out<"y", F32> y, WorkgroupId wg,
                    NumWorkgroups n_wg, LocalIndex tid) {
                  CHECK(c.up_coding.words == c.coding.words);  // units of one size, which share what they load of x
                  const WeightPlanes gate(c.coding, w_gate, gate_scales), up(c.up_coding, w_up, up_scales);
                  const FloatDots dots(c, tid);
                  const auto rows = rows_of_group(c, dots, wg, n_wg);
                  const auto starts = starts_of(dots, rows, e(c.rows - 1));
                  const auto totals = multiply(dots, {{&gate, starts}, {&up, starts}}, Input(c, x, gain, wg, tid));
                  for (size_t r = 0; r < rows.size(); ++r) {
                    when(dots.lane() == 0u && rows[r] < c.rows, [&] {
                      auto index = let("index", wg.z * c.rows + rows[r]);
                      y[index] = gated(c.act, totals[r], totals[rows.size() + r]);
                    });
                  }
                });
}

}  // namespace tern::gpu
