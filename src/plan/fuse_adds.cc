#include <optional>
#include <utility>

#include "plan/fuse_rules.h"

namespace tern {

// A bias is added by the step right after its product.
void fuse_biases(Plan& plan) {
  std::vector<Step> fused;
  for (Step& step : plan.steps) {
    const auto* add = std::get_if<step::AddBias>(&step.body);
    auto* linear = add && !fused.empty() ? std::get_if<step::FloatLinear>(&fused.back().body) : nullptr;
    if (linear && linear->out == add->x && !linear->bias) {
      linear->bias = add->bias;
    } else {
      fused.push_back(std::move(step));
    }
  }
  plan.steps = std::move(fused);
}

namespace {

// What steps[0] is with the sum after it; none if that is no sum of its result, or another step reads the result too.
std::optional<StepBody> with_add(Steps steps) {
  const auto* add = as<step::Add>(steps, 1);
  if (!add || !is_dead_after(add->in, steps.subspan(2))) return {};
  if (const auto* norm = as<step::RmsNorm>(steps, 0); norm && norm->out == add->in && norm->in != add->x) {
    return step::RmsNormAdd{*norm, add->x, add->scale};
  }
  const auto* mix = as<step::MixExperts>(steps, 0);
  if (mix && mix->out == add->in && add->scale == 1) return step::MixExpertsAdd{*mix, add->x};
  return {};
}

}  // namespace

void fuse_adds(Plan& plan) {
  std::vector<Step> fused;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (auto body = with_add(Steps(plan.steps).subspan(i))) {
      fused.push_back({plan.steps[i++].name, std::move(*body)});
    } else {
      fused.push_back(plan.steps[i]);
    }
  }
  plan.steps = std::move(fused);
}

}  // namespace tern
