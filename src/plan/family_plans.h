// One function per family, each the model's forward pass as a list of steps.
#pragma once

#include "plan/plan.h"

namespace tern {

Plan make_bitnet_plan(const Config& config, const Weights& weights, const PlanOptions& options);
Plan make_llama_plan(const Config& config, const Weights& weights, const PlanOptions& options);
Plan make_qwen3_plan(const Config& config, const Weights& weights, const PlanOptions& options);

}  // namespace tern
