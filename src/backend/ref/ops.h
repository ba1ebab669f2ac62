// The reference: plain loops with double accumulation, one op per file. Written for clarity and correctness, not for
// speed; every other backend is tested against it. Arguments and shapes: backend/ops.h.
#pragma once

#include "backend/ops.h"

namespace tern::ref {

#define TERN_DECLARE_OP(Op, function) void function(const ops::Op& op);
TERN_OPS(TERN_DECLARE_OP)
#undef TERN_DECLARE_OP
void attention(const ops::Attention& op);

}  // namespace tern::ref
