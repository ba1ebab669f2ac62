// Which device is cheapest for a job, and where that changes.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/format_text.h"
#include "tern/routing.h"

namespace tern {
namespace {

std::string amount(double value, std::string_view unit) {
  if (value >= 100) return format_text("{:.0f} {}", value, unit);
  if (value >= 1) return format_text("{:.1f} {}", value, unit);
  if (value >= 0.001) return format_text("{:.0f} m{}", value * 1e3, unit);
  return format_text("{:.0f} µ{}", value * 1e6, unit);
}

std::string_view short_name(const CostCurve& curve) { return backend_name(curve.backend); }

std::string job_text(const ExpectedJob& job) {
  std::string text = format_text("{} + {} tokens", job.n_prompt, job.n_generate);
  if (job.n_parallel > 1) text += format_text(", {} at a time", job.n_parallel);
  if (job.counts_setup) text += ", loading included";
  return text;
}

std::string reason(std::span<const CostCurve> curves, std::span<const JobCost> costs, size_t chosen,
                   const ExpectedJob& job, bool by_energy) {
  const auto cost = [&](size_t i) {
    return by_energy ? amount(*costs[i].total.joules, "J") : amount(costs[i].total.seconds, "s");
  };
  std::string text = format_text("{} takes {} for {}", short_name(curves[chosen]), cost(chosen), job_text(job));
  for (size_t i = 0; i < curves.size(); ++i) {
    if (i != chosen) text += format_text(", {} {}", short_name(curves[i]), cost(i));
  }
  return text;
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
  }
  CHECK(false);
}

DeviceChoice choose_device(std::span<const CostCurve> curves, const ExpectedJob& job, Prefer prefer) {
  CHECK(!curves.empty());
  std::vector<JobCost> costs;
  for (const CostCurve& curve : curves) costs.push_back(predict(curve, job));
  const bool all_known = std::ranges::all_of(costs, [](const JobCost& cost) { return cost.total.joules.has_value(); });
  const bool by_energy = prefer == Prefer::kEnergy && all_known;
  const auto cheapest = std::ranges::min_element(
      costs, {}, [&](const JobCost& cost) { return by_energy ? *cost.total.joules : cost.total.seconds; });
  const auto chosen = static_cast<size_t>(cheapest - costs.begin());
  DeviceChoice choice{.index = chosen, .reason = reason(curves, costs, chosen, job, by_energy)};
  if (prefer == Prefer::kEnergy && !by_energy) choice.reason += "; by speed, since not all joules are known";
  return choice;
}

std::vector<Crossover> crossovers(std::span<const CostCurve> curves, ExpectedJob job, int ExpectedJob::* varied,
                                  int most, Prefer prefer) {
  constexpr int kLooks = 64;  // lengths at which the choice is looked at; what changes twice in between is not seen
  const auto choice_at = [&](int tokens) {
    job.*varied = tokens;
    return choose_device(curves, job, prefer).index;
  };
  std::vector<Crossover> found;
  int last = 1;
  size_t before = choice_at(last);
  for (int look = 1; look <= kLooks && last < most; ++look) {
    const int at =
        std::max(static_cast<int>(std::lround(std::pow(most, static_cast<double>(look) / kLooks))), last + 1);
    const size_t choice = choice_at(std::min(at, most));
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
