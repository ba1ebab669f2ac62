// The ops of the CPU backend. Every worker of the pool calls the same op with its own WorkQueue. backend/ops.h has the
// arguments and shapes. The files have the same names as in backend/ref, the reference that defines what each op
// computes.
#pragma once

#include "backend/cpu/ops/work_queue.h"
#include "backend/ops.h"

namespace tern::cpu {

void embed(const ops::Embed& op, WorkQueue& queue);
void select_rows(const ops::SelectRows& op, WorkQueue& queue);
void rms_norm(const ops::RmsNorm& op, WorkQueue& queue);
void quantize(const ops::Quantize& op, WorkQueue& queue);
void rms_norm_quantize(const ops::RmsNormQuantize& op, WorkQueue& queue);  // scratch: width floats
// I2_S weights, or rearranged TQ1_0 (base3.h); a GLU needs the same format for both. Scratch: ternary_scratch(cols)
// floats.
void ternary_linear(const ops::TernaryLinear& op, WorkQueue& queue);
void ternary_glu(const ops::TernaryGlu& op, WorkQueue& queue);
size_t ternary_scratch(int cols);
void quantize_blocks(const ops::QuantizeBlocks& op, WorkQueue& queue);
void float_linear(const ops::FloatLinear& op, WorkQueue& queue);  // scratch: cols floats
void float_glu(const ops::FloatGlu& op, WorkQueue& queue);  // on int8 blocks both need block_scratch() (block_linear.h)
// One result of float_linear, bit for bit. Needs F16, BF16 or F32 weights in memory and float input.
float float_row(const Tensor& w, int row, const float* x);
void rope(const ops::Rope& op, WorkQueue& queue);
void kv_append(const ops::KvAppend& op, WorkQueue& queue);
// Scratch: attention_scratch(head_dim) floats. `parts` must have room for the rows if each belongs to another sequence.
class AttentionParts;
void attention(const ops::Attention& op, AttentionParts& parts, WorkQueue& queue);
size_t attention_scratch(int head_dim);
void glu_mul(const ops::GluMul& op, WorkQueue& queue);
void add(const ops::Add& op, WorkQueue& queue);
void add_bias(const ops::AddBias& op, WorkQueue& queue);
void softcap(const ops::Softcap& op, WorkQueue& queue);

}  // namespace tern::cpu
