// Greedy decoding on the device: finds the most probable token of each row of logits and feeds it back.
#pragma once

#include "backend/gpu/kernels/embed.h"

namespace tern::gpu {

struct ArgmaxConfig {
  uint32_t n;           // logits
  uint32_t parts = 64;  // workgroups of the first stage
  uint32_t ring = 64;   // steps whose tokens fit in `ids`
  uint32_t workgroup = 256;
  // Each invocation takes one part, and a single invocation compares the parts. Slower on a GPU, but needs no barriers.
  bool serial = false;
  uint32_t workgroups() const { return serial ? parts / workgroup : parts; }  // of the first stage
};

// logits: [rows, n]. Writes the largest logit of each part of a row, as value and index: [rows, parts]. NaN never wins;
// among equal logits, the lowest index wins. Also starts a step: step + 1.
// Grid: [workgroups(), rows].
using ArgmaxPartsKernel =
    wgsl::Kernel<wgsl::In<"logits", wgsl::F32>, wgsl::Out<"values", wgsl::F32>, wgsl::Out<"indices", wgsl::U32>,
                 wgsl::InOut<"params", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
ArgmaxPartsKernel argmax_parts(const ArgmaxConfig& c);

// The winner of a row's parts becomes tokens[row] and ids[(step − 1) % ring, row], and the row advances: pos + 1. Rows
// of logits are the rows of the batch. Grid: [1, rows].
using ArgmaxNextKernel =
    wgsl::Kernel<wgsl::In<"values", wgsl::F32>, wgsl::In<"indices", wgsl::U32>, wgsl::Out<"tokens", wgsl::U32>,
                 wgsl::Out<"ids", wgsl::U32>, wgsl::InOut<"params", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
ArgmaxNextKernel argmax_next(const ArgmaxConfig& c);

// The same for a single row. Also writes the token's row of the embedding table, which must be a single part, to y.
struct ArgmaxEmbedConfig {
  uint32_t parts;
  bool begins_step = false;  // set if the kernel that made the parts does not start the step
  uint32_t ring = 64;
  uint32_t workgroup = 512;  // a power of two
  EmbedConfig embed;
};
using ArgmaxEmbedKernel =
    wgsl::Kernel<wgsl::In<"values", wgsl::F32>, wgsl::In<"indices", wgsl::U32>, wgsl::Out<"tokens", wgsl::U32>,
                 wgsl::Out<"ids", wgsl::U32>, wgsl::InOut<"params", wgsl::U32>, wgsl::In<"table", WeightUnits>,
                 wgsl::In<"scales", wgsl::U32>, wgsl::Out<"y", wgsl::Vec4<wgsl::F32>>, wgsl::WorkgroupId,
                 wgsl::LocalIndex>;
// Grid: one workgroup.
ArgmaxEmbedKernel argmax_embed(const ArgmaxEmbedConfig& c);

}  // namespace tern::gpu
