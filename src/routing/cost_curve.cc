#include "routing/cost_curve.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tern {
namespace {

// a + (b − a)·t; with joules only if both have them.
Cost between(const Cost& a, const Cost& b, double t) {
  Cost cost{.seconds = std::lerp(a.seconds, b.seconds, t)};
  if (a.joules && b.joules) cost.joules = std::lerp(*a.joules, *b.joules, t);
  return cost;
}

Cost times(const Cost& cost, double factor) {
  Cost product{.seconds = cost.seconds * factor};
  if (cost.joules) product.joules = *cost.joules * factor;
  return product;
}

Cost sum(const Cost& a, const Cost& b) {
  Cost total{.seconds = a.seconds + b.seconds};
  if (a.joules && b.joules) total.joules = *a.joules + *b.joules;
  return total;
}

// Beyond the measured points, noise must not make a longer job cheaper.
Cost no_less(const Cost& cost, const Cost& least) {
  Cost bounded{.seconds = std::max(cost.seconds, least.seconds)};
  if (cost.joules && least.joules) bounded.joules = std::max(*cost.joules, *least.joules);
  return bounded;
}

// Linear between the two points around `tokens`, or through the last two points.
Cost on_line(std::span<const CurvePoint> points, int tokens) {
  const auto above = std::ranges::lower_bound(points, tokens, {}, &CurvePoint::tokens);
  const size_t next = std::clamp<size_t>(static_cast<size_t>(above - points.begin()), 1, points.size() - 1);
  const CurvePoint& a = points[next - 1];
  const CurvePoint& b = points[next];
  const Cost cost = between(a.cost, b.cost, static_cast<double>(tokens - a.tokens) / (b.tokens - a.tokens));
  return tokens > b.tokens ? no_less(cost, b.cost) : cost;
}

Result<void> check_cost(const Cost& cost) {
  const auto is_right = [](double value) { return std::isfinite(value) && value >= 0; };
  if (is_right(cost.seconds) && is_right(cost.joules.value_or(0))) return {};
  return fail(ErrorCode::kCorruption, "a cost is {} s and {} J", cost.seconds, cost.joules.value_or(0));
}

Result<void> check_points(std::span<const CurvePoint> points, int least) {
  if (points.empty()) return fail(ErrorCode::kCorruption, "a curve has no points");
  int before = least - 1;
  for (const CurvePoint& point : points) {
    if (point.tokens <= before) return fail(ErrorCode::kCorruption, "{} tokens after {}", point.tokens, before);
    TRY_STATUS(check_cost(point.cost));
    before = point.tokens;
  }
  return {};
}

}  // namespace

Cost prompt_cost(std::span<const CurvePoint> points, int tokens) {
  CHECK(!points.empty());
  const CurvePoint& first = points.front();
  if (tokens <= first.tokens || points.size() == 1) {
    return times(first.cost, static_cast<double>(tokens) / first.tokens);
  }
  return on_line(points, tokens);
}

Cost step_cost(std::span<const CurvePoint> points, int tokens) {
  CHECK(!points.empty());
  if (tokens <= points.front().tokens || points.size() == 1) return points.front().cost;
  return on_line(points, tokens);
}

Cost step_cost(std::span<const StepCurve> steps, int replies, int tokens) {
  CHECK(!steps.empty());
  const auto above = std::ranges::lower_bound(steps, replies, {}, &StepCurve::replies);
  if (above != steps.end() && above->replies == replies) return step_cost(above->points, tokens);
  if (above == steps.begin() || steps.size() == 1) {
    const StepCurve& only = steps.front();
    return times(step_cost(only.points, tokens), static_cast<double>(replies) / only.replies);
  }
  const auto b = above == steps.end() ? above - 1 : above, a = b - 1;
  const Cost fewer = step_cost(a->points, tokens), more = step_cost(b->points, tokens);
  const Cost cost = between(fewer, more, static_cast<double>(replies - a->replies) / (b->replies - a->replies));
  return replies > b->replies ? no_less(cost, more) : cost;
}

JobCost predict(const CostCurve& curve, const ExpectedJob& job) {
  JobCost cost{.setup = curve.setup,
               .prompt = times(prompt_cost(curve.prompt, std::max(job.n_prompt, 1)), job.n_parallel),
               .moving = {},
               .decode = {},
               .total = {}};
  if (cost.prompt.joules) cost.decode.joules = 0;
  for (int i = 0; i + 1 < job.n_generate; ++i) {
    cost.decode = sum(cost.decode, step_cost(curve.steps, job.n_parallel, job.n_prompt + i));
  }
  cost.total = sum(cost.prompt, cost.decode);
  if (job.counts_setup) cost.total = sum(cost.total, cost.setup);
  return cost;
}

JobCost predict(std::span<const CostCurve> curves, const Route& route, const ExpectedJob& job) {
  const CostCurve& reader = curves[route.reads];
  const CostCurve& writer = curves[route.writes];
  JobCost cost = predict(reader, job);
  if (!route.is_split()) return cost;
  const JobCost written = predict(writer, job);
  cost.setup = sum(reader.setup, writer.setup);
  const int n_moved = (job.n_prompt + kMovedTogether - 1) / kMovedTogether * kMovedTogether;
  cost.moving.seconds = (reader.kv_out_seconds + writer.kv_in_seconds) * n_moved * job.n_parallel;
  if (cost.prompt.joules && written.decode.joules) cost.moving.joules = 0;
  cost.decode = written.decode;
  cost.total = sum(sum(cost.prompt, cost.moving), cost.decode);
  if (job.counts_setup) cost.total = sum(cost.total, cost.setup);
  return cost;
}

Result<void> check_curve(const CostCurve& curve) {
  TRY_STATUS(check_cost(curve.setup));
  TRY_STATUS(check_cost({.seconds = curve.kv_out_seconds}));
  TRY_STATUS(check_cost({.seconds = curve.kv_in_seconds}));
  TRY_STATUS(check_points(curve.prompt, 1));
  if (curve.steps.empty()) return fail(ErrorCode::kCorruption, "there is no curve of steps");
  int before = 0;
  for (const StepCurve& steps : curve.steps) {
    if (steps.replies <= before) return fail(ErrorCode::kCorruption, "{} replies after {}", steps.replies, before);
    TRY_STATUS(check_points(steps.points, 0));
    before = steps.replies;
  }
  return {};
}

}  // namespace tern
