#include "backend/gpu/kernels/float_linear.h"

namespace tern::gpu {

using namespace wgsl;

FloatLinearConfig fit(FloatLinearConfig c) {
  while (c.lanes > 1 && c.lanes / 2 * c.coding.values() >= c.cols) c.lanes /= 2;
  return c;
}

namespace {

// A row of activations, in units of `coding`: the values that unit i meets are quads(i) ….
class Activations {
 public:
  Activations(const FloatLinearConfig& c, const FloatX& x, const FloatGain& gain, const WorkgroupId& wg,
              const LocalIndex& tid)
      : c_(c), x_(x), gain_(gain), tid_(tid), base_(let("x_base", wg.z * (c.cols / 4))) {
    if (c.staged) staged_ = shared<Vec4<F32>>("staged", c.cols / 4);
    if (c.normed) squares_ = var("squares", 0.0f).text;
  }

  // All invocations have to call it; holds barriers where x is staged.
  void prepare() {
    if (!c_.staged) return;
    const uint32_t quads = c_.coding.quads();
    loop("q", tid_, c_.cols / 4, c_.workgroup, [&](const Name<U32>& q) {
      auto v = let("v", x_[base_ + q]);
      if (c_.normed) add_square(v);
      staged_[q % quads * units() + q / quads] = weighted(v, q);
    });
    if (c_.normed)
      reduce_squares(
          [&](const Name<F32>& mine) { return reduce_workgroup(Reduce::kSum, c_.caps, mine, tid_, c_.workgroup); });
    workgroupBarrier();
  }

  // Where the quads of unit i start, `first` quads into it.
  Name<U32> quads(const Name<U32>& i, const Name<U32>* first) const {
    if (c_.staged) return first ? let("x_at", *first * units() + i) : i;
    return first ? let("x_at", i * c_.coding.quads() + *first) : let("x_at", i * c_.coding.quads());
  }
  Name<Vec4<F32>> quad(const Name<U32>& start, uint32_t k) const {
    if (c_.staged) return let("x4", staged_[start + k * units()]);
    auto q = let("q", start + k);
    auto v = let("v", x_[base_ + q]);
    if (!c_.normed) return v;
    add_square(v);
    return let("x4", weighted(v, q));
  }

  // 1 / √(mean x² + eps), once all quads have been read by the lanes of a row.
  Name<F32> factor() {
    if (!c_.staged)
      reduce_squares([&](const Name<F32>& mine) {
        return reduce_lanes(Reduce::kSum, c_.caps, mine, tid_, c_.lanes, c_.workgroup);
      });
    return let("factor", 1.0f / sqrt(total_ / static_cast<float>(c_.cols) + c_.eps));
  }

 private:
  uint32_t units() const { return c_.cols / c_.coding.values(); }
  Temp<Vec4<F32>> weighted(const Name<Vec4<F32>>& v, const Name<U32>& q) const {
    return c_.normed ? v * gain_[q] : e(v);
  }
  void add_square(const Name<Vec4<F32>>& v) const { Ref<F32>(squares_) += dot(v, v); }
  template <class Sum>
  void reduce_squares(const Sum& sum) {
    auto mine = let("my_squares", Place<F32>{squares_});
    total_ = sum(mine);
  }

  FloatLinearConfig c_;
  FloatX x_;
  FloatGain gain_;
  LocalIndex tid_;
  Name<U32> base_;
  Shared<Vec4<F32>> staged_;
  std::string squares_;
  Name<F32> total_;
};

// The rows of one matrix that a group of lanes works on.
struct Rows {
  const WeightPlanes* w;
  const Unpack* unpack;
  std::vector<Name<U32>> starts;  // their first units
};

struct Loaded {
  Name<WeightUnits> unit;
  Name<F32> scale;  // where the coding has any
};

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
  std::vector<Name<F32>> multiply(const std::vector<Rows>& matrices, Activations& x) const {
    std::vector<Var<F32>> sums;
    for (const Rows& m : matrices) {
      for (size_t r = 0; r < m.starts.size(); ++r) sums.push_back(var("acc", 0.0f));
    }
    const uint32_t rounds = (units() + c_.lanes - 1) / c_.lanes;
    constexpr size_t kMostAhead = 8;
    if (rounds * sums.size() <= kMostAhead) {
      multiply_ahead(matrices, x, rounds, sums);
    } else {
      x.prepare();
      loop("i", lane_, units(), c_.lanes, [&](const Name<U32>& i) { add(matrices, load(matrices, i), x, i, sums); });
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
  void multiply_ahead(const std::vector<Rows>& matrices, Activations& x, uint32_t rounds,
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
        add(matrices, ahead[k], x, i, sums);
      } else {
        when(i < units(), [&] { add(matrices, ahead[k], x, i, sums); });
      }
    }
  }

  static std::vector<Loaded> load(const std::vector<Rows>& matrices, const Name<U32>& i) {
    std::vector<Loaded> loaded;
    for (const Rows& m : matrices) {
      for (const Name<U32>& start : m.starts) {
        auto at = let("at", start + i);
        auto unit = let("unit", m.w->unit(e(at)));
        loaded.push_back({unit, m.w->coding.group > 0 ? m.w->scale(at) : Name<F32>{}});
      }
    }
    return loaded;
  }

  // Unit i of every row.
  void add(const std::vector<Rows>& matrices, const std::vector<Loaded>& loaded, const Activations& x,
           const Name<U32>& i, const std::vector<Var<F32>>& sums) const {
    std::vector<Var<F32>> parts;
    for (size_t r = 0; r < loaded.size(); ++r) parts.push_back(var("part", 0.0f));
    Name<U32> start;
    for_quads(c_.coding, [&](uint32_t k, const Name<U32>* first) {
      if (k == 0) start = x.quads(i, first);
      const Name<Vec4<F32>> x4 = x.quad(start, k);
      size_t r = 0;
      for (const Rows& m : matrices) {
        for (size_t n = 0; n < m.starts.size(); ++n, ++r) {
          parts[r] += dot((*m.unpack)(loaded[r].unit, k, first), x4);
        }
      }
    });
    for (size_t r = 0; r < loaded.size(); ++r) {
      if (loaded[r].scale.text.empty()) {
        sums[r] += parts[r];
      } else {
        sums[r] += parts[r] * loaded[r].scale;
      }
    }
  }

  FloatLinearConfig c_;
  LocalIndex tid_;
  Name<U32> group_, lane_;
};

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
                  const Unpack unpack(c.caps, c.coding);
                  const FloatDots dots(c, tid);
                  const auto rows = rows_of_group(c, dots, wg, n_wg);
                  auto count = let("count", range.get<"count">());
                  const auto starts = starts_of(dots, rows, count - 1u);
                  Activations activations(c, x, gain, wg, tid);
                  const auto totals = dots.multiply({{&planes, &unpack, starts}}, activations);
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
                  const Unpack unpack_gate(c.caps, c.coding), unpack_up(c.caps, c.up_coding);
                  const FloatDots dots(c, tid);
                  const auto rows = rows_of_group(c, dots, wg, n_wg);
                  const auto starts = starts_of(dots, rows, e(c.rows - 1));
                  Activations activations(c, x, gain, wg, tid);
                  const auto totals =
                      dots.multiply({{&gate, &unpack_gate, starts}, {&up, &unpack_up, starts}}, activations);
                  for (size_t r = 0; r < rows.size(); ++r) {
                    when(dots.lane() == 0u && rows[r] < c.rows, [&] {
                      auto index = let("index", wg.z * c.rows + rows[r]);
                      y[index] = gated(c.act, totals[r], totals[rows.size() + r]);
                    });
                  }
                });
}

}  // namespace tern::gpu
