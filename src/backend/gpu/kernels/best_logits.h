// The best logits of a float head, for about half its bytes: every row's logit is estimated from an int8 copy of the
// matrix and its error bounded; rows that could be among the best are computed from the matrix itself, as float_linear
// does, and all others become −∞. docs/numerics.md has the proof.
#pragma once

#include "backend/gpu/kernels/float_linear.h"
#include "base/bytes.h"

namespace tern::gpu {

// Rows of x whose logits are found at a time.
inline constexpr uint32_t kMostBestRows = 8;

// Sixteen codes of a row of the copy, −127 … 127.
using HeadCodes = wgsl::Vec4<wgsl::I8x4>;
// Of row w of the matrix, which is scale · codes + e: the scale, ≥ ‖e‖, ≥ ‖w‖, and 0. Nothing is known of a row with
// values that are not finite, of a length beyond 2⁵⁰, or without a value above 2⁻³³, unless all are 0: its error is
// kUnknown.
using HeadErrors = wgsl::Vec4<wgsl::F32>;
inline constexpr float kUnknown = 1e38f;

struct HeadCopyConfig {
  uint32_t rows;
  uint32_t cols;        // multiples of 16
  WeightCoding coding;  // F32, F16 or BF16
  Caps caps;
  uint32_t lanes = 32;  // invocations per row
  uint32_t workgroup = 256;
  uint32_t rows_per_workgroup() const { return workgroup / lanes; }
  bool operator==(const HeadCopyConfig&) const = default;
};
using HeadCopyKernel =
    wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, wgsl::Out<"codes", HeadCodes>,
                 wgsl::Out<"errors", HeadErrors>, wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
// Grid: as many workgroups along x and y as there are rows for.
HeadCopyKernel head_copy(const HeadCopyConfig& c);

// What is known of the greatest logits of a row of x: of each of so many parts of the matrix's rows, order_of() the
// bits of what one of its logits is at least.
inline constexpr uint32_t kGreatestParts = 512;

// A row of x as the estimates read it: t·X with integers X = 128·H + L in −8191 … 8191, of each 16 values H and then L.
// For each row (t, what ‖e‖ and ‖w‖ are multiplied with, what is added): bounds[row]; the last is kUnknown where x has
// values that are not finite, or is too short or too long for bounds. Nothing is known of its logits: greatest[row].
struct EstimatedInputConfig {
  uint32_t cols;
  bool normed = false;  // x is multiplied with the gain of a norm first; its factor comes after the sums
  Caps caps;
  uint32_t workgroup = 1024;
  bool operator==(const EstimatedInputConfig&) const = default;
};
using EstimatedInputKernel =
    wgsl::Kernel<FloatX, FloatGain, wgsl::Out<"parts", wgsl::I8x4>, wgsl::Out<"bounds", HeadErrors>,
                 wgsl::Out<"greatest", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Grid: [1, rows of x].
EstimatedInputKernel estimated_input(const EstimatedInputConfig& c);

// upper[column, row] ≥ the logit; greatest[column, part] becomes known of the rows of its workgroups, which take turns.
// Columns are rows of x, all `columns` of them, whatever is in them.
struct EstimateConfig {
  uint32_t rows, cols;
  Caps caps;
  uint32_t lanes = 32, rows_per_group = 2, workgroup = 256;
  uint32_t columns = 1;
  uint32_t most_ahead = 16;  // vec4s of codes of a lane that are loaded before any is used
  uint32_t rows_per_workgroup() const { return workgroup / lanes * rows_per_group; }
  uint32_t n_workgroups() const { return ceil_div(rows, rows_per_workgroup()); }
  bool operator==(const EstimateConfig&) const = default;
};
// No more lanes than a row has vec4s of codes; as many rows in a workgroup.
EstimateConfig fit(EstimateConfig c);
using EstimateKernel = wgsl::Kernel<wgsl::In<"codes", HeadCodes>, wgsl::In<"errors", HeadErrors>,
                                    wgsl::In<"parts", HeadCodes>, wgsl::In<"bounds", HeadErrors>,
                                    wgsl::Out<"upper", wgsl::F32>, wgsl::InOut<"greatest", wgsl::Atomic<wgsl::U32>>,
                                    wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
// Grid: at least n_workgroups() along x and y.
EstimateKernel estimate_logits(const EstimateConfig& c);

// The logits of the n_best best rows, of those that equal the least of them, and of a few more; of all others −∞.
struct BestLogitsConfig {
  FloatLinearConfig linear;  // of float_linear, with one row per group; neither staged nor int8_x
  uint32_t n_best;           // at most as many as a workgroup has invocations
  bool operator==(const BestLogitsConfig&) const = default;
};
using BestLogitsKernel = wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, FloatX, FloatGain,
                                      wgsl::In<"upper", wgsl::F32>, wgsl::In<"greatest", wgsl::U32>,
                                      wgsl::Out<"y", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y: bits of f32. Grid: [⌈rows / linear.workgroup⌉, rows of x].
BestLogitsKernel best_logits(const BestLogitsConfig& c);

// Of a single row of x the greatest logit only, for argmax_embed (argmax.h): of each workgroup's rows.
using GreatestLogitKernel =
    wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, FloatX, FloatGain,
                 wgsl::In<"upper", wgsl::F32>, wgsl::In<"greatest", wgsl::U32>, wgsl::Out<"values", wgsl::F32>,
                 wgsl::Out<"indices", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// n_best: 1. Grid: [⌈rows / linear.workgroup⌉].
GreatestLogitKernel greatest_logit(const BestLogitsConfig& c);

}  // namespace tern::gpu
