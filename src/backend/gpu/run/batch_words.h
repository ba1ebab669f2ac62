// A batch as the kernels read it.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "backend/gpu/memory/rope_tables.h"
#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/program.h"

namespace tern::gpu {

// RunShape::typical_slice of the batch.
int typical_slice(Batch batch);
// RunShape::n_best of the batch: the most that any of its rows of logits wants; 0 where one wants all.
int n_best(Batch batch);

struct BatchWords {
  std::vector<uint32_t> params;  // as kernels/common.h has them
  std::vector<TokenId> tokens;
  RunShape shape;

  // With tables for n_more positions after each slice, where a decoding loop will go on.
  void set(Batch batch, const RopeTables& ropes, int n_more = 0);
  // Puts params and tokens where the kernels find them.
  Result<void> write(Device& device, const WorkBuffers& work) const;
};

// The most words of `params` that a batch takes.
uint64_t most_batch_words(const Config& config, int max_batch, int max_logit_rows, int max_slices);

}  // namespace tern::gpu
