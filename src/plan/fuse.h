// Fusion as rewrites of the step list. Every rewrite computes the same numbers, so a plan with and without them can be
// compared bit for bit.
#pragma once

#include "plan/plan.h"

namespace tern {

//   rms_norm, quantize                          → rms_norm_quantize
//   ternary_linear, add                         → ternary_linear_add
//   ternary_linear, ternary_linear, relu2_mul   → ternary_glu
//   ternary_linear ×3, rope ×2, kv_append       → ternary_qkv
//   step that writes x, rms_norm_quantize, step that reads it → the first leaves what the norm has to know of x, the
//   last
//     norms and quantises x itself
// each only where it is wanted and nothing else reads the slots between.
void fuse(Plan& plan, const Fusions& wanted);

}  // namespace tern
