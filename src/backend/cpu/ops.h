// The CPU's ops: every worker of the pool calls the same op with its own Share. Arguments and shapes: backend/ops.h.
// Files have the same names as those of the reference (backend/ref), which defines what each op computes.
#pragma once

#include "backend/cpu/share.h"
#include "backend/ops.h"

namespace tern::cpu {

void embed(const ops::Embed& op, Share& share);
void copy(const ops::Copy& op, Share& share);
void rms_norm(const ops::RmsNorm& op, Share& share);
void quantize(const ops::Quantize& op, Share& share);
void rms_norm_quantize(const ops::RmsNormQuantize& op, Share& share);  // scratch: width floats
// I2_S weights, or TQ1_0 rearranged (base3.h); a GLU's two alike. Scratch: ternary_scratch(cols) floats.
void ternary_linear(const ops::TernaryLinear& op, Share& share);
void ternary_glu(const ops::TernaryGlu& op, Share& share);
size_t ternary_scratch(int cols);
void quantize_blocks(const ops::QuantizeBlocks& op, Share& share);
void float_linear(const ops::FloatLinear& op, Share& share);  // scratch: cols floats
void float_glu(const ops::FloatGlu& op, Share& share);  // on int8 blocks both need block_scratch() (block_linear.h)
// One result of float_linear, bit for bit. F16, BF16 or F32 weights in memory, float input.
float float_row(const Tensor& w, int row, const float* x);
void rope(const ops::Rope& op, Share& share);
void kv_append(const ops::KvAppend& op, Share& share);
inline constexpr int kAttentionTokens = 4;               // computed together
void attention(const ops::Attention& op, Share& share);  // scratch: kAttentionTokens · (first_pos + n) floats
void glu_mul(const ops::GluMul& op, Share& share);
void add(const ops::Add& op, Share& share);
void add_bias(const ops::AddBias& op, Share& share);
void softcap(const ops::Softcap& op, Share& share);

}  // namespace tern::cpu
