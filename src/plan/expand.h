// The way back from steps that only devices fuse, for backends without kernels for them.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace tern {

struct ExpandedPlan {
  Plan plan;  // the same slots and buffers, no ternary_qkv or float_qkv, and no norm inside another step
  // [plan.steps]: the step of the original that is complete after this one; null inside an expansion.
  std::vector<const Step*> completes;
};

// Every ternary_qkv, float_qkv and norm inside another step as the steps that they replaced, which compute the same
// bits. `original` must outlive the result.
ExpandedPlan expand(const Plan& original);

}  // namespace tern
