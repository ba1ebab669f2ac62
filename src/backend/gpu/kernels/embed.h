// Rows of the embedding table.
#pragma once

#include "backend/gpu/kernels/common.h"

namespace tern::gpu {

struct EmbedConfig {
  uint32_t width;
  bool operator==(const EmbedConfig&) const = default;
};

// The rows of the vocabulary that a binding holds: `first` … first + count − 1. Tables greater than a binding may be
// are bound in parts, a dispatch each.
using RowRange = wgsl::Uniform<"range", wgsl::Field<"first", wgsl::U32>, wgsl::Field<"count", wgsl::U32>,
                               wgsl::Field<"unused_a", wgsl::U32>, wgsl::Field<"unused_b", wgsl::U32>>;

// Word: F16x2 or Vec2<F32>, two values. Rows of tokens outside the range are left alone.
// Grid: [1, n_tokens].
template <class Word>
using EmbedKernel = wgsl::Kernel<wgsl::In<"tokens", wgsl::U32>, wgsl::In<"table", Word>, RowRange,
                                 wgsl::Out<"y", wgsl::Vec2<wgsl::F32>>, wgsl::WorkgroupId, wgsl::LocalIndex>;
template <class Word>
EmbedKernel<Word> embed(const EmbedConfig& c);

}  // namespace tern::gpu
