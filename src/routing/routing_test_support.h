// Curves with costs that a test can compute by hand.
#pragma once

#include <vector>

#include "tern/routing.h"

namespace tern::routing_test {

struct Slope {
  double setup = 0;
  double prompt_token = 0;   // prefill seconds per token
  double step = 0;           // decode seconds per token with an empty context,
  double context_token = 0;  // … plus this for each token in the context
  double watts = 0;          // 0: no joules
};

inline Cost cost_of(double seconds, const Slope& slope) {
  Cost cost{.seconds = seconds};
  if (slope.watts > 0) cost.joules = seconds * slope.watts;
  return cost;
}

// Linear everywhere, so the choice of measured points does not matter; eight replies at a time take twice as long as
// one.
inline CostCurve linear_curve(BackendKind backend, const Slope& slope) {
  CostCurve curve{.device = std::string(backend_name(backend)) + ": made up",
                  .model = "m",
                  .backend = backend,
                  .setup = cost_of(slope.setup, slope)};
  for (const int n : {1, 64, 512})
    curve.prompt.push_back({.tokens = n, .cost = cost_of(slope.prompt_token * n, slope)});
  for (const int replies : {1, 8}) {
    StepCurve steps{.replies = replies};
    for (const int n : {1, 256, 1024}) {
      const double seconds = slope.step + slope.context_token * n;
      steps.points.push_back({.tokens = n, .cost = cost_of(replies == 1 ? seconds : 2 * seconds, slope)});
    }
    curve.steps.push_back(std::move(steps));
  }
  return curve;
}

}  // namespace tern::routing_test
