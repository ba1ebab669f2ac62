// Finds the cheapest device for a job, and the job sizes at which it changes.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/text/format_text.h"
#include "tern/routing.h"

namespace tern {
namespace {

std::string amount(double value, std::string_view unit) {
  if (value >= 100) return format_text("{:.0f} {}", value, unit);
  if (value >= 1) return format_text("{:.1f} {}", value, unit);
  if (value >= 0.001) return format_text("{:.0f} m{}", value * 1e3, unit);
  return format_text("{:.0f} µ{}", value * 1e6, unit);
}

std::string job_text(const ExpectedJob& job) {
  std::string text = format_text("{} + {} tokens", job.n_prompt, job.n_generate);
  if (job.n_parallel > 1) text += format_text(", {} at a time", job.n_parallel);
  if (job.counts_setup) text += ", loading included";
  return text;
}

double amount_of(const JobCost& cost, bool by_energy) { return by_energy ? *cost.total.joules : cost.total.seconds; }

// costs[i] is the cost of names[i].
std::string reason(std::span<const std::string> names, std::span<const JobCost> costs, size_t chosen,
                   const ExpectedJob& job, Prefer prefer, bool by_energy) {
  const auto cost = [&](size_t i) { return amount(amount_of(costs[i], by_energy), by_energy ? "J" : "s"); };
  std::string text = format_text("{} takes {} for {}", names[chosen], cost(chosen), job_text(job));
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != chosen) text += format_text(", {} {}", names[i], cost(i));
  }
  if (prefer == Prefer::kEnergy && !by_energy) text += "; by speed, since not all joules are known";
  return text;
}

bool is_by_energy(std::span<const CostCurve> curves, const ExpectedJob& job, Prefer prefer) {
  return prefer == Prefer::kEnergy && std::ranges::all_of(curves, [&](const CostCurve& curve) {
           return predict(curve, job).total.joules.has_value();
         });
}

std::vector<Route> split_routes(std::span<const CostCurve> curves) {
  std::vector<Route> routes;
  for (size_t reads = 0; reads < curves.size(); ++reads) {
    for (size_t writes = 0; writes < curves.size(); ++writes) {
      if (reads != writes) routes.push_back({.reads = reads, .writes = writes});
    }
  }
  return routes;
}

std::vector<Route> single_routes(std::span<const CostCurve> curves) {
  std::vector<Route> routes;
  for (size_t i = 0; i < curves.size(); ++i) routes.push_back({.reads = i, .writes = i});
  return routes;
}

Route cheapest(std::span<const CostCurve> curves, std::span<const Route> routes, const ExpectedJob& job,
               bool by_energy) {
  return *std::ranges::min_element(
      routes, {}, [&](const Route& route) { return amount_of(predict(curves, route, job), by_energy); });
}

}  // namespace

std::string_view backend_name(BackendKind kind) {
  switch (kind) {
    case BackendKind::kAuto:
      return "auto";
    case BackendKind::kCpu:
      return "cpu";
    case BackendKind::kWebGpu:
      return "webgpu";
    case BackendKind::kRef:
      return "ref";
    case BackendKind::kBoth:
      return "both";
  }
  CHECK(false);
}

std::string route_name(std::span<const CostCurve> curves, const Route& route) {
  const std::string_view reads = backend_name(curves[route.reads].backend);
  if (!route.is_split()) return std::string(reads);
  return format_text("{}, then {}", reads, backend_name(curves[route.writes].backend));
}

std::optional<Route> best_split(std::span<const CostCurve> curves, const ExpectedJob& job, Prefer prefer) {
  const auto splits = split_routes(curves);
  if (splits.empty()) return std::nullopt;
  return cheapest(curves, splits, job, is_by_energy(curves, job, prefer));
}

RouteChoice choose_route(std::span<const CostCurve> curves, const ExpectedJob& job, Prefer prefer) {
  CHECK(!curves.empty());
  constexpr double kEnough = 0.95;  // relative to the best single device; predictions are no more accurate
  const bool by_energy = is_by_energy(curves, job, prefer);
  std::vector<Route> routes = single_routes(curves);
  Route chosen = cheapest(curves, routes, job, by_energy);
  const auto cost_of = [&](const Route& route) { return amount_of(predict(curves, route, job), by_energy); };
  if (const auto split = best_split(curves, job, prefer); split && cost_of(*split) < kEnough * cost_of(chosen)) {
    routes.push_back(*split);
    chosen = *split;
  }
  std::vector<JobCost> costs;
  std::vector<std::string> names;
  for (const Route& route : routes) {
    costs.push_back(predict(curves, route, job));
    names.push_back(route_name(curves, route));
  }
  const auto at = static_cast<size_t>(std::ranges::find(routes, chosen) - routes.begin());
  return {.route = chosen, .reason = reason(names, costs, at, job, prefer, by_energy)};
}

ManyJobs many_jobs(std::span<const CostCurve> curves, int n_ctx, Prefer prefer) {
  CHECK(!curves.empty());
  constexpr int kPrompts[] = {16, 128, 512, 2048}, kReplies[] = {16, 128, 512};
  std::vector<double> alone(curves.size());
  double n_jobs = 0;
  for (const int n_prompt : kPrompts) {
    for (const int n_generate : kReplies) {
      if (n_jobs > 0 && n_prompt + n_generate > n_ctx) continue;
      const ExpectedJob job{.n_prompt = n_prompt, .n_generate = n_generate};
      const bool by_energy = is_by_energy(curves, job, prefer);
      const auto cost_of = [&](const Route& route) { return amount_of(predict(curves, route, job), by_energy); };
      const double best = std::max(cost_of(choose_route(curves, job, prefer).route), 1e-9);
      for (size_t i = 0; i < curves.size(); ++i) alone[i] += cost_of({.reads = i, .writes = i}) / best;
      n_jobs += 1;
    }
  }
  const auto least = std::ranges::min_element(alone);
  return {.alone = static_cast<size_t>(least - alone.begin()), .factor = *least / n_jobs};
}

std::vector<Crossover> crossovers(std::span<const CostCurve> curves, ExpectedJob job, int ExpectedJob::* varied,
                                  int most, Prefer prefer) {
  constexpr int kLooks = 64;  // number of lengths to check; two changes between neighbors are missed
  const auto choice_at = [&](int tokens) {
    job.*varied = tokens;
    return choose_route(curves, job, prefer).route;
  };
  std::vector<Crossover> found;
  int last = 1;
  Route before = choice_at(last);
  for (int look = 1; look <= kLooks && last < most; ++look) {
    const int at =
        std::max(static_cast<int>(std::lround(std::pow(most, static_cast<double>(look) / kLooks))), last + 1);
    const Route choice = choice_at(std::min(at, most));
    if (choice != before) {
      int same = last, other = std::min(at, most);
      while (other - same > 1) {
        const int middle = same + (other - same) / 2;
        (choice_at(middle) == before ? same : other) = middle;
      }
      found.push_back({.tokens = other, .from = before, .to = choice_at(other)});
    }
    last = std::min(at, most);
    before = choice;
  }
  return found;
}

}  // namespace tern
