// The reference: plain loops with double accumulation, one op per file. Written for clarity and correctness, not for
// speed; every other backend is tested against it. Arguments and shapes: backend/ops.h.
#pragma once

#include "backend/ops.h"

namespace tern::ref {

void embed(const ops::Embed& op);
void select_rows(const ops::SelectRows& op);
void rms_norm(const ops::RmsNorm& op);
void quantize(const ops::Quantize& op);
void rms_norm_quantize(const ops::RmsNormQuantize& op);
void ternary_linear(const ops::TernaryLinear& op);
void ternary_glu(const ops::TernaryGlu& op);
void quantize_blocks(const ops::QuantizeBlocks& op);
void float_linear(const ops::FloatLinear& op);
void float_glu(const ops::FloatGlu& op);
void rope(const ops::Rope& op);
void kv_append(const ops::KvAppend& op);
void attention(const ops::Attention& op);
void glu_mul(const ops::GluMul& op);
void add(const ops::Add& op);
void add_bias(const ops::AddBias& op);
void softcap(const ops::Softcap& op);

}  // namespace tern::ref
