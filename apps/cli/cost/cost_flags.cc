#include "cli/cost/cost_flags.h"

#include <algorithm>

#include "cli/support/run_quietly.h"
#include "cli/terminal/help.h"
#include "cli/terminal/progress_bar.h"

namespace tern::cli {
namespace {

constexpr double kMostTokens = 1 << 20;
constexpr const char* kJobGroup = "Job";

}  // namespace

void CostFlags::add(CLI::App& app) {
  const auto count = [&](const char* name, int& value, const char* help) {
    options_.push_back(
        app.add_option(name, value, help)->type_name("N")->check(in_range(1, kMostTokens, true))->group(kJobGroup));
  };
  count("-p,--prompt", job.n_prompt, "Prompt tokens of the job (default 512)");
  count("-n,--generate", job.n_generate, "Reply tokens of the job (default 128)");
  count("-N,--parallel", job.n_parallel, "Number of such jobs at the same time (default 1)");
  options_.push_back(app.add_flag_callback(
                            "--loaded", [this] { job.counts_setup = false; },
                            "The model is already loaded, as in a server; by default loading is part of the job")
                         ->group(kJobGroup));
  options_.push_back(
      app.add_option_function<std::string>(
             "--prefer",
             [this](const std::string& name) { prefer = name == "energy" ? Prefer::kEnergy : Prefer::kSpeed; },
             "What to optimize: speed (default) or energy")
          ->type_name("WHAT")
          ->check(one_of({"speed", "energy"}))
          ->group(kJobGroup));
  options_.push_back(app.add_option("-t,--threads", n_threads, "CPU threads (default 0: one per fast CPU)")
                         ->type_name("N")
                         ->check(in_range(0, 1024, /*whole=*/true))
                         ->group("Model"));
  options_.push_back(
      app.add_option(
             "--gpu", gpu,
             "Which GPU: part of its name, or its number in 'tern devices'; a software GPU is used only if it is named")
          ->type_name("NAME")
          ->check(not_empty())
          ->group("Model"));
  options_.push_back(app.add_option("-o,--output", format, "table or json (default table)")
                         ->type_name("FORM")
                         ->check(one_of({"table", "json"}))
                         ->group("Output"));
  options_.push_back(
      app.add_flag_callback("--json", [this] { format = "json"; }, "The same as -o json")->group("Output"));
}

std::string CostFlags::given() const {
  for (const CLI::Option* option : options_) {
    if (option->count() > 0) return option->get_name();
  }
  return "";
}

LoadOptions CostFlags::load(const std::string& model_path, const MetadataChanges& metadata) const {
  return {.model_path = model_path,
          .prefer = prefer,
          .n_threads = n_threads,
          .metadata = metadata,
          .gpu = {.adapter = gpu}};
}

Result<CurveSet> CostFlags::curves(const std::string& model_path, const MetadataChanges& metadata, bool again) const {
  ProgressBar bar;
  const int n_prompt = options_[0]->count() > 0 ? job.n_prompt : 1;
  const int n_generate = options_[1]->count() > 0 ? job.n_generate : 1;
  CurveOptions options{.load = load(model_path, metadata), .least_ctx = n_prompt + n_generate, .again = again};
  options.load.on_progress = bar.callback();
  options.start_seconds = [&](BackendKind backend) {
    std::vector<std::string> arguments = {
        "run", "-b", std::string(backend_name(backend)), "-n", "1", "-p", "a", "--temp", "0", "--ignore-eos"};
    arguments.insert(arguments.end(), {"-t", std::to_string(n_threads)});
    if (!model_path.empty()) arguments.insert(arguments.end(), {"-m", model_path});
    for (const std::string& text : metadata.overrides) arguments.insert(arguments.end(), {"--override", text});
    for (const std::string& key : metadata.ignored_keys) arguments.insert(arguments.end(), {"--ignore", key});
    if (!gpu.empty() && backend == BackendKind::kWebGpu) arguments.insert(arguments.end(), {"--gpu", gpu});
    return run_self_quietly(arguments);
  };
  return cost_curves(options);
}

ExpectedJob CostFlags::job_within(int n_ctx) const {
  ExpectedJob within = job;
  const bool has_prompt = options_[0]->count() > 0, has_generate = options_[1]->count() > 0;
  if (!has_prompt) within.n_prompt = std::clamp(n_ctx - (has_generate ? job.n_generate : n_ctx / 5), 1, job.n_prompt);
  if (!has_generate) within.n_generate = std::clamp(n_ctx - within.n_prompt, 1, job.n_generate);
  return within;
}

}  // namespace tern::cli
