// The most probable token, found and fed back on the device.
#pragma once

#include "backend/gpu/kernels/common.h"

namespace tern::gpu {

struct ArgmaxConfig {
  uint32_t n;           // logits
  uint32_t parts = 64;  // workgroups of the first stage
  uint32_t ring = 64;   // entries of `ids`
  uint32_t workgroup = 256;
  // Every invocation has a part to itself, and one looks through the parts: slower on a GPU, but without barriers.
  bool serial = false;
  uint32_t workgroups() const { return serial ? parts / workgroup : parts; }  // of the first stage
};

// The greatest of each part of the logits: value and index. NaN is never greatest; of equals the lowest index is.
// Grid: [workgroups()].
using ArgmaxPartsKernel = wgsl::Kernel<wgsl::In<"logits", wgsl::F32>, wgsl::Out<"values", wgsl::F32>,
                                       wgsl::Out<"indices", wgsl::U32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
ArgmaxPartsKernel argmax_parts(const ArgmaxConfig& c);

// The greatest of the parts becomes tokens[0] and ids[step % ring], and the run moves on: pos + 1, step + 1.
// Grid: [1].
using ArgmaxNextKernel =
    wgsl::Kernel<wgsl::In<"values", wgsl::F32>, wgsl::In<"indices", wgsl::U32>, wgsl::Out<"tokens", wgsl::U32>,
                 wgsl::Out<"ids", wgsl::U32>, wgsl::InOut<"params", wgsl::U32>, wgsl::LocalIndex>;
ArgmaxNextKernel argmax_next(const ArgmaxConfig& c);

}  // namespace tern::gpu
