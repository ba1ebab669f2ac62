// Costs between measured points; include/tern/routing.h has the rest of the cost model.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "tern/routing.h"

namespace tern {

// Prefill of a whole prompt. Below the first point, the cost is proportional to the number of tokens.
Cost prompt_cost(std::span<const CurvePoint> points, int tokens);

// A decode step with `tokens` tokens in the context. Below the first point the cost is constant; beyond the last it
// never decreases.
Cost step_cost(std::span<const CurvePoint> points, int tokens);

// The same for several replies at a time: linear between the measured numbers of replies. Beyond them the last two are
// extrapolated. Below them, or if only one number was measured, the cost is proportional.
Cost step_cost(std::span<const StepCurve> steps, int replies, int tokens);

// kCorruption: the curve is invalid: no points, tokens that do not ascend, or costs that are negative or not numbers.
// The message says which.
Result<void> check_curve(const CostCurve& curve);

}  // namespace tern
