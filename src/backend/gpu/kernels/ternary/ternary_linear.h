// Ternary matrix times int8 rows: y = (Σ code·q − Σ q) / s · weight scale. The next operation is done in the same
// kernel.
#pragma once

#include "backend/gpu/kernels/common.h"
#include "base/bytes.h"

namespace tern::gpu {

// Rows are stored in half blocks: 16 bytes of I2_S, 64 elements (quant/formats/i2_s.h).
using TernaryWeights = wgsl::Vec4<wgsl::I2sWord>;
using QuantizedWords = wgsl::Vec4<wgsl::I8x4>;

// The index of 16 adjacent values of a row in workgroup memory, in the order in which they are multiplied: unit u is
// half u % 2 of plane u/2 % 4 of block u/8. `row`: where the row begins; `vectors`: TernaryConfig::row_vectors().
template <wgsl::ValueOf<wgsl::U32> Row>
wgsl::Temp<wgsl::U32> staged_unit(Row&& row, const wgsl::Name<wgsl::U32>& unit, uint32_t vectors) {
  return std::forward<Row>(row) + ((unit >> 1u) & 3u) * vectors + ((unit >> 3u) * 2u + (unit & 1u));
}
// The same for the only row.
inline wgsl::Temp<wgsl::U32> staged_unit(const wgsl::Name<wgsl::U32>& unit, uint32_t vectors) {
  return ((unit >> 1u) & 3u) * vectors + ((unit >> 3u) * 2u + (unit & 1u));
}

struct TernaryConfig {
  uint32_t rows, cols;  // cols a multiple of 4
  Store store = Store::kSet;
  Activation act = Activation::kRelu2;  // of glu kernels
  Caps caps;
  // Layout of the work: `lanes` consecutive invocations share a row, and compute `rows_per_group` rows together, so
  // that each activation that they load is used for all of these rows.
  uint32_t lanes = 8;
  uint32_t rows_per_group = 2;
  uint32_t workgroup = 128;
  uint32_t most_ahead = 8;  // vec4s of weights that an invocation loads before its activations are ready
  // Loops instead of unrolled rounds and planes, for drivers on which compiling costs more than running a loop.
  bool in_loops = false;
  bool loops_planes = false;  // loops over planes only, for several rows of activations
  uint32_t rows_per_workgroup() const { return workgroup / lanes * rows_per_group; }
  uint32_t workgroups() const { return ceil_div(rows, rows_per_workgroup()); }  // per row of activations
  uint32_t row_vectors() const { return whole_blocks(cols) / 64; }              // vec4s of a row of weights

  bool operator==(const TernaryConfig&) const = default;
};

using WeightScales = wgsl::Uniform<"scales", wgsl::Field<"a", wgsl::F32>, wgsl::Field<"b", wgsl::F32>,
                                   wgsl::Field<"c", wgsl::F32>, wgsl::Field<"unused", wgsl::F32>>;

using TernaryMatvecKernel = wgsl::Kernel<wgsl::In<"w", TernaryWeights>, wgsl::In<"x", QuantizedWords>, WeightScales,
                                         wgsl::InOut<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Grid: [⌈rows / rows_per_workgroup⌉, n_tokens].
TernaryMatvecKernel ternary_matvec(const TernaryConfig& c);

using TernaryGluKernel =
    wgsl::Kernel<wgsl::In<"w_gate", TernaryWeights>, wgsl::In<"w_up", TernaryWeights>, wgsl::In<"x", QuantizedWords>,
                 WeightScales, wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y = act(gate·x) · (up·x). `store` is not used. Grid as above.
TernaryGluKernel ternary_glu(const TernaryConfig& c);

// ---- Parts that ternary_qkv also uses.

// The integer dot products of a few rows with one row of activations, on every lane of the group; for use inside a
// kernel. Weights and activations are loaded separately, so that weights can be loaded while activations are still
// being computed.
class TernaryDots {
 public:
  TernaryDots(const TernaryConfig& c, wgsl::LocalIndex tid);

  // Row `r` starts at vec4 index starts[r] of its matrix; `load(r, i)` gives vec4 i of the matrix of row r.
  template <class Load>
  void load_weights(const std::vector<wgsl::Name<wgsl::U32>>& starts, const Load& load);

  // `quad(i, p)` gives the activations that are multiplied with plane p of half block i of the weights: 128b + 32p +
  // 16h … for half h of block b, i = 2b + h.
  template <class Load, class Quad>
  std::vector<wgsl::Name<wgsl::I32>> multiply(const std::vector<wgsl::Name<wgsl::U32>>& starts, const Load& load,
                                              const Quad& quad) const;

  // The same with `columns` rows of activations (a power of two, at most c.lanes); quad(column, i, p) gives their
  // quads. Each lane gets the dot products of row of activations lane % columns.
  template <class Load, class Quad>
  std::vector<wgsl::Name<wgsl::I32>> multiply_columns(const std::vector<wgsl::Name<wgsl::U32>>& starts,
                                                      const Load& load, uint32_t columns, const Quad& quad) const;

  // True if load_weights loads the weights of this many rows: unrolled, with all loads issued before the first is used.
  // The registers limit this.
  bool loads_ahead(size_t n_rows) const { return !c_.in_loops && rounds() * n_rows <= c_.most_ahead; }

  const wgsl::Name<wgsl::U32>& group() const { return group_; }  // index of this invocation's group in the workgroup
  const wgsl::Name<wgsl::U32>& lane() const { return lane_; }    // index of its lane in the group
  // The weights that load_weights has loaded, [round][row]; empty if it leaves loading to multiply.
  const std::vector<std::vector<wgsl::Name<TernaryWeights>>>& ahead() const { return ahead_; }

 private:
  uint32_t n_vec() const { return c_.row_vectors(); }
  uint32_t rounds() const { return (n_vec() + c_.lanes - 1) / c_.lanes; }

  // Calls add(vec4 i of the rows, i) for the lane's share of the rows.
  template <class Load, class Add>
  void for_units(const std::vector<wgsl::Name<wgsl::U32>>& starts, const Load& load, const Add& add) const;

  TernaryConfig c_;
  wgsl::LocalIndex tid_;
  Dot4 dot4_;
  wgsl::Name<wgsl::U32> group_, lane_;
  std::vector<std::vector<wgsl::Name<TernaryWeights>>> ahead_;  // [round][row]
};

// Weights that were loaded ahead, kept in variables.
class KeptWeights {
 public:
  explicit KeptWeights(const TernaryDots& dots) {
    for (const auto& round : dots.ahead()) {
      for (const auto& unit : round) units_.push_back(wgsl::var("kept_w", unit));
    }
  }
  void keep(const TernaryDots& dots) const {
    size_t i = 0;
    for (const auto& round : dots.ahead()) {
      for (const auto& unit : round) units_[i++] = unit;
    }
  }
  bool empty() const { return units_.empty(); }
  // A loader for TernaryDots::load_weights, which asks for the weights in the same order. n: the number returned so
  // far.
  auto load(size_t& n) const {
    return [this, &n](size_t, const wgsl::Temp<wgsl::U32>&) { return wgsl::e(units_[n++]); };
  }

 private:
  std::vector<wgsl::Var<TernaryWeights>> units_;
};

// Quads of int8 rows in storage, for TernaryDots::multiply.
template <class X>
auto stored_quads(const X& x, const wgsl::Name<wgsl::U32>& x_base) {
  return [x, x_base]<class P>(const wgsl::Name<wgsl::U32>& i, const P& p) {
    return x[x_base + ((i >> 1u) * 8u + (i & 1u)) + p * 2u];
  };
}

// The group's rows: its first row, and further rows one group count apart, so that adjacent groups read adjacent rows.
// Rows past the end load the last row again and are not stored.
std::vector<wgsl::Name<wgsl::U32>> rows_of_group(const TernaryConfig& c, const wgsl::WorkgroupId& wg,
                                                 const wgsl::Name<wgsl::U32>& group);
std::vector<wgsl::Name<wgsl::U32>> row_starts(const TernaryConfig& c, const std::vector<wgsl::Name<wgsl::U32>>& rows);

// What converts a token's integer dot products to floats: x ≈ q / scale, and Σ q.
struct ActivationScale {
  wgsl::Name<wgsl::F32> scale;
  wgsl::Name<wgsl::I32> sum;
};
template <class X>
ActivationScale load_activation_scale(const X& x, const wgsl::Name<wgsl::U32>& x_base, uint32_t cols) {
  using namespace wgsl;
  auto meta = let("x_meta", x[x_base + quantized_meta(cols)]);
  auto scale = let("x_scale", bitcast<F32>(bits(at(meta, 0))));
  auto sum = let("x_sum", bitcast<I32>(bits(at(meta, 1))));
  return {scale, sum};
}

inline wgsl::Temp<wgsl::F32> dequantize(const wgsl::Name<wgsl::I32>& dot, const ActivationScale& x,
                                        const wgsl::Name<wgsl::F32>& weight_scale) {
  return wgsl::f32(dot - x.sum) / x.scale * weight_scale;
}

// act(gate) · up from the dot products of both; scales: a for the gate, b for up.
inline wgsl::Temp<wgsl::F32> glu_of_dots(Activation act, const wgsl::Name<wgsl::I32>& gate_dot,
                                         const wgsl::Name<wgsl::I32>& up_dot, const ActivationScale& x,
                                         const WeightScales& scales) {
  using namespace wgsl;
  auto gate = let("gate", dequantize(gate_dot, x, scales.get<"a">()));
  auto up = let("up", dequantize(up_dot, x, scales.get<"b">()));
  return gated(act, gate, up);
}

// y[index] = value, or y[index] += value.
template <class Y>
void store_linear(Store how, const Y& y, const wgsl::Name<wgsl::U32>& index, const wgsl::Name<wgsl::F32>& value) {
  if (how == Store::kAdd) {
    y[index] += value;
  } else {
    y[index] = value;
  }
}

template <class Load>
void TernaryDots::load_weights(const std::vector<wgsl::Name<wgsl::U32>>& starts, const Load& load) {
  using namespace wgsl;
  if (!loads_ahead(starts.size())) return;
  for (uint32_t k = 0; k < rounds(); ++k) {
    // Past the row's end the last vec4 is loaded again; multiply() leaves it out.
    const bool is_whole = (k + 1) * c_.lanes <= n_vec();
    auto i = is_whole ? let("i", lane_ + k * c_.lanes) : let("i", min(lane_ + k * c_.lanes, n_vec() - 1));
    ahead_.emplace_back();
    for (size_t r = 0; r < starts.size(); ++r) ahead_.back().push_back(let("w4", load(r, starts[r] + i)));
  }
}

template <class Load, class Add>
void TernaryDots::for_units(const std::vector<wgsl::Name<wgsl::U32>>& starts, const Load& load, const Add& add) const {
  using namespace wgsl;
  for (uint32_t k = 0; k < ahead_.size(); ++k) {
    auto i = let("i", lane_ + k * c_.lanes);
    if ((k + 1) * c_.lanes <= n_vec()) {
      add(ahead_[k], i);
    } else {
      when(i < n_vec(), [&] { add(ahead_[k], i); });
    }
  }
  if (!ahead_.empty()) return;
  loop("i", lane_, n_vec(), c_.lanes, [&](const Name<U32>& i) {
    std::vector<Name<TernaryWeights>> w;
    for (size_t r = 0; r < starts.size(); ++r) w.push_back(let("w4", load(r, starts[r] + i)));
    add(w, i);
  });
}

template <class Load, class Quad>
std::vector<wgsl::Name<wgsl::I32>> TernaryDots::multiply(const std::vector<wgsl::Name<wgsl::U32>>& starts,
                                                         const Load& load, const Quad& quad) const {
  using namespace wgsl;
  std::vector<Var<I32>> sums;
  for (size_t r = 0; r < starts.size(); ++r) sums.push_back(var("acc", 0));
  for_units(starts, load, [&](const std::vector<Name<TernaryWeights>>& w, const Name<U32>& i) {
    if (c_.in_loops) {
      loop("plane", 0u, 4u, 1u, [&](const Name<U32>& plane) {
        auto q = let("q4", quad(i, plane));
        auto shift = let("shift", 6u - plane * 2u);
        for (uint32_t k = 0; k < 4; ++k) {
          for (size_t r = 0; r < w.size(); ++r) sums[r] += dot4_(codes(at(w[r], k), shift), at(q, k));
        }
      });
      return;
    }
    for (uint32_t p = 0; p < 4; ++p) {
      auto q = let("q4", quad(i, p));
      for (uint32_t k = 0; k < 4; ++k) {
        for (size_t r = 0; r < w.size(); ++r) sums[r] += dot4_(codes(at(w[r], k), p), at(q, k));
      }
    }
  });
  std::vector<Name<I32>> totals;
  for (size_t r = 0; r < starts.size(); ++r) {
    auto mine = let("mine", sums[r]);
    totals.push_back(reduce_lanes(Reduce::kSum, c_.caps, mine, tid_, c_.lanes, c_.workgroup));
  }
  return totals;
}

template <class Load, class Quad>
std::vector<wgsl::Name<wgsl::I32>> TernaryDots::multiply_columns(const std::vector<wgsl::Name<wgsl::U32>>& starts,
                                                                 const Load& load, uint32_t columns,
                                                                 const Quad& quad) const {
  using namespace wgsl;
  CHECK((columns & (columns - 1)) == 0 && columns <= c_.lanes && c_.lanes <= c_.caps.subgroup && !c_.in_loops);
  std::vector<Var<I32>> sums;  // [row][column]
  for (size_t i = 0; i < starts.size() * columns; ++i) sums.push_back(var("acc", 0));
  const auto add_plane = [&]<class P, class Codes>(const std::vector<Name<TernaryWeights>>& w, const Name<U32>& i,
                                                   const P& plane, const Codes& codes_of) {
    std::vector<Name<I8x4>> unpacked;  // unpacked once for all columns
    for (const auto& row : w) {
      for (uint32_t k = 0; k < 4; ++k) unpacked.push_back(let("codes", codes_of(at(row, k))));
    }
    for (uint32_t column = 0; column < columns; ++column) {
      auto q = let("q4", quad(column, i, plane));
      for (uint32_t k = 0; k < 4; ++k) {
        for (size_t r = 0; r < w.size(); ++r) sums[r * columns + column] += dot4_(unpacked[4 * r + k], at(q, k));
      }
    }
  };
  const auto add = [&](const std::vector<Name<TernaryWeights>>& w, const Name<U32>& i) {
    if (c_.loops_planes) {
      loop("plane", 0u, 4u, 1u, [&](const Name<U32>& plane) {
        auto shift = let("shift", 6u - plane * 2u);
        add_plane(w, i, plane, [&](auto&& word) { return codes(std::forward<decltype(word)>(word), shift); });
      });
      return;
    }
    for (uint32_t p = 0; p < 4; ++p) {
      add_plane(w, i, p, [&](auto&& word) { return codes(std::forward<decltype(word)>(word), p); });
    }
  };
  for_units(starts, load, add);
  // Half of the columns go to the lanes whose index has the highest bit of `columns` set, and so on. Each step takes
  // half as many exchanges as the one before; separate sums for each column would take as many as the first in each
  // step.
  std::vector<Name<I32>> totals;
  for (size_t r = 0; r < starts.size(); ++r) {
    std::vector<Name<I32>> mine;
    for (uint32_t column = 0; column < columns; ++column) mine.push_back(let("mine", sums[r * columns + column]));
    for (uint32_t half = columns / 2; half > 0; half /= 2) {
      auto is_upper = let("is_upper", (lane_ & half) != 0u);
      std::vector<Name<I32>> kept;
      for (uint32_t column = 0; column < half; ++column) {
        auto given = let("given", select(mine[column + half], mine[column], is_upper));
        auto stays = let("stays", select(mine[column], mine[column + half], is_upper));
        auto taken = subgroupShuffleXor(given, half);
        kept.push_back(let("sum", stays + taken));
      }
      mine = kept;
    }
    auto total = mine[0];
    for (uint32_t mask = columns; mask < c_.lanes; mask *= 2) {
      auto other = subgroupShuffleXor(total, mask);
      total = let("sum", total + other);
    }
    totals.push_back(total);
  }
  return totals;
}

}  // namespace tern::gpu
