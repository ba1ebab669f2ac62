#include "backend/gpu/kernels/ternary/norm_fused.h"

#include <bit>

#include "backend/gpu/kernels/ternary/ternary_bodies.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

// The sum and the maximum over the workgroup of one value each per invocation, with a single barrier if possible.
RowStats reduce_stats(const Caps& caps, const RowStats& of_invocation, const LocalIndex& tid, uint32_t workgroup) {
  const auto& [squares, largest] = of_invocation;
  if (caps.subgroup < 4 || workgroup / caps.subgroup > caps.subgroup || !std::has_single_bit(workgroup)) {
    auto s = reduce_workgroup(Reduce::kSum, caps, squares, tid, workgroup);
    auto l = reduce_workgroup(Reduce::kMax, caps, largest, tid, workgroup);
    return {s, l};
  }
  const uint32_t lanes = std::min(caps.subgroup, workgroup);
  const uint32_t parts = workgroup / lanes;
  auto s = reduce_lanes(Reduce::kSum, caps, squares, tid, lanes, workgroup);
  auto l = reduce_lanes(Reduce::kMax, caps, largest, tid, lanes, workgroup);
  if (parts == 1) return {s, l};
  auto shared_stats = shared<Vec2<F32>>("group_stats", parts);
  when((tid & (lanes - 1)) == 0u, [&] { shared_stats[tid / lanes] = vec2f(s, l); });
  workgroupBarrier();
  auto mine = let("group_stat", shared_stats[tid & (parts - 1)]);
  auto all_s = reduce_lanes(Reduce::kSum, caps, at(mine, 0), tid, parts, workgroup);
  auto all_l = reduce_lanes(Reduce::kMax, caps, at(mine, 1), tid, parts, workgroup);
  return {all_s, all_l};
}

}  // namespace

NormScales norm_scales(const Name<F32>& squares, Temp<F32> largest, uint32_t cols, float eps,
                       std::string_view name_of_scale) {
  auto factor = let("factor", 1.0f / sqrt(squares / static_cast<float>(cols) + eps));
  auto finite_scale = let("finite_scale", 127.0f / max(std::move(largest) * factor, 1e-5f));
  auto factor_and_scale = let("factor_and_scale", factor * finite_scale);
  // A factor of 0 or NaN means that some values are not finite, which every result must show. A maximum of floats loses
  // NaN, so the factor's bits decide.
  auto factor_bits = let("factor_bits", bitcast<U32>(factor));
  auto scale = let(name_of_scale, select(finite_scale, factor, factor_bits - 1u >= kInfinityBits - 1));
  return {factor_and_scale, scale};
}

RowStats add_up_parts(const NormParts& parts, const Name<U32>& parts_row, uint32_t n_parts, const Name<U32>& lane,
                      uint32_t width, uint32_t first, uint32_t step) {
  auto squares = var("squares", 0.0f);
  auto largest = var("largest", 0.0f);
  unrolled_share("i", lane, width, first, n_parts, step, [&](const Name<U32>& i) {
    auto part = let("part_stats", parts[parts_row + i]);
    squares += at(part, 0);
    largest = max(largest, at(part, 1));
  });
  auto my_squares = let("my_squares", squares);
  auto my_largest = let("my_largest", largest);
  return {my_squares, my_largest};
}

NormedActivations::NormedActivations(const TernaryConfig& c, const NormConfig& norm, const NormX& x,
                                     const NormGain& gain, const NormParts& parts, const WorkgroupId& wg,
                                     const LocalIndex& tid)
    : c_(c), row_(c, norm, x, gain, parts, wg, tid), staged_(shared<QuantizedWords>("staged", 4 * c.row_vectors())) {}

void NormedActivations::prepare() {
  scale_ = row_.quantize([&](const Name<U32>& unit, Temp<QuantizedWords> words) {
    auto where = let("staged_at", staged_unit(unit, c_.row_vectors()));
    staged_[where] = std::move(words);
  });
}

ActivationScale NormedRow::quantize(const StoreUnit& store) const {
  // An invocation makes whole vec4s of int8 words: 16 adjacent values, four quads of floats.
  CHECK(c_.cols % 16 == 0);
  const uint32_t n_units = c_.cols / 16;
  const uint32_t rounds = (n_units + c_.workgroup - 1) / c_.workgroup;
  const auto is_whole = [&](uint32_t k) { return (k + 1) * c_.workgroup <= n_units; };
  auto x_row = let("x_row", wg_.y * (c_.cols / 4));
  auto parts_row = let("parts_row", wg_.y * norm_.n_parts);
  // All loads are issued first, so that they overlap. Past the row's end the last unit is loaded again.
  std::vector<Name<U32>> units;
  std::vector<Name<Vec4<F32>>> weighted;  // x · gain; all values still lack the same factor
  for (uint32_t k = 0; k < rounds; ++k) {
    units.push_back(let("unit", tid_ + k * c_.workgroup));
    auto from = is_whole(k) ? let("from_quad", units[k] * 4u) : let("from_quad", min(units[k], n_units - 1) * 4u);
    for (uint32_t i = 0; i < 4; ++i) {
      auto value = let("v", x_[x_row + from + i]);
      auto gain = let("g", gain_[from + i]);
      weighted.push_back(let("vg", value * gain));
    }
  }
  const RowStats mine = add_up_parts(parts_, parts_row, norm_.n_parts, tid_, c_.workgroup, 0, c_.workgroup);
  const RowStats stats = reduce_stats(c_.caps, mine, tid_, c_.workgroup);
  const auto [factor_and_scale, scale] = norm_scales(stats.squares, e(stats.largest), c_.cols, norm_.eps);
  auto sum = var("q_sum", 0);
  for (uint32_t k = 0; k < rounds; ++k) {
    const auto stage = [&] {
      const auto quad = [&](uint32_t i) { return weighted[4 * k + i]; };
      store(units[k], quantize_unit(c_.caps, quad, factor_and_scale, sum));
    };
    if (is_whole(k)) {
      stage();
    } else {
      when(units[k] < n_units, stage);
    }
  }
  auto my_sum = let("my_sum", sum);
  auto whole_sum = reduce_workgroup(Reduce::kSum, c_.caps, my_sum, tid_, c_.workgroup);
  workgroupBarrier();
  return {scale, whole_sum};
}

StatsWriter::StatsWriter(const NextGain& gain, const NextParts& parts)
    : gain_(gain), parts_(parts), squares_(var("next_squares", 0.0f)), largest_(var("next_largest", 0.0f)) {}

void StatsWriter::add(const Name<F32>& value, const Name<U32>& column) {
  squares_ += value * value;
  auto g = let("next_g", gain_[column]);
  largest_ = max(largest_, abs(value * g));
}

void StatsWriter::finish(const Caps& caps, const LocalIndex& tid, uint32_t lanes, uint32_t workgroup,
                         const Name<U32>& row, const Name<U32>& part, uint32_t n_parts) {
  const uint32_t groups = workgroup / lanes;
  auto staged = shared<Vec2<F32>>("next_stats", groups);
  when((tid & (lanes - 1)) == 0u, [&] { staged[tid / lanes] = mine(); });
  workgroupBarrier();
  auto of_group = let("next_stat", staged[tid & (groups - 1)]);
  auto squares = reduce_lanes(Reduce::kSum, caps, at(of_group, 0), tid, groups, workgroup);
  auto largest = reduce_lanes(Reduce::kMax, caps, at(of_group, 1), tid, groups, workgroup);
  when(tid == 0u, [&] { parts_[row * n_parts + part] = vec2f(squares, largest); });
}

NormedQuantizeKernel normed_quantize(const TernaryConfig& c, const NormConfig& norm) {
  return kernel(
      "normed_quantize", c.workgroup,
      [&](NormX x, NormGain gain, NormParts parts, Out<"y", QuantizedWords> y, WorkgroupId wg, LocalIndex tid) {
        const NormedRow row(c, norm, x, gain, parts, wg, tid);
        const ActivationScale scale = row.quantize([&](const Name<U32>& unit, Temp<QuantizedWords> words) {
          y[grouped_unit(c.cols, wg.y, unit)] = std::move(words);
        });
        when(tid == 0u, [&] {
          y[grouped_meta(c.cols, wg.y)] =
              call<QuantizedWords>("vec4<u32>", bitcast<U32>(scale.scale), bitcast<U32>(scale.sum), 0u, 0u);
        });
      });
}

NormedMatvecAddKernel normed_matvec_add(const TernaryConfig& c, const NormConfig& norm) {
  return kernel("normed_matvec_add", c.workgroup,
                [&](In<"w", TernaryWeights> w, NormX x, NormGain gain, NormParts parts, WeightScales scales,
                    InOut<"y", F32> y, NextGain next_gain, NextParts next_parts, WorkgroupId wg, LocalIndex tid) {
                  NormedActivations activations(c, norm, x, gain, parts, wg, tid);
                  StatsWriter stats(next_gain, next_parts);
                  RowResults results(c, wg, tid, &stats);
                  write_matvec(c, w, activations, scales, y, results, wg, tid);
                });
}

NormedGluKernel normed_glu(const TernaryConfig& c, const NormConfig& norm) {
  return kernel("normed_glu", c.workgroup,
                [&](In<"w_gate", TernaryWeights> w_gate, In<"w_up", TernaryWeights> w_up, NormX x, NormGain gain,
                    NormParts parts, WeightScales scales, Out<"y", F32> y, NextGain next_gain, NextParts next_parts,
                    WorkgroupId wg, LocalIndex tid) {
                  NormedActivations activations(c, norm, x, gain, parts, wg, tid);
                  StatsWriter stats(next_gain, next_parts);
                  RowResults results(c, wg, tid, &stats);
                  write_glu(c, w_gate, w_up, activations, scales, y, results, wg, tid);
                });
}

}  // namespace tern::gpu
