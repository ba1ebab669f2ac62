// A batch in the form that the kernels read.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "backend/gpu/device/device.h"
#include "backend/gpu/memory/batch/run_shape.h"
#include "backend/gpu/memory/gpu_kv_store.h"
#include "backend/gpu/memory/rope_tables.h"
#include "backend/gpu/memory/work_buffers.h"

namespace tern::gpu {

// RunShape::slice_tokens_estimate of the batch.
int slice_tokens_estimate(Batch batch);
// RunShape::n_best of the batch: the largest n_best among its slices with logits; 0 if one of them wants all logits.
int n_best(Batch batch);

struct BatchWords {
  std::vector<uint32_t> params;  // in the layout of kernels/common.h
  std::vector<TokenId> tokens;
  std::vector<uint32_t> sequences;  // in the layout of kernels/delta.h; see set_sequences()
  RunShape shape;

  // Sets params, tokens and shape. Block tables cover n_more positions after each slice, for the tokens that decoding
  // adds.
  void set(Batch batch, const RopeTables& ropes, int n_more = 0);
  // Sets `sequences`, which only models with recurrent layers need. `moves`: new states go to the states' other places.
  void set_sequences(Batch batch, const GpuKvStore& store, bool moves);
  // Writes params and tokens to the work buffers.
  Result<void> write(Device& device, const WorkBuffers& work) const;
};

}  // namespace tern::gpu
