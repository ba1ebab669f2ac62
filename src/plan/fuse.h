// Fusion rewrites the step list. On hosts a rewrite changes no bit, so fused and unfused plans with the same int8
// blocks can be compared bit for bit. A GPU's kernel may round a fused norm differently (docs/numerics.md).
#pragma once

#include "plan/plan.h"

namespace tern {

//   rms_norm, quantize                          → rms_norm_quantize
//   ternary_linear, add                         → ternary_linear_add (also for float_linear)
//   ternary_linear, ternary_linear, glu_mul     → ternary_glu (also for float_linear)
//   ternary_linear ×3, rope ×2, kv_append       → ternary_qkv (also for float_linear, with the head norms)
//   float_linear, add_bias                      → float_linear, and all that it is fused into except float_glu
//   rms_norm, add                               → rms_norm_add (also for mix_experts)
//   writer of x, rms_norm_quantize, reader      → the writer leaves statistics of x; the reader norms and quantizes it
//   float_qkv, attention                        → attention norms and rotates the heads and appends them to the cache
//   float_linear ×4 of a recurrent layer        → float_stack, one for each input and format
//   causal_conv, delta_rule, gated_norm         → gated_delta
//   rms_norm, float steps, rotations, experts   → these norm their input themselves
// Each rewrite happens only if it is requested and nothing else reads the slots between.
//
// With `int8_blocks` every row that a float linear layer with packed weights (those of a block format) reads is
// quantized once, in a step of its own. With `int8_on_read` the layer may quantize its input itself. Both change the
// numbers, within the bound of docs/numerics.md.
void fuse(Plan& plan, const Fusions& wanted);

}  // namespace tern
