// tern route: finds the cheapest model and device for a job.
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "cli/commands/commands.h"
#include "cli/cost/cost_flags.h"
#include "cli/cost/cost_report.h"
#include "cli/support/hub_model.h"
#include "cli/terminal/help.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace tern::cli {
namespace {

constexpr const char* kRouteFooter = R"(Examples
  tern route -m bitnet.gguf -m bonsai.gguf -p 512 -n 128
  tern route -m bitnet.gguf -m bonsai.gguf -p 20 -n 400 --loaded --prefer energy -o json

The figures are predictions from the costs that 'tern devices --explain' shows. Missing costs are measured first, which
takes up to 20 s for each model. The quality of the models' answers is not considered.
)";

constexpr size_t kRouteWidth = 16;

// A model on one device or on two.
struct Candidate {
  std::string model;
  std::string path;
  std::vector<CostCurve> curves;  // the model's cost curves, one per device
  Route route;
};

JobCost cost_of(const Candidate& one, const ExpectedJob& job) { return predict(one.curves, one.route, job); }

// Adds the cost of the job on each device, and on two devices where that is better.
void add_candidates(std::vector<Candidate>& all, const CurveSet& set, const ExpectedJob& job, Prefer prefer) {
  const auto add = [&](const Route& route) {
    all.push_back({.model = set.model_name, .path = set.model_path, .curves = set.curves, .route = route});
  };
  for (size_t i = 0; i < set.curves.size(); ++i) add({.reads = i, .writes = i});
  const Route best = choose_route(set.curves, job, prefer).route;
  if (best.is_split()) add(best);
}

struct RouteCommand {
  std::vector<std::string> models;
  CostFlags costs;

  Result<ExitCode> run();
  std::string page(const std::vector<Candidate>& all, const std::vector<DeviceLeftOut>& left_out, size_t chosen) const;
  std::string json(const std::vector<Candidate>& all, const std::vector<DeviceLeftOut>& left_out, size_t chosen) const;
};

std::string RouteCommand::page(const std::vector<Candidate>& all, const std::vector<DeviceLeftOut>& left_out,
                               size_t chosen) const {
  const Style style = Style::of(STDOUT_FILENO);
  size_t width = 5;
  for (const Candidate& one : all) width = std::max(width, display_width(one_line(one.model)));
  std::string text = style.dim(format_text("  {}  {}{}{}{}{}", pad("model", width), pad("device", kRouteWidth),
                                           pad_left("loading", 12), pad_left("reading", 12), pad_left("writing", 12),
                                           pad_left("in all", 22))) +
                     "\n";
  for (size_t i = 0; i < all.size(); ++i) {
    const JobCost cost = cost_of(all[i], costs.job);
    text += format_text("{} {}  {}{}{}{}{}\n", i == chosen ? "*" : " ", pad(one_line(all[i].model), width),
                        pad(route_name(all[i].curves, all[i].route), kRouteWidth),
                        pad_left(costs.job.counts_setup ? seconds_text(cost.setup.seconds) : "-", 12),
                        pad_left(seconds_text(cost.prompt.seconds), 12),
                        pad_left(seconds_text(cost.decode.seconds), 12), pad_left(cost_text(cost.total), 22));
  }
  for (const DeviceLeftOut& left : left_out)
    text += format_text("  {}  {}: {}\n", one_line(left.device), style.dim("left out"), one_line(left.reason));
  const Candidate& best = all[chosen];
  text += format_text("\n  {} {} on {}: {} for {} + {} tokens\n", style.bold("choice"), one_line(best.model),
                      route_name(best.curves, best.route), cost_text(cost_of(best, costs.job).total),
                      costs.job.n_prompt, costs.job.n_generate);
  return text;
}

std::string RouteCommand::json(const std::vector<Candidate>& all, const std::vector<DeviceLeftOut>& left_out,
                               size_t chosen) const {
  using Json = nlohmann::ordered_json;
  const auto place = [](const Candidate& one) -> Json {
    return {{"model", one.path},
            {"name", one.model},
            {"backend", one.route.is_split() ? "both" : backend_name(one.curves[one.route.reads].backend)},
            {"device", one.curves[one.route.reads].device},
            {"writes_on", one.curves[one.route.writes].device}};
  };
  Json candidates = Json::array(), left = Json::array();
  for (const Candidate& one : all) {
    Json json = place(one);
    json.update(cost_json(cost_of(one, costs.job)));
    candidates.push_back(std::move(json));
  }
  for (const DeviceLeftOut& one : left_out) left.push_back({{"device", one.device}, {"reason", one.reason}});
  const Json json = {{"job", job_json(costs.job, costs.prefer)},
                     {"candidates", std::move(candidates)},
                     {"left_out", std::move(left)},
                     {"choice", place(all[chosen])}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ExitCode> RouteCommand::run() {
  std::vector<CurveSet> sets;
  std::vector<DeviceLeftOut> left_out;
  int n_ctx = std::numeric_limits<int>::max();
  for (const std::string& name : models) {
    TRY(const std::string path, path_of_model(name));
    Result<CurveSet> found = costs.curves(path, {}, /*again=*/false);
    if (!found && found.error().code != ErrorCode::kInvalidArgument) return std::unexpected(found.error());
    if (!found) {  // its context is too short
      left_out.push_back({.device = name, .reason = found.error().message});
      continue;
    }
    const CurveSet& set = sets.emplace_back(*std::move(found));
    n_ctx = std::min(n_ctx, set.n_ctx);
    for (const DeviceLeftOut& left : set.left_out) {
      left_out.push_back({.device = set.model_name + " on " + left.device, .reason = left.reason});
    }
  }
  if (sets.empty()) return fail(ErrorCode::kInvalidArgument, "{}", left_out.back().reason);
  costs.job = costs.job_within(n_ctx);
  std::vector<Candidate> all;
  for (const CurveSet& set : sets) add_candidates(all, set, costs.job, costs.prefer);
  const auto has_joules = [&](const Candidate& one) { return cost_of(one, costs.job).total.joules.has_value(); };
  const bool by_energy = costs.prefer == Prefer::kEnergy && std::ranges::all_of(all, has_joules);
  const auto best = std::ranges::min_element(all, {}, [&](const Candidate& one) {
    const Cost total = cost_of(one, costs.job).total;
    return by_energy ? *total.joules : total.seconds;
  });
  const auto chosen = static_cast<size_t>(best - all.begin());
  TRY_STATUS(print(costs.as_json() ? json(all, left_out, chosen) : page(all, left_out, chosen)));
  if (costs.prefer == Prefer::kEnergy && !by_energy) {
    print_note("chosen by speed, because not all joules are known");
  }
  return ExitCode::kDone;
}

}  // namespace

Command add_route(CLI::App& tern) {
  auto command = std::make_shared<RouteCommand>();
  CLI::App* app =
      add_command(tern, "route", "Measure and check", "Find the cheapest of several models, and its device, for a job.",
                  "-m FILE [-m FILE …] [-p N] [-n N] [options]", kRouteFooter);
  app->add_option_function<std::string>(
         "-m,--model", [command](const std::string& name) { command->models.push_back(name); },
         "A model: a file or a folder, a name of 'tern models', or OWNER/NAME; may be given several times")
      ->type_name("FILE")
      ->trigger_on_parse()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->required()
      ->check(not_empty())
      ->group("Model");
  command->costs.add(*app);
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
