#include "plan/expand.h"

namespace tern {
namespace {

std::vector<StepBody> steps_of(const step::TernaryQkv& s) {
  return {step::TernaryLinear{s.in, s.wq, s.q},
          step::TernaryLinear{s.in, s.wk, s.k},
          step::TernaryLinear{s.in, s.wv, s.v},
          step::Rope{s.q, s.n_heads, s.head_dim, s.theta, s.pairs},
          step::Rope{s.k, s.n_kv_heads, s.head_dim, s.theta, s.pairs},
          step::KvAppend{s.k, s.v, s.layer}};
}

}  // namespace

ExpandedPlan expand(const Plan& original) {
  ExpandedPlan expanded{.plan = original, .completes = {}};
  expanded.plan.steps.clear();
  for (const Step& step : original.steps) {
    std::vector<StepBody> bodies = {step.body};
    if (const auto* qkv = std::get_if<step::TernaryQkv>(&step.body)) bodies = steps_of(*qkv);
    for (const StepBody& body : bodies) {
      expanded.plan.steps.push_back({step.name, body});
      expanded.completes.push_back(nullptr);
    }
    expanded.completes.back() = &step;
  }
  return expanded;
}

}  // namespace tern
