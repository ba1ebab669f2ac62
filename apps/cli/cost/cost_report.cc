#include "cli/cost/cost_report.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/terminal/layout.h"

namespace tern::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kRowNameWidth = 22, kDeviceWidth = 22;
constexpr int kLengths[] = {16, 128, 512, 2048, 8192};  // prompt lengths at which curves are shown

Cost divided(Cost cost, double by) {
  cost.seconds /= by;
  if (cost.joules) *cost.joules /= by;
  return cost;
}

class CostPage {
 public:
  CostPage(const CostReport& report, const Style& style) : r_(report), style_(style) {}

  std::string render() {
    text_ = style_.bold(one_line(r_.set.model_name)) + "\n";
    devices();
    curves();
    job();
    choice();
    return std::move(text_);
  }

 private:
  void devices() {
    for (size_t i = 0; i < r_.set.curves.size(); ++i) {
      const CostCurve& curve = r_.set.curves[i];
      text_ +=
          format_text("  {}  {}\n", one_line(curve.device), style_.dim(r_.set.measured[i] ? "measured now" : "kept"));
      text_ += curve.energy_source.empty()
                   ? format_text("    joules are not known: {}\n", one_line(curve.energy_reason))
                   : format_text("    joules from {}\n", one_line(curve.energy_source));
    }
    for (const DeviceLeftOut& left : r_.set.left_out)
      text_ += format_text("  {}  {}: {}\n", one_line(left.device), style_.dim("left out"), one_line(left.reason));
  }

  // Starts a table whose rows have one cell for each of these routes.
  void heading(std::string_view name, std::span<const Route> routes) {
    n_cells_ = routes.size();
    text_ += "\n  " + style_.dim(pad(name, kRowNameWidth));
    for (const Route& route : routes) {
      text_ += style_.dim(pad_left(route_name(r_.set.curves, route), kDeviceWidth));
    }
    text_ += "\n";
  }
  void heading(std::string_view name) { heading(name, std::span(routes_).first(r_.set.curves.size())); }

  void row(const std::string& name, const std::function<std::string(size_t)>& cell) {
    text_ += "  " + pad(name, kRowNameWidth);
    for (size_t i = 0; i < n_cells_; ++i) text_ += pad_left(cell(i), kDeviceWidth);
    text_ += "\n";
  }

  // The cost of one token of a job of these lengths.
  void curves() {
    const auto& curves = r_.set.curves;
    heading("a token of a prompt");
    for (const int n : kLengths) {
      if (n > r_.set.n_ctx) break;
      row(format_text("of {} tokens", n),
          [&](size_t i) { return cost_text(divided(predict(curves[i], {.n_prompt = n, .n_generate = 1}).prompt, n)); });
    }
    heading("a token written");
    for (const int n : kLengths) {
      if (n > r_.set.n_ctx) break;
      row(format_text("after {} tokens", n),
          [&](size_t i) { return cost_text(predict(curves[i], {.n_prompt = n, .n_generate = 2}).decode); });
    }
    for (const int replies : {4, 16}) {
      constexpr int kBefore = 128;
      if (kBefore > r_.set.n_ctx) break;
      row(format_text("{} at a time", replies), [&](size_t i) {
        const ExpectedJob two{.n_prompt = kBefore, .n_generate = 2, .n_parallel = replies};
        return cost_text(divided(predict(curves[i], two).decode, replies));
      });
    }
  }

  void job() {
    const ExpectedJob& job = r_.job;
    std::vector<JobCost> costs;
    for (const Route& route : routes_) costs.push_back(predict(r_.set.curves, route, job));
    const std::string times = job.n_parallel > 1 ? format_text(", {} times", job.n_parallel) : "";
    heading(format_text("{} + {} tokens{}", job.n_prompt, job.n_generate, times), routes_);
    const std::pair<const char*, Cost JobCost::*> parts[] = {{"loading", &JobCost::setup},
                                                             {"reading", &JobCost::prompt},
                                                             {"moving", &JobCost::moving},
                                                             {"writing", &JobCost::decode},
                                                             {"in all", &JobCost::total}};
    for (const auto& [name, part] : parts) {
      if (part == &JobCost::setup && !job.counts_setup) continue;
      if (part == &JobCost::moving && routes_.size() == r_.set.curves.size()) continue;
      row(name, [&](size_t i) {
        return part == &JobCost::moving && !routes_[i].is_split() ? "-" : cost_text(costs[i].*part);
      });
      if (r_.measured.empty() || part == &JobCost::moving) continue;
      row("  measured", [&](size_t i) {
        return r_.measured[i] ? seconds_text(((*r_.measured[i]).*part).seconds) : std::string("-");
      });
      row("  predicted / measured", [&](size_t i) {
        const double measured = r_.measured[i] ? ((*r_.measured[i]).*part).seconds : 0;
        double predicted = (costs[i].*part).seconds;
        if (part == &JobCost::decode) predicted += costs[i].moving.seconds;  // the measured time includes the move
        return measured > 0 ? human_number(predicted / measured) : std::string("-");
      });
    }
  }

  void choice() {
    const auto& curves = r_.set.curves;
    const RouteChoice choice = choose_route(curves, r_.job, r_.prefer);
    text_ += format_text("\n  {} {}\n", style_.bold("choice"), choice.reason);
    if (curves.size() < 2) return;
    crossover("prompt", &ExpectedJob::n_prompt, r_.set.n_ctx - r_.job.n_generate);
    crossover("generated", &ExpectedJob::n_generate, r_.set.n_ctx - r_.job.n_prompt);
  }

  void crossover(std::string_view what, int ExpectedJob::* varied, int most) {
    const auto& curves = r_.set.curves;
    const auto found = crossovers(curves, r_.job, varied, std::max(most, 1), r_.prefer);
    for (const Crossover& change : found) {
      text_ += format_text("  from {} {} tokens on it is {} instead of {}\n", change.tokens, what,
                           route_name(curves, change.to), route_name(curves, change.from));
    }
    if (found.empty()) text_ += format_text("  it is the same for any number of {} tokens\n", what);
  }

  const CostReport& r_;
  const Style& style_;
  const std::vector<Route> routes_ = routes_of(r_);
  size_t n_cells_ = 0;
  std::string text_;
};

OrderedJson points_json(const std::vector<CurvePoint>& points) {
  OrderedJson list = OrderedJson::array();
  for (const CurvePoint& point : points) {
    OrderedJson json = {{"tokens", point.tokens}};
    json.update(cost_json(point.cost));
    list.push_back(std::move(json));
  }
  return list;
}

OrderedJson curve_json(const CostCurve& curve) {
  OrderedJson steps = OrderedJson::array();
  for (const StepCurve& each : curve.steps) {
    steps.push_back({{"replies", each.replies}, {"points", points_json(each.points)}});
  }
  return {{"device", curve.device},
          {"backend", backend_name(curve.backend)},
          {"energy_source", curve.energy_source.empty() ? OrderedJson(nullptr) : OrderedJson(curve.energy_source)},
          {"energy_reason", curve.energy_reason.empty() ? OrderedJson(nullptr) : OrderedJson(curve.energy_reason)},
          {"setup", cost_json(curve.setup)},
          {"prompt", points_json(curve.prompt)},
          {"steps", std::move(steps)},
          {"kv_out_seconds", curve.kv_out_seconds},
          {"kv_in_seconds", curve.kv_in_seconds}};
}

OrderedJson crossovers_json(const CostReport& r, int ExpectedJob::* varied, int most) {
  OrderedJson list = OrderedJson::array();
  for (const Crossover& change : crossovers(r.set.curves, r.job, varied, std::max(most, 1), r.prefer)) {
    list.push_back({{"tokens", change.tokens},
                    {"from", route_name(r.set.curves, change.from)},
                    {"to", route_name(r.set.curves, change.to)}});
  }
  return list;
}

}  // namespace

std::string seconds_text(double seconds) {
  if (seconds >= 1) return human_seconds(seconds);
  if (seconds >= 1e-3) return human_number(seconds * 1e3) + " ms";
  return human_number(seconds * 1e6) + " µs";
}

std::string cost_text(const Cost& cost) {
  std::string text = seconds_text(cost.seconds);
  if (!cost.joules) return text;
  const double joules = *cost.joules;
  return text + ", " +
         (joules >= 0.1 || joules == 0 ? human_number(joules) + " J" : human_number(joules * 1e3) + " mJ");
}

std::string_view prefer_name(Prefer prefer) { return prefer == Prefer::kEnergy ? "energy" : "speed"; }

OrderedJson job_json(const ExpectedJob& job, Prefer prefer) {
  return {{"prompt_tokens", job.n_prompt},
          {"generated_tokens", job.n_generate},
          {"parallel", job.n_parallel},
          {"loading_counts", job.counts_setup},
          {"prefer", prefer_name(prefer)}};
}

OrderedJson cost_json(const Cost& cost) {
  return {{"seconds", cost.seconds}, {"joules", cost.joules ? OrderedJson(*cost.joules) : OrderedJson(nullptr)}};
}

OrderedJson cost_json(const JobCost& cost) {
  return {{"setup", cost_json(cost.setup)},
          {"prompt", cost_json(cost.prompt)},
          {"moving", cost_json(cost.moving)},
          {"decode", cost_json(cost.decode)},
          {"total", cost_json(cost.total)}};
}

std::vector<Route> routes_of(const CostReport& report) {
  std::vector<Route> routes;
  for (size_t i = 0; i < report.set.curves.size(); ++i) routes.push_back({.reads = i, .writes = i});
  if (const auto split = best_split(report.set.curves, report.job, report.prefer)) routes.push_back(*split);
  return routes;
}

std::string cost_page(const CostReport& report, const Style& style) { return CostPage(report, style).render(); }

std::string cost_json(const CostReport& report) {
  const CurveSet& set = report.set;
  const RouteChoice choice = choose_route(set.curves, report.job, report.prefer);
  const std::vector<Route> routes = routes_of(report);
  OrderedJson devices = OrderedJson::array(), left_out = OrderedJson::array();
  for (size_t i = 0; i < set.curves.size(); ++i) {
    OrderedJson device = curve_json(set.curves[i]);
    device["measured_now"] = static_cast<bool>(set.measured[i]);
    device["job"] = cost_json(predict(set.curves[i], report.job));
    if (!report.measured.empty()) device["job_measured"] = cost_json(*report.measured[i]);
    devices.push_back(std::move(device));
  }
  OrderedJson split = nullptr;
  if (routes.size() > set.curves.size()) {
    split = {{"route", route_name(set.curves, routes.back())},
             {"reads", backend_name(set.curves[routes.back().reads].backend)},
             {"writes", backend_name(set.curves[routes.back().writes].backend)},
             {"job", cost_json(predict(set.curves, routes.back(), report.job))}};
    if (!report.measured.empty() && report.measured.back()) {
      split["job_measured"] = cost_json(*report.measured.back());
    }
  }
  for (const DeviceLeftOut& left : set.left_out) left_out.push_back({{"device", left.device}, {"reason", left.reason}});
  const OrderedJson json = {
      {"model", set.model_path},
      {"name", set.model_name},
      {"job", job_json(report.job, report.prefer)},
      {"devices", std::move(devices)},
      {"two_devices", std::move(split)},
      {"left_out", std::move(left_out)},
      {"choice",
       {{"backend", choice.route.is_split() ? "both" : backend_name(set.curves[choice.route.reads].backend)},
        {"device", set.curves[choice.route.reads].device},
        {"writes_on", set.curves[choice.route.writes].device},
        {"reason", choice.reason}}},
      {"crossovers",
       {{"prompt_tokens", crossovers_json(report, &ExpectedJob::n_prompt, set.n_ctx - report.job.n_generate)},
        {"generated_tokens", crossovers_json(report, &ExpectedJob::n_generate, set.n_ctx - report.job.n_prompt)}}}};
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace tern::cli
