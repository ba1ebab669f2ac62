#include "backend/gpu/kernels/ternary/ternary_columns.h"

#include <bit>
#include <functional>

#include "backend/gpu/kernels/head_tile.h"
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
        tid_(tid),
        column_(let("column", tid / team_)),
        lane_(let("lane_of_team", tid & (team_ - 1))),
        token_(let("token", wg.y * n_ + column_)),
        memory_{.staged = shared<QuantizedWords>("staged", n_ * 4 * c.row_vectors()),
                .runs = shared<Vec2<F32>>("run_stats", c.workgroup / c.caps.subgroup * n_runs_of_lane()),
                .scales = shared<F32>("x_scales", n_),
                .sums = shared<Atomic<I32>>("x_sums", n_)} {
    CHECK(has_columns(c, columns));
  }

  // All invocations must call it.
  void prepare() {
    const Factor factor = add_up_parts();
    when(lane_ == 0u, [&] { memory_.scales[column_] = factor.scale; });
    auto sum = var("q_sum", 0);
    auto x_row = let("x_row", token_ * (c_.cols / 4));
    const uint32_t n_units = c_.cols / 16;
    const auto unit_of = [&](const Name<U32>& unit) { stage(unit, x_row, factor, sum); };
    constexpr uint32_t kWrittenOut = 8;
    if (n_units <= kWrittenOut * team_) {
      for (uint32_t first = 0; first < n_units; first += team_) {
        auto unit = let("unit", lane_ + first);
        if (first + team_ <= n_units) {
          unit_of(unit);
        } else {
          when(unit < n_units, [&] { unit_of(unit); });
        }
      }
    } else {
      loop("unit", lane_, n_units, team_, unit_of);
    }
    const uint32_t lanes = std::min(c_.caps.subgroup, team_);
    auto my_sum = let("my_sum", sum);
    auto of_run = reduce_lanes(Reduce::kSum, c_.caps, my_sum, tid_, lanes, c_.workgroup);
    when((lane_ & (lanes - 1)) == 0u, [&] { atomicAdd(memory_.sums[column_], of_run); });
    workgroupBarrier();
  }

  auto quads() const {
    return [this]<class P>(uint32_t column, const Name<U32>& i, const P& p) {
      return memory_.staged[i + p * c_.row_vectors() + column * 4 * c_.row_vectors()];
    };
  }
  ActivationScale scale(const Name<U32>& column) const {
    auto scale = let("x_scale", memory_.scales[column]);
    auto sum = atomicLoad(memory_.sums[column]);
    return {scale, sum};
  }

 private:
  struct Memory {
    Shared<QuantizedWords> staged;  // [columns, 4 planes, half blocks]
    Shared<Vec2<F32>> runs;
    Shared<F32> scales;
    Shared<Atomic<I32>> sums;
  };
  struct Factor {
    Name<F32> with_scale, scale;
  };

  // The kernel for one row adds up parts with norm_workgroup_ invocations: invocation i takes parts i, i +
  // norm_workgroup_, …. Then it adds up each subgroup, and then the subgroups' sums. Here, lane t of a team does the
  // work of invocations t, t + team_, ….
  uint32_t n_runs_of_lane() const {
    const uint32_t used = std::min(norm_workgroup_, norm_.n_parts);
    return ceil_div(used, team_);
  }

  Factor add_up_parts() {
    const uint32_t subgroup = c_.caps.subgroup, runs_of_team = team_ / subgroup;
    const uint32_t n_runs = n_runs_of_lane() * runs_of_team;
    auto parts_row = let("parts_row", token_ * norm_.n_parts);
    auto to = let("to", column_ * n_runs + lane_ / subgroup);
    for (uint32_t j = 0; j < n_runs_of_lane(); ++j) {
      auto squares = var("squares", 0.0f);
      auto largest = var("largest", 0.0f);
      const auto add_part = [&](const Name<U32>& i) {
        auto part = let("part_stats", parts_[parts_row + i]);
        squares += at(part, 0);
        largest = max(largest, at(part, 1));
      };
      for (uint32_t first = j * team_; first < norm_.n_parts; first += norm_workgroup_) {
        auto i = let("i", lane_ + first);
        if (first + team_ <= norm_.n_parts) {
          add_part(i);
        } else {
          when(i < norm_.n_parts, [&] { add_part(i); });
        }
      }
      auto my_squares = let("my_squares", squares);
      auto my_largest = let("my_largest", largest);
      auto run_squares = reduce_lanes(Reduce::kSum, c_.caps, my_squares, tid_, subgroup, c_.workgroup);
      auto run_largest = reduce_lanes(Reduce::kMax, c_.caps, my_largest, tid_, subgroup, c_.workgroup);
      when((lane_ & (subgroup - 1)) == 0u,
           [&] { memory_.runs[to + j * runs_of_team] = vec2f(run_squares, run_largest); });
    }
    workgroupBarrier();
    std::vector<Name<F32>> squares;
    auto largest = var("largest_of_row", 0.0f);
    for (uint32_t run = 0; run < n_runs; ++run) {
      auto stats = let("run", memory_.runs[column_ * n_runs + run]);
      squares.push_back(let("run_squares", at(stats, 0)));
      largest = max(largest, at(stats, 1));
    }
    auto factor = let("factor", 1.0f / sqrt(all_of(squares) / static_cast<float>(c_.cols) + norm_.eps));
    auto finite_scale = let("finite_scale", 127.0f / max(largest * factor, 1e-5f));
    auto with_scale = let("factor_and_scale", factor * finite_scale);
    // See norm_scales (norm_fused.cc).
    auto factor_bits = let("factor_bits", bitcast<U32>(factor));
    auto scale = let("scale_of_row", select(finite_scale, factor, factor_bits - 1u >= kInfinityBits - 1));
    return {with_scale, scale};
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
  void stage(const Name<U32>& unit, const Name<U32>& x_row, const Factor& factor, const Var<I32>& sum) const {
    std::vector<Name<I8x4>> words;
    for (uint32_t i = 0; i < 4; ++i) {
      auto value = let("v", x_[x_row + unit * 4u + i]);
      auto gain = let("g", gain_[unit * 4u + i]);
      auto weighted = let("vg", value * gain);
      auto q = to_int8(weighted * factor.with_scale);
      words.push_back(pack_int8(c_.caps, q));
      sum += sum_of(q);
    }
    auto row = column_ * (4 * c_.row_vectors());
    auto where = let("staged_at", staged_unit(std::move(row), unit, c_.row_vectors()));
    memory_.staged[where] = call<QuantizedWords>("vec4<u32>", words[0], words[1], words[2], words[3]);
  }

  TernaryConfig c_;
  NormConfig norm_;
  uint32_t n_, norm_workgroup_, team_;
  NormX x_;
  NormGain gain_;
  NormParts parts_;
  LocalIndex tid_;
  Name<U32> column_, lane_, token_;
  Memory memory_;
};

// The statistics of what each group's lanes have stored. Lane i has those of column i.
class ColumnStats {
 public:
  ColumnStats(const NextGain& gain, const NextParts& parts)
      : gain_(gain), parts_(parts), squares_(var("next_squares", 0.0f)), largest_(var("next_largest", 0.0f)) {}
  void add(const Name<F32>& value, const Name<U32>& row) {
    squares_ += value * value;
    auto g = let("next_g", gain_[row]);
    largest_ = max(largest_, abs(value * g));
  }
  void finish(const TernaryConfig& c, uint32_t columns, const TernaryDots& dots, const WorkgroupId& wg,
              const LocalIndex& tid) {
    const uint32_t groups = c.workgroup / c.lanes;
    auto staged = shared<Vec2<F32>>("next_stats", columns * groups);
    when(dots.lane() < columns, [&] { staged[dots.lane() * groups + dots.group()] = vec2f(squares_, largest_); });
    workgroupBarrier();
    auto mine = let("next_stat", staged[tid & (columns * groups - 1)]);
    auto squares = reduce_lanes(Reduce::kSum, c.caps, at(mine, 0), tid, groups, c.workgroup);
    auto largest = reduce_lanes(Reduce::kMax, c.caps, at(mine, 1), tid, groups, c.workgroup);
    const uint32_t n_parts = ceil_div(c.rows, c.rows_per_workgroup());
    when(tid < columns * groups && (tid & (groups - 1)) == 0u, [&] {
      auto token = let("stats_token", wg.y * columns + tid / groups);
      parts_[token * n_parts + wg.x] = vec2f(squares, largest);
    });
  }

 private:
  NextGain gain_;
  NextParts parts_;
  Var<F32> squares_, largest_;
};

// Calls body(r, row) for each row that exists, on the lanes that have a column.
template <class Body>
void store_columns(const TernaryConfig& c, uint32_t columns, const TernaryDots& dots,
                   const std::vector<Name<U32>>& rows, const Body& body) {
  when(dots.lane() < columns, [&] {
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

NormedMatvecAddKernel normed_matvec_add_columns(const TernaryConfig& c, const NormConfig& norm,
                                                const ColumnsConfig& columns) {
  return kernel("normed_matvec_add_columns", c.workgroup,
                [&](In<"w", TernaryWeights> w, NormX x, NormGain gain, NormParts parts, WeightScales scales,
                    InOut<"y", F32> y, NextGain next_gain, NextParts next_parts, WorkgroupId wg, LocalIndex tid) {
                  TernaryDots dots(c, tid);
                  const auto rows = rows_of_group(c, wg, dots.group());
                  const auto starts = row_starts(c, rows);
                  const auto load = [&](size_t, Temp<U32> i) { return w[std::move(i)]; };
                  dots.load_weights(starts, load);
                  NormedColumns activations(c, norm, columns, x, gain, parts, wg, tid);
                  activations.prepare();
                  const auto totals = dots.multiply_columns(starts, load, columns.columns, activations.quads());
                  auto column = let("my_column", dots.lane() & (columns.columns - 1));
                  const ActivationScale x_scale = activations.scale(column);
                  ColumnStats stats(next_gain, next_parts);
                  auto y_row = let("y_row", (wg.y * columns.columns + column) * c.rows);
                  store_columns(c, columns.columns, dots, rows, [&](size_t r, const Name<U32>& row) {
                    auto value = let("value", dequantize(totals[r], x_scale, scales.get<"a">()));
                    auto index = let("index", y_row + row);
                    auto sum = let("y_new", y[index] + value);
                    y[index] = sum;
                    stats.add(sum, row);
                  });
                  stats.finish(c, columns.columns, dots, wg, tid);
                });
}

NormedGluKernel normed_glu_columns(const TernaryConfig& c, const NormConfig& norm, const ColumnsConfig& columns) {
  return kernel("normed_glu_columns", c.workgroup,
                [&](In<"w_gate", TernaryWeights> w_gate, In<"w_up", TernaryWeights> w_up, NormX x, NormGain gain,
                    NormParts parts, WeightScales scales, Out<"y", F32> y, NextGain next_gain, NextParts next_parts,
                    WorkgroupId wg, LocalIndex tid) {
                  TernaryDots dots(c, tid);
                  const auto rows = rows_of_group(c, wg, dots.group());
                  auto starts = row_starts(c, rows);
                  const size_t n = rows.size();
                  for (size_t r = 0; r < n; ++r) starts.push_back(Name<U32>(starts[r]));  // gate rows, then up rows
                  const auto load = [&](size_t r, Temp<U32> i) {
                    return r < n ? w_gate[std::move(i)] : w_up[std::move(i)];
                  };
                  dots.load_weights(starts, load);
                  NormedColumns activations(c, norm, columns, x, gain, parts, wg, tid);
                  activations.prepare();
                  const auto totals = dots.multiply_columns(starts, load, columns.columns, activations.quads());
                  auto column = let("my_column", dots.lane() & (columns.columns - 1));
                  const ActivationScale x_scale = activations.scale(column);
                  ColumnStats stats(next_gain, next_parts);
                  auto y_row = let("y_row", (wg.y * columns.columns + column) * c.rows);
                  store_columns(c, columns.columns, dots, rows, [&](size_t r, const Name<U32>& row) {
                    auto value = let("value", glu_of_dots(c.act, totals[r], totals[n + r], x_scale, scales));
                    y[y_row + row] = value;
                    stats.add(value, row);
                  });
                  stats.finish(c, columns.columns, dots, wg, tid);
                });
}

template <class KvWord>
NormedQkvKernel<KvWord> normed_qkv_columns(const TernaryQkvConfig& c, const NormConfig& norm,
                                           const ColumnsConfig& columns) {
  const TernaryConfig tiling = ternary_tiling(c);
  const HeadShape& s = c.heads;
  const uint32_t n = columns.columns, half = s.head_dim / 2, n_pairs = c.pairs_per_workgroup();
  const bool halves = !c.interleaved;
  return kernel(
      "normed_qkv_columns", c.workgroup,
      [&](In<"w", TernaryWeights> w, NormX x, NormGain gain, NormParts parts, WeightScales scales,
          In<"angles", Vec2<F32>> rope, ParamsBuffer params, Out<"q", F32> q, Out<"kv", KvWord> kv, WorkgroupId wg,
          LocalIndex tid) {
        TernaryDots dots(tiling, tid);
        auto head = let("head", wg.x / (half / n_pairs));
        auto first_pair = let("first_pair", wg.x % (half / n_pairs) * n_pairs);
        auto pair = let("pair", first_pair + dots.group());
        // A pair's two rows are half a head apart, or adjacent.
        auto row_a = let("row_a", head * s.head_dim + (halves ? e(pair) : pair * 2u));
        auto row_b = let("row_b", row_a + (halves ? half : 1u));
        auto start_a = let("start_a", row_a * tiling.row_vectors());
        auto start_b = let("start_b", row_b * tiling.row_vectors());
        const std::vector<Name<U32>> starts = {start_a, start_b};
        const auto load = [&](size_t, Temp<U32> i) { return w[std::move(i)]; };
        dots.load_weights(starts, load);
        NormedColumns activations(tiling, norm, columns, x, gain, parts, wg, tid);
        activations.prepare();
        const auto totals = dots.multiply_columns(starts, load, n, activations.quads());
        auto column = let("my_column", dots.lane() & (n - 1));
        const ActivationScale x_scale = activations.scale(column);
        auto is_query = let("is_query", head < s.n_heads);
        auto is_key = let("is_key", head < s.n_heads + s.n_kv_heads);
        auto key_or_value = let("key_or_value", select(scales.get<"c">(), scales.get<"b">(), is_key));
        auto scale = let("scale", select(key_or_value, scales.get<"a">(), is_query));
        auto a = let("a", dequantize(totals[0], x_scale, scale));
        auto b = let("b", dequantize(totals[1], x_scale, scale));

        // The workgroup's values [columns, 2 n_pairs], in storage order.
        auto tile = shared<F32>("tile", n * 2 * n_pairs);
        auto n_tokens = let("n_tokens", params[kNTokens]);
        when(dots.lane() < n, [&] {
          auto my_token = let("my_token", min(wg.y * n + column, n_tokens - 1u));
          auto turns = let("turns", row_word(params, my_token, kRowAngles) + row_word(params, my_token, kRowPos));
          auto turn = let("turn", rope[turns * half + pair]);
          auto angle = let("angle", select(vec2f(1.0f, 0.0f), turn, is_key));  // values are not rotated
          auto at_a = let("at_a", column * (2 * n_pairs) + (halves ? e(dots.group()) : dots.group() * 2u));
          tile[at_a] = a * at(angle, 0) - b * at(angle, 1);
          tile[at_a + (halves ? n_pairs : 1u)] = b * at(angle, 0) + a * at(angle, 1);
        });
        workgroupBarrier();
        store_head_tile<KvWord>({.shape = s, .interleaved = c.interleaved, .n_pairs = n_pairs, .n_tokens = n},
                                {head, first_pair, let("tile_token", wg.y * n)}, tile, params, q, kv, tid, c.workgroup);
      });
}

template NormedQkvKernel<F32> normed_qkv_columns<F32>(const TernaryQkvConfig&, const NormConfig&, const ColumnsConfig&);
template NormedQkvKernel<I8x4> normed_qkv_columns<I8x4>(const TernaryQkvConfig&, const NormConfig&,
                                                        const ColumnsConfig&);
template NormedQkvKernel<F16x2> normed_qkv_columns<F16x2>(const TernaryQkvConfig&, const NormConfig&,
                                                          const ColumnsConfig&);

}  // namespace tern::gpu
