// The way back from steps that only devices fuse, for backends without kernels for them.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace tern {

struct ExpandedPlan {
  Plan plan;  // the same slots and buffers, no ternary_qkv
  // [plan.steps]: the step of the original that is complete after this one; null inside an expansion.
  std::vector<const Step*> completes;
};

// Every ternary_qkv as the six steps that it replaced, which compute the same bits. `original` must outlive the result.
ExpandedPlan expand(const Plan& original);

}  // namespace tern
