// Fusion as rewrites of the step list. Every rewrite computes the same numbers, so a plan with and without them can be
// compared bit for bit.
#pragma once

#include "plan/plan.h"

namespace tern {

//   rms_norm, quantize                          → rms_norm_quantize
//   ternary_linear, add                         → ternary_linear_add, and so for float_linear
//   ternary_linear, ternary_linear, glu_mul     → ternary_glu, and so for float_linear
//   ternary_linear ×3, rope ×2, kv_append       → ternary_qkv, and so for float_linear, head norms included
//   step that writes x, rms_norm_quantize, step that reads it → the first leaves what the norm has to know of x, the
//   last
//     norms and quantises x itself
//   float_qkv, attention                        → the latter norms and turns heads and appends them to the cache
//   rms_norm, float step that reads it          → the step, which norms what it reads
// each only where it is wanted and nothing else reads the slots between.
//
// With `int8_blocks` every row that a float linear layer with packed weights reads is quantised first, once; with
// `int8_on_read` the layer may do so itself. That changes the numbers, within the bound of docs/numerics.md.
void fuse(Plan& plan, const Fusions& wanted);

}  // namespace tern
