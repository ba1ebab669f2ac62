// Linear layers with packed weights on int8 blocks of activations: float_linear and float_glu use them if their input
// is `blocks`. Weights: all block formats except I2_S and those in base 3 or smaller.
#pragma once

#include "backend/cpu/ops/work_queue.h"
#include "backend/ops.h"

namespace tern::cpu {

inline constexpr int kBlockPassRows = 16;  // rows that a worker computes at a time, for all tokens

// Floats of scratch memory for a matrix of `cols` columns and up to n tokens. block_glu needs it once if both matrices
// have the same format, otherwise twice.
size_t block_scratch(int cols, int n);
// Values of a row that this processor's kernels for the file's order multiply at a time; 0: there is none.
int file_group(Format format);

void block_linear(const ops::FloatLinear& op, WorkQueue& queue);
void block_glu(const ops::FloatGlu& op, WorkQueue& queue);
void block_expert_linear(const ops::ExpertLinear& op, WorkQueue& queue);
void block_expert_glu(const ops::ExpertGlu& op, WorkQueue& queue);

}  // namespace tern::cpu
