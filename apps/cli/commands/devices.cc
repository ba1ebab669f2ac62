// tern devices: what each backend found, and what a model costs on it.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/result.h"
#include "cli/commands/commands.h"
#include "cli/cost/cost_flags.h"
#include "cli/cost/cost_picture.h"
#include "cli/cost/cost_report.h"
#include "cli/terminal/help.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr const char* kDevicesFooter = R"(Examples
  tern devices
  tern devices -m model.gguf                      also what the model needs on each, and whether it fits
  tern devices --calibrate -m model.gguf          measure what it costs on each; from then on -b auto uses the costs
  tern devices --explain -m model.gguf -p 512 -n 128    which device is best for this job, and why
  tern devices --explain -p 300 -n 50 --check     also run the job on each, and compare
  tern devices --explain --svg costs.svg -o json

Costs are measured once for each model, device and version of Tern, which takes up to 20 s, and kept in the cache folder
($XDG_CACHE_HOME/tern/curves, by default below ~/.cache). They are the time to load, the time of a prompt by its length, the
time of a token by the tokens before it and the replies at the same time, and joules if the processor (and an NVIDIA GPU)
counts them. --explain measures what is missing, --calibrate everything again. Starting a model measures nothing.
)";

struct DevicesCommand {
  std::string path;
  HubModelOption hub;
  MetadataChanges metadata;
  KvType kv_type = KvType::kF16;
  CLI::Option* kv = nullptr;
  CostFlags costs;
  bool explain = false;
  bool calibrate = false;
  bool check = false;
  std::string svg;
};

// Rejects options of the other form of the command.
Result<void> check_options(const DevicesCommand& command) {
  const bool has_costs = command.explain || command.calibrate;
  if (has_costs && command.kv->count() > 0)
    return fail(ErrorCode::kInvalidArgument, "devices: costs are measured with --kv f16: leave out --kv");
  if (has_costs) return {};
  std::string given = command.costs.given();
  if (command.check) given = "--check";
  if (!command.svg.empty()) given = "--svg";
  if (given.empty()) return {};
  return fail(ErrorCode::kInvalidArgument, "devices: {} needs --explain or --calibrate", given);
}

Result<ExitCode> run_costs(const DevicesCommand& command, const std::string& model_path) {
  const CostFlags& flags = command.costs;
  TRY(const CurveSet set, flags.curves(model_path, command.metadata, command.calibrate));
  CostReport report{.set = set, .job = flags.job_within(set.n_ctx), .prefer = flags.prefer};
  if (command.check) {
    for (const Route& route : routes_of(report)) {
      const auto cost = measure_job(set.curves, route, flags.load(set.model_path, command.metadata), report.job);
      if (!cost && !route.is_split()) return std::unexpected(cost.error());
      if (!cost) print_note(format_text("{} cannot be run: {}", route_name(set.curves, route), cost.error().message));
      report.measured.push_back(cost ? std::optional(*cost) : std::nullopt);
    }
  }
  if (!command.svg.empty()) TRY_STATUS(write_cost_picture(report, command.svg));
  TRY_STATUS(print(flags.as_json() ? cost_json(report) : cost_page(report, Style::of(STDOUT_FILENO))));
  return ExitCode::kDone;
}

Result<ExitCode> run(const DevicesCommand& command) {
  TRY_STATUS(check_options(command));
  TRY(const std::string model_path, command.hub.resolve(command.path, command.metadata));
  if (command.explain || command.calibrate) return run_costs(command, model_path);
  std::vector<DeviceInfo> devices;
  if (model_path.empty()) {
    if (command.kv->count() > 0) return fail(ErrorCode::kInvalidArgument, "devices: --kv needs a model, with -m FILE");
    if (!command.metadata.is_empty())
      return fail(ErrorCode::kInvalidArgument, "devices: --override and --ignore need a model, with -m FILE");
    devices = list_devices();
  } else {
    TRY(devices, list_devices_for(model_path, command.kv_type, command.metadata));
  }
  const Style style = Style::of(STDOUT_FILENO);
  std::string page;
  for (const DeviceInfo& device : devices) {
    if (!page.empty()) page += "\n";
    page += format_text("{}  {}\n", style.bold(one_line(device.backend)), one_line(device.name));
    size_t width = 0;
    for (const auto& [name, value] : device.facts) width = std::max(width, display_width(name));
    for (const auto& [name, value] : device.facts) {
      page += format_text("  {}  {}\n", style.dim(pad(name, width)), one_line(value));
    }
  }
  TRY_STATUS(print(page));
  return ExitCode::kDone;
}

}  // namespace

Command add_devices(CLI::App& tern) {
  auto command = std::make_shared<DevicesCommand>();
  CLI::App* app =
      add_command(tern, "devices", "Measure and check",
                  "List the devices, the features that Tern uses on each, and why; or what a model costs on each.",
                  "[-m FILE [--kv TYPE]] [--explain | --calibrate] [-p N] [-n N] [options]", kDevicesFooter);
  CLI::Option* path =
      app->add_option("-m,--model", command->path,
                      "Also show what this model (GGUF) needs on each, and whether it fits; with --explain or "
                      "--calibrate, the model to measure (default: the one that comes with Tern)")
          ->type_name("FILE")
          ->check(not_empty())
          ->group("Model");
  command->hub.add(*app, path);
  add_metadata_changes(*app, command->metadata);
  command->kv = add_kv(*app, command->kv_type);
  app->add_flag(
         "--explain", command->explain,
         "Show what the model costs on each device, at which lengths the best one changes, and which is best for a job")
      ->group("Costs");
  app->add_flag("--calibrate", command->calibrate, "The same, but measure everything again")->group("Costs");
  app->add_flag("--check", command->check, "Also run the job on each device, and compare")->group("Costs");
  app->add_option("--svg", command->svg, "Draw the costs to this file")
      ->type_name("FILE")
      ->check(not_empty())
      ->group("Output");
  command->costs.add(*app);
  return {.app = app, .run = [command] { return run(*command); }};
}

}  // namespace tern::cli
