#include "backend/gpu/kernels/ternary/ternary_columns.h"

#include <bit>
#include <functional>
#include <optional>

#include "backend/gpu/kernels/head_tile.h"
#include "backend/gpu/kernels/ternary/ternary_bodies.h"
#include "backend/gpu/kernels/ternary/ternary_pairs.h"
#include "base/bytes.h"

namespace tern::gpu {

using namespace wgsl;

// Counts the int8 rows; each row's statistics, per subgroup that adds up parts, and per group of lanes that stores
// results (with the reductions if these do not shuffle), or the results of qkv; and two words for each row.
uint32_t columns_bytes(const TernaryConfig& c, const ColumnsConfig& columns) {
  const uint32_t groups = c.workgroup / c.lanes, subgroups = columns.norm_workgroup / c.caps.subgroup;
  const uint32_t of_row = whole_blocks(c.cols) + 8 * subgroups + 8 * groups + 8;
  return columns.columns * of_row + (groups > c.caps.subgroup ? 8 * c.workgroup : 0);
}

bool has_columns(const TernaryConfig& c, const ColumnsConfig& columns) {
  const uint32_t n = columns.columns;
  const auto is_power = [](uint32_t x) { return std::has_single_bit(x); };
  if (!is_power(n) || n < 2 || n > kMostColumns || n > c.lanes || c.lanes > c.caps.subgroup) return false;
  if (!is_power(c.workgroup) || !is_power(columns.norm_workgroup) || columns.norm_workgroup < c.workgroup) return false;
  return c.cols % 16 == 0 && c.workgroup / n >= c.caps.subgroup;
}

namespace {

// Several rows of floats that the workgroup norms and quantizes into workgroup memory. Each row has a team of
// invocations, made of whole subgroups.
class NormedColumns {
 public:
  NormedColumns(const TernaryConfig& c, const NormConfig& norm, const ColumnsConfig& columns, const NormX& x,
                const NormGain& gain, const NormParts& parts, const WorkgroupId& wg, const LocalIndex& tid)
      : c_(c),
        norm_(norm),
        n_(columns.columns),
        norm_workgroup_(columns.norm_workgroup),
        team_(c.workgroup / columns.columns),
        x_(x),
        gain_(gain),
        parts_(parts),
        wg_(wg),
        tid_(tid) {
    CHECK(has_columns(c, columns));
  }

  // All invocations must call it.
  void prepare() {
    column_ = let("column", tid_ / team_);
    lane_ = let("lane_of_team", tid_ & (team_ - 1));
    token_ = let("token", wg_.y * n_ + column_);
    memory_ = Memory{.staged = shared<QuantizedWords>("staged", n_ * 4 * c_.row_vectors()),
                     .runs = shared<Vec2<F32>>("run_stats", c_.workgroup / c_.caps.subgroup * n_runs_of_lane()),
                     .scales = shared<F32>("x_scales", n_),
                     .sums = shared<Atomic<I32>>("x_sums", n_)};
    const NormScales factor = scales_of_row();
    when(lane_ == 0u, [&] { memory_->scales[column_] = factor.scale; });
    auto sum = var("q_sum", 0);
    auto x_row = let("x_row", token_ * (c_.cols / 4));
    const uint32_t n_units = c_.cols / 16;
    const auto unit_of = [&](const Name<U32>& unit) { stage(unit, x_row, factor, sum); };
    constexpr uint32_t kWrittenOut = 8;
    if (n_units <= kWrittenOut * team_) {
      unrolled_share("unit", lane_, team_, 0, n_units, team_, unit_of);
    } else {
      loop("unit", lane_, n_units, team_, unit_of);
    }
    const uint32_t lanes = std::min(c_.caps.subgroup, team_);
    auto my_sum = let("my_sum", sum);
    auto of_run = reduce_lanes(Reduce::kSum, c_.caps, my_sum, tid_, lanes, c_.workgroup);
    when((lane_ & (lanes - 1)) == 0u, [&] { atomicAdd(memory_->sums[column_], of_run); });
    workgroupBarrier();
  }

  template <class Load>
  auto multiply(const TernaryDots& dots, const std::vector<Name<U32>>& starts, const Load& load) const {
    return dots.multiply_columns(starts, load, n_, [this]<class P>(uint32_t column, const Name<U32>& i, const P& p) {
      return memory_->staged[i + p * c_.row_vectors() + column * 4 * c_.row_vectors()];
    });
  }
  ActivationScale scale(const TernaryDots& dots) {
    my_column_ = let("my_column", dots.lane() & (n_ - 1));
    auto scale = let("x_scale", memory_->scales[my_column_]);
    auto sum = atomicLoad(memory_->sums[my_column_]);
    return {scale, sum};
  }
  // After scale(): the row of activations whose results the lane has.
  const Name<U32>& my_column() const { return my_column_; }

 private:
  struct Memory {
    Shared<QuantizedWords> staged;  // [columns, 4 planes, half blocks]
    Shared<Vec2<F32>> runs;
    Shared<F32> scales;
    Shared<Atomic<I32>> sums;
  };

  // The kernel for one row adds up parts with norm_workgroup_ invocations: invocation i takes parts i, i +
  // norm_workgroup_, …. Then it adds up each subgroup, and then the subgroups' sums. Here, lane t of a team does the
  // work of invocations t, t + team_, ….
  uint32_t n_runs_of_lane() const {
    const uint32_t used = std::min(norm_workgroup_, norm_.n_parts);
    return ceil_div(used, team_);
  }

  NormScales scales_of_row() {
    const uint32_t subgroup = c_.caps.subgroup, runs_of_team = team_ / subgroup;
    const uint32_t n_runs = n_runs_of_lane() * runs_of_team;
    auto parts_row = let("parts_row", token_ * norm_.n_parts);
    auto to = let("to", column_ * n_runs + lane_ / subgroup);
    for (uint32_t j = 0; j < n_runs_of_lane(); ++j) {
      const RowStats mine = add_up_parts(parts_, parts_row, norm_.n_parts, lane_, team_, j * team_, norm_workgroup_);
      auto run_squares = reduce_lanes(Reduce::kSum, c_.caps, mine.squares, tid_, subgroup, c_.workgroup);
      auto run_largest = reduce_lanes(Reduce::kMax, c_.caps, mine.largest, tid_, subgroup, c_.workgroup);
      when((lane_ & (subgroup - 1)) == 0u,
           [&] { memory_->runs[to + j * runs_of_team] = vec2f(run_squares, run_largest); });
    }
    workgroupBarrier();
    std::vector<Name<F32>> squares;
    auto largest = var("largest_of_row", 0.0f);
    for (uint32_t run = 0; run < n_runs; ++run) {
      auto stats = let("run", memory_->runs[column_ * n_runs + run]);
      squares.push_back(let("run_squares", at(stats, 0)));
      largest = max(largest, at(stats, 1));
    }
    auto of_row = all_of(squares);
    return norm_scales(of_row, e(largest), c_.cols, norm_.eps, "scale_of_row");
  }

  // Adds up the subgroups' sums in the order of the kernel for one row: in pairs half of them apart if its reduction
  // shuffles, or one after the other if it has more subgroups than lanes. Missing sums would be 0.
  Name<F32> all_of(const std::vector<Name<F32>>& squares) const {
    const uint32_t all = norm_workgroup_ / c_.caps.subgroup;
    if (all > c_.caps.subgroup) {
      auto total = squares[0];
      for (size_t i = 1; i < squares.size(); ++i) total = let("total", total + squares[i]);
      return total;
    }
    const std::function<Name<F32>(size_t, size_t)> pairs = [&](size_t first, size_t step) -> Name<F32> {
      if (step == all || first + step >= squares.size()) return squares[first];
      auto a = pairs(first, 2 * step);
      auto b = pairs(first + step, 2 * step);
      return let("total", a + b);
    };
    return pairs(0, 1);
  }

  // Stages 16 adjacent values, as words in the order in which they are multiplied.
  void stage(const Name<U32>& unit, const Name<U32>& x_row, const NormScales& factor, const Var<I32>& sum) const {
    const auto weighted = [&](uint32_t i) {
      auto value = let("v", x_[x_row + unit * 4u + i]);
      auto gain = let("g", gain_[unit * 4u + i]);
      return let("vg", value * gain);
    };
    auto words = quantize_unit(c_.caps, weighted, factor.factor_and_scale, sum);
    auto where = let("staged_at", staged_unit(column_ * (4 * c_.row_vectors()), unit, c_.row_vectors()));
    memory_->staged[where] = std::move(words);
  }

  TernaryConfig c_;
  NormConfig norm_;
  uint32_t n_, norm_workgroup_, team_;
  NormX x_;
  NormGain gain_;
  NormParts parts_;
  WorkgroupId wg_;
  LocalIndex tid_;
  Name<U32> column_, lane_, token_, my_column_;
  std::optional<Memory> memory_;  // in prepare()
};

// The results of several rows and their statistics. Lane i of each group has and stores those of column i.
class ColumnResults {
 public:
  ColumnResults(const TernaryConfig& c, const ColumnsConfig& columns, const NextGain& gain, const NextParts& parts,
                const WorkgroupId& wg, const LocalIndex& tid)
      : c_(c), columns_(columns.columns), gain_(gain), parts_(parts), wg_(wg), tid_(tid) {}
  void begin(const NormedColumns& in) {
    stats_.emplace(gain_, parts_);
    y_row_ = let("y_row", (wg_.y * columns_ + in.my_column()) * c_.rows);
  }
  Temp<Bool> are_stored_by(const TernaryDots& dots) const { return dots.lane() < columns_; }
  Temp<U32> index(const Name<U32>& row) const { return y_row_ + row; }
  void add(const Name<F32>& value, const Name<U32>& row) { stats_->add(value, row); }
  void finish(const TernaryDots& dots) {
    const uint32_t groups = c_.workgroup / c_.lanes;
    auto staged = shared<Vec2<F32>>("next_stats", columns_ * groups);
    when(dots.lane() < columns_, [&] { staged[dots.lane() * groups + dots.group()] = stats_->mine(); });
    workgroupBarrier();
    auto mine = let("next_stat", staged[tid_ & (columns_ * groups - 1)]);
    auto squares = reduce_lanes(Reduce::kSum, c_.caps, at(mine, 0), tid_, groups, c_.workgroup);
    auto largest = reduce_lanes(Reduce::kMax, c_.caps, at(mine, 1), tid_, groups, c_.workgroup);
    when(tid_ < columns_ * groups && (tid_ & (groups - 1)) == 0u, [&] {
      auto token = let("stats_token", wg_.y * columns_ + tid_ / groups);
      parts_[token * c_.workgroups() + wg_.x] = vec2f(squares, largest);
    });
  }

 private:
  TernaryConfig c_;
  uint32_t columns_;
  NextGain gain_;
  NextParts parts_;
  WorkgroupId wg_;
  LocalIndex tid_;
  std::optional<StatsWriter> stats_;
  Name<U32> y_row_;
};

}  // namespace

NormedMatvecAddKernel normed_matvec_add_columns(const TernaryConfig& c, const NormConfig& norm,
                                                const ColumnsConfig& columns) {
  return kernel("normed_matvec_add_columns", c.workgroup,
                [&](In<"w", TernaryWeights> w, NormX x, NormGain gain, NormParts parts, WeightScales scales,
                    InOut<"y", F32> y, NextGain next_gain, NextParts next_parts, WorkgroupId wg, LocalIndex tid) {
                  NormedColumns activations(c, norm, columns, x, gain, parts, wg, tid);
                  ColumnResults results(c, columns, next_gain, next_parts, wg, tid);
                  write_matvec(c, w, activations, scales, y, results, wg, tid);
                });
}

NormedGluKernel normed_glu_columns(const TernaryConfig& c, const NormConfig& norm, const ColumnsConfig& columns) {
  return kernel("normed_glu_columns", c.workgroup,
                [&](In<"w_gate", TernaryWeights> w_gate, In<"w_up", TernaryWeights> w_up, NormX x, NormGain gain,
                    NormParts parts, WeightScales scales, Out<"y", F32> y, NextGain next_gain, NextParts next_parts,
                    WorkgroupId wg, LocalIndex tid) {
                  NormedColumns activations(c, norm, columns, x, gain, parts, wg, tid);
                  ColumnResults results(c, columns, next_gain, next_parts, wg, tid);
                  write_glu(c, w_gate, w_up, activations, scales, y, results, wg, tid);
                });
}

template <class KvWord>
NormedQkvKernel<KvWord> normed_qkv_columns(const TernaryQkvConfig& c, const NormConfig& norm,
                                           const ColumnsConfig& columns) {
  const TernaryConfig tiling = ternary_tiling(c);
  const uint32_t n = columns.columns, n_pairs = c.pairs_per_workgroup();
  return kernel("normed_qkv_columns", c.workgroup,
                [&](In<"w", TernaryWeights> w, NormX x, NormGain gain, NormParts parts, WeightScales scales,
                    In<"angles", Vec2<F32>> rope, ParamsBuffer params, Out<"q", F32> q, Out<"kv", KvWord> kv,
                    WorkgroupId wg, LocalIndex tid) {
                  NormedColumns activations(tiling, norm, columns, x, gain, parts, wg, tid);
                  const QkvPair pair = multiply_pair(c, w, activations, scales, wg, tid);
                  auto tile = shared<F32>("tile", n * 2 * n_pairs);  // [columns, 2 n_pairs]
                  auto n_tokens = let("n_tokens", params[kNTokens]);
                  const Name<U32>& column = activations.my_column();
                  when(pair.dots.lane() < n, [&] {
                    auto my_token = let("my_token", min(wg.y * n + column, n_tokens - 1u));
                    auto turns =
                        let("turns", row_word(params, my_token, kRowAngles) + row_word(params, my_token, kRowPos));
                    store_turned(c, pair, turns, rope, column * (2 * n_pairs) + place_in_tile(c, pair), tile);
                  });
                  workgroupBarrier();
                  store_head_tile<KvWord>(
                      {.shape = c.heads, .interleaved = c.interleaved, .n_pairs = n_pairs, .n_tokens = n},
                      {pair.head, pair.first_pair, let("tile_token", wg.y * n)}, tile, params, q, kv, tid, c.workgroup);
                });
}

template NormedQkvKernel<F32> normed_qkv_columns<F32>(const TernaryQkvConfig&, const NormConfig&, const ColumnsConfig&);
template NormedQkvKernel<I8x4> normed_qkv_columns<I8x4>(const TernaryQkvConfig&, const NormConfig&,
                                                        const ColumnsConfig&);
template NormedQkvKernel<F16x2> normed_qkv_columns<F16x2>(const TernaryQkvConfig&, const NormConfig&,
                                                          const ColumnsConfig&);

}  // namespace tern::gpu
