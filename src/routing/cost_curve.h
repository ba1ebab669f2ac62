// Costs between measured points; the rest of the model of costs is in include/tern/routing.h.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "tern/routing.h"

namespace tern {

// Of a whole prompt. Below the first point a token costs what it does there.
Cost prompt_cost(std::span<const CurvePoint> points, int tokens);

// Of a step with so many tokens before it. Below the first point as at it; beyond the last it never becomes less.
Cost step_cost(std::span<const CurvePoint> points, int tokens);

// The same for so many replies at a time: linear between the measured numbers. Beyond them, and where only single
// replies were measured, further ones cost as much as those do.
Cost step_cost(std::span<const StepCurve> steps, int replies, int tokens);

// kCorruption, with what is wrong, where a curve is none: no points, tokens that do not ascend, costs that are negative
// or no numbers.
Result<void> check_curve(const CostCurve& curve);

}  // namespace tern
