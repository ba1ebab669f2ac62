// tern tune: finds the fastest kernel layouts on this GPU.
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/support/common.h"
#include "cli/terminal/help.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress_bar.h"
#include "cli/terminal/terminal.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr const char* kTuneFooter =
    R"(The layouts are kept for this GPU, its driver and models of this shape. From then on all commands use them, except with
--gpu-without tuned. Answers change only by rounding. Run 'tern devices --calibrate' again: its costs are those of the
earlier layouts.

Examples
  tern tune -m model.gguf
  tern tune -m model.gguf --forget                return to the default layouts
)";

struct TuneCommand {
  ModelOptions model;
  TuneOptions options;
  bool dry_run = false, forget = false, all = false;
  std::string format = "table";

  Result<ExitCode> run();
};

std::string gain(double before, double after) {
  return format_text("{:.3f} → {:.3f} ms (×{:.2f})", before, after, after > 0 ? before / after : 1);
}

std::string joined(const std::vector<std::string>& settings) {
  std::string text;
  for (const std::string& setting : settings) text += (text.empty() ? "" : " ") + setting;
  return text;
}

std::string report(const ModelInfo& info, const TuneResult& result, bool all, const Style& style) {
  std::string text = style.bold(describe(info)) + "\n\n";
  const auto line = [&](std::string_view name, const std::string& value) {
    text += format_text("  {}  {}\n", style.dim(pad(name, 26)), value);
  };
  if (all) {
    for (const TuneTrial& trial : result.trials) {
      line(trial.setting, trial.failure.empty()
                              ? format_text("{:8.3f} ms a {}", trial.ms, trial.of_prompts ? "prompt" : "token")
                              : one_line(trial.failure));
    }
    text += "\n";
  }
  line("a token", gain(result.decode_ms_before, result.decode_ms_after));
  line(format_text("a prompt of {} tokens", result.prompt_tokens),
       gain(result.prompt_ms_before, result.prompt_ms_after));
  line("better than the defaults", result.settings.empty() ? "nothing" : joined(result.settings));
  if (!result.rejected.empty()) line("not taken", one_line(result.rejected));
  if (!result.is_complete) line("incomplete", "not all layouts were tried; allow more time with --seconds");
  line("kept in", result.path.empty() ? "nowhere" : result.path);
  return text;
}

std::string json(const ModelInfo& info, const TuneResult& result) {
  using Json = nlohmann::ordered_json;
  Json trials = Json::array();
  for (const TuneTrial& trial : result.trials) {
    Json of_trial = {{"setting", trial.setting}, {"of", trial.of_prompts ? "prompt" : "token"}};
    if (trial.failure.empty()) {
      of_trial["ms"] = trial.ms;
    } else {
      of_trial["failure"] = trial.failure;
    }
    trials.push_back(std::move(of_trial));
  }
  const Json all = {{"tern", version()},
                    {"model", info.path},
                    {"name", info.name},
                    {"device", result.device},
                    {"token_ms", {{"before", result.decode_ms_before}, {"after", result.decode_ms_after}}},
                    {"prompt_tokens", result.prompt_tokens},
                    {"prompt_ms", {{"before", result.prompt_ms_before}, {"after", result.prompt_ms_after}}},
                    {"settings", result.settings},
                    {"rejected", result.rejected},
                    {"complete", result.is_complete},
                    {"file", result.path},
                    {"trials", std::move(trials)}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ExitCode> TuneCommand::run() {
  TRY(LoadOptions load, model.resolved());
  if (load.backend == BackendKind::kAuto) load.backend = BackendKind::kWebGpu;
  ProgressBar bar;
  load.on_progress = bar.callback();
  TRY(Engine engine, Engine::load(load));
  bar.wipe();
  if (forget) {
    TRY(const std::string file, forget_tuning(engine));
    TRY_STATUS(print(format_text("{}: nothing is kept for {} any more\n", file, engine.info().backend)));
    return ExitCode::kDone;
  }
  options.keep = !dry_run;
  uint64_t n_tried = 0;
  const auto show = bar.callback();
  options.on_trial = [&](const TuneTrial&) {
    if (show) show({.what = "trying layouts", .done = ++n_tried, .total = 0, .unit = ""});
  };
  TRY(const TuneResult result, tune(engine, options));
  bar.wipe();
  TRY_STATUS(print(format == "json" ? json(engine.info(), result)
                                    : report(engine.info(), result, all, Style::of(STDOUT_FILENO))));
  return ExitCode::kDone;
}

}  // namespace

Command add_tune(CLI::App& tern) {
  auto command = std::make_shared<TuneCommand>();
  CLI::App* app = add_command(tern, "tune", "Measure and check",
                              "Find the kernel layouts that are fastest on this GPU with this model, and keep them.",
                              "[options]", kTuneFooter);
  app->add_option("--seconds", command->options.seconds, "Time limit for trying layouts (default 50)")
      ->type_name("S")
      ->check(in_range(1, 3600))
      ->group("Search");
  app->add_flag("--dry-run", command->dry_run, "Do not keep the layouts")->group("Search");
  app->add_flag("--forget", command->forget, "Forget what is kept for this GPU and model")->group("Search");
  app->add_flag("--all", command->all, "Print every layout that was tried")->group("Output");
  app->add_option("-o,--output", command->format, "table or json (default table)")
      ->type_name("FORM")
      ->check(one_of({"table", "json"}))
      ->group("Output");
  command->model.add_model(*app);
  command->model.add_backend(*app);
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
