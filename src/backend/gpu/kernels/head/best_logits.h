// The best logits of a float head, for about half the bytes of the full product. Every row's logit is estimated from an
// int8 copy of the matrix, with an error bound. Rows that could be among the best are computed from the matrix itself,
// as float_linear does; all other logits become −∞. docs/numerics.md has the proof.
#pragma once

#include "backend/gpu/kernels/float/float_linear.h"
#include "base/bytes.h"

namespace tern::gpu {

// Rows of x processed at a time, at most.
inline constexpr uint32_t kMostBestRows = 8;

// Sixteen codes of a row of the copy, −127 … 127.
using HeadCodes = wgsl::Vec4<wgsl::I8x4>;
// For row w = scale · codes + e of the matrix: the scale, a bound ≥ ‖e‖, a bound ≥ ‖w‖, and 0. The error is kUnknown
// (no bound) if the row has values that are not finite, a length beyond 2⁵⁰, or no value above 2⁻³³ although not all
// are 0.
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
// Grid: enough workgroups along x and y for all rows.
HeadCopyKernel head_copy(const HeadCopyConfig& c);

// Lower bounds of a row of x: the matrix's rows are divided into this many parts. For each part, the key (order_of() of
// the bits) of a value that one of its logits is known to reach.
inline constexpr uint32_t kGreatestParts = 512;

// A row of x as the estimates read it: t·X with integers X = 128·H + L in −8191 … 8191, stored as 16 H and then 16 L
// for each 16 values. bounds[row] = (t, the factor of ‖e‖, the factor of ‖w‖, a constant). The constant is kUnknown if
// x has values that are not finite, or is too short or too long for bounds. Also clears greatest[row].
struct EstimatedInputConfig {
  uint32_t cols;
  bool normed = false;  // x is first multiplied with the gain of a norm; the norm's factor is applied after the sums
  Caps caps;
  uint32_t workgroup = 1024;
  bool operator==(const EstimatedInputConfig&) const = default;
};
using EstimatedInputKernel =
    wgsl::Kernel<FloatX, FloatGain, wgsl::Out<"parts", wgsl::I8x4>, wgsl::Out<"bounds", HeadErrors>,
                 wgsl::Out<"greatest", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Grid: [1, rows of x].
EstimatedInputKernel estimated_input(const EstimatedInputConfig& c);

// upper[column, row]: an upper bound of the logit. greatest[column, part]: the largest lower bound from workgroups i
// with i % kGreatestParts = part. Columns are rows of x; all `columns` are processed, whatever they contain.
struct EstimateConfig {
  uint32_t rows, cols;
  Caps caps;
  uint32_t lanes = 32, rows_per_group = 2, workgroup = 256;
  uint32_t columns = 1;
  uint32_t most_ahead = 16;  // vec4s of codes per lane that are loaded before any is used
  uint32_t rows_per_workgroup() const { return workgroup / lanes * rows_per_group; }
  uint32_t n_workgroups() const { return ceil_div(rows, rows_per_workgroup()); }
  bool operator==(const EstimateConfig&) const = default;
};
// Limits the lanes to the vec4s of codes in a row, with the same number of rows per workgroup.
EstimateConfig fit(EstimateConfig c);
using EstimateKernel = wgsl::Kernel<wgsl::In<"codes", HeadCodes>, wgsl::In<"errors", HeadErrors>,
                                    wgsl::In<"parts", HeadCodes>, wgsl::In<"bounds", HeadErrors>,
                                    wgsl::Out<"upper", wgsl::F32>, wgsl::InOut<"greatest", wgsl::Atomic<wgsl::U32>>,
                                    wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
// Grid: at least n_workgroups() along x and y.
EstimateKernel estimate_logits(const EstimateConfig& c);

// Computes the n_best largest logits, those equal to the smallest of them, and a few more. All others are −∞.
struct BestLogitsConfig {
  FloatLinearConfig linear;  // for float_linear, with one row per group; neither staged nor int8_x
  uint32_t n_best;           // at most the invocations of a workgroup
  bool operator==(const BestLogitsConfig&) const = default;
};
using BestLogitsKernel = wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, FloatX, FloatGain,
                                      wgsl::In<"upper", wgsl::F32>, wgsl::In<"greatest", wgsl::U32>,
                                      wgsl::Out<"y", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y: bits of f32. Grid: [⌈rows / linear.workgroup⌉, rows of x].
BestLogitsKernel best_logits(const BestLogitsConfig& c);

// For a single row of x: only the largest logit of each workgroup's rows, as input of argmax_embed (argmax.h).
using GreatestLogitKernel =
    wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, FloatX, FloatGain,
                 wgsl::In<"upper", wgsl::F32>, wgsl::In<"greatest", wgsl::U32>, wgsl::Out<"values", wgsl::F32>,
                 wgsl::Out<"indices", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// n_best: 1. Grid: [⌈rows / linear.workgroup⌉].
GreatestLogitKernel greatest_logit(const BestLogitsConfig& c);

}  // namespace tern::gpu
