// Ternary weights in other layouts than I2_S, brought into it when the model is loaded.
#pragma once

#include <deque>

#include "base/result.h"
#include "plan/plan.h"

namespace tern {

struct Repacked {
  Tensor tensor;
  std::vector<std::byte> bytes;
};

// Replaces every TQ1_0 and TQ2_0 matrix of a ternary step by an I2_S one. I2_S has one scale per tensor, so all blocks
// of a matrix must have the same (or be all zero), which holds for every file made from a BitNet checkpoint; otherwise
// kNotSupported. Returns what the plan's steps then point to.
Result<std::deque<Repacked>> repack_ternary(Plan& plan);

}  // namespace tern
