// Undoes the fusions that only devices use, for backends without kernels for the fused steps.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace tern {

struct ExpandedPlan {
  Plan plan;  // the same slots and buffers; no steps that hosts do not have, no norm or heads inside a step
  // [plan.steps]: the step of the original that is complete after this one; null inside an expansion.
  std::vector<const Step*> completes;
};

// Replaces every step that hosts do not have, and norm or heads (step::FloatHeads) inside another step, by the steps
// that they were fused from. The results are the same bits. `original` must outlive the result.
ExpandedPlan expand(const Plan& original);

}  // namespace tern
