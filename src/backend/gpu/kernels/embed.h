// Rows of the embedding table.
#pragma once

#include "backend/gpu/kernels/common.h"
#include "backend/gpu/kernels/packed_weights.h"

namespace tern::gpu {

struct EmbedConfig {
  uint32_t width;  // a multiple of the coding's unit
  WeightCoding coding;
  float scale = 1;  // multiplies the rows
  bool operator==(const EmbedConfig&) const = default;
};

// The rows of a matrix that a binding holds: `first` … first + count − 1. A matrix larger than the maximum binding size
// is bound in parts, with one dispatch each.
using RowRange = wgsl::Uniform<"range", wgsl::Field<"first", wgsl::U32>, wgsl::Field<"count", wgsl::U32>,
                               wgsl::Field<"unused_a", wgsl::U32>, wgsl::Field<"unused_b", wgsl::U32>>;

using EmbedKernel =
    wgsl::Kernel<wgsl::In<"tokens", wgsl::U32>, wgsl::In<"table", WeightUnits>, wgsl::In<"scales", wgsl::U32>, RowRange,
                 wgsl::Out<"y", wgsl::Vec4<wgsl::F32>>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Writes the rows of tokens inside the range and leaves the others unchanged. Grid: [1, n_tokens].
EmbedKernel embed(const EmbedConfig& c);

// For use in a kernel, by all invocations of a workgroup: y[first_quad …] = row `row` of the table.
void embed_row(const EmbedConfig& c, const wgsl::In<"table", WeightUnits>& table,
               const wgsl::In<"scales", wgsl::U32>& scales, const wgsl::Name<wgsl::U32>& row,
               const wgsl::Out<"y", wgsl::Vec4<wgsl::F32>>& y, const wgsl::Name<wgsl::U32>& first_quad,
               const wgsl::LocalIndex& tid, uint32_t workgroup);

}  // namespace tern::gpu
