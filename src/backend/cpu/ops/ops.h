// The ops of the CPU backend. Every worker of the pool calls the same op with its own WorkQueue. backend/ops.h has the
// arguments and shapes. The files have the same names as in backend/ref, the reference that defines what each op
// computes.
#pragma once

#include "backend/cpu/ops/work_queue.h"
#include "backend/ops.h"

namespace tern::cpu {

#define TERN_DECLARE_OP(Op, function) void function(const ops::Op& op, WorkQueue& queue);
TERN_OPS(TERN_DECLARE_OP)
#undef TERN_DECLARE_OP

// The floats of scratch memory that ops need of their WorkQueue: rms_norm_quantize its width, float_linear and
// float_glu their cols. On int8 blocks those two need block_scratch() (block_linear.h).

// ternary_linear and ternary_glu take I2_S weights, or rearranged TQ1_0 (base3.h); a GLU needs the same format for
// both. Their scratch:
size_t ternary_scratch(int cols);
// One result of float_linear, bit for bit. Needs F16, BF16 or F32 weights in memory and float input.
float float_row(const Tensor& w, int row, const float* x);
// Scratch of expert_linear and expert_glu for matrices of `cols` columns and n tokens.
size_t expert_scratch(int cols, int n, const ExpertConfig& experts, bool is_blocks);
// Scratch of delta_rule.
size_t delta_scratch(int head_dim);
// Scratch: attention_scratch(head_dim) floats. `parts` must have room for the rows if each belongs to another sequence.
class AttentionParts;
void attention(const ops::Attention& op, AttentionParts& parts, WorkQueue& queue);
size_t attention_scratch(int head_dim);

}  // namespace tern::cpu
