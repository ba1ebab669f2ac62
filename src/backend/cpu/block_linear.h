// Linear layers with packed weights on int8 activations in blocks: what float_linear and float_glu do where their input
// is `blocks`. Weights: Q1_0, Q2_0, PQ2_0, Q4_0, Q8_0, Q6_K and TQ2_0.
#pragma once

#include "backend/cpu/work_queue.h"
#include "backend/ops.h"

namespace tern::cpu {

inline constexpr int kBlockPassRows = 16;  // computed at a time by a worker, for all tokens

// Floats of scratch memory that a matrix of `cols` columns needs for up to n tokens; block_glu needs it once where both
// formats agree, else twice.
size_t block_scratch(int cols, int n);

void block_linear(const ops::FloatLinear& op, WorkQueue& queue);
void block_glu(const ops::FloatGlu& op, WorkQueue& queue);

}  // namespace tern::cpu
