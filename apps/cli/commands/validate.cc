// tern validate: checks that a backend computes what the reference computes.
#include <unistd.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/terminal/help.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress_bar.h"
#include "cli/terminal/terminal.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr const char* kValidateFooter = R"(Examples
  tern validate
  tern validate -m model.gguf -t 8 --tokens 1,2,3,4

Compares the backend with slow, exact loops, step by step, and cached decoding with computing the whole text again.
On a GPU, it also compares the tokens that the GPU samples with those that the CPU would choose; they may differ if two
tokens are nearly tied. Exit code 1: the differences are greater than rounding explains.
)";

struct ValidateCommand {
  ModelOptions model;
  ValidateOptions options;
  std::string tokens;
  bool all = false;

  Result<ExitCode> run();
};

std::string yes_no(bool value) { return value ? "yes" : "no"; }

std::string report(const ValidateResult& result, bool all, const Style& style) {
  size_t width = 4;
  for (const LayerDifference& layer : result.layers) width = std::max(width, display_width(layer.step));
  std::string text;
  if (all && !result.layers.empty()) {
    text +=
        style.dim(format_text("{}  {}  {}", pad("step", width), pad_left("largest", 10), pad_left("NMSE", 10))) + "\n";
    for (const LayerDifference& layer : result.layers) {
      text += format_text("{}  {:>10.2e}  {:>10.2e}\n", pad(one_line(layer.step), width), layer.max_abs, layer.nmse);
    }
    text += "\n";
  }
  const auto worst = std::ranges::max_element(result.layers, {}, &LayerDifference::nmse);
  const auto line = [&](std::string_view name, const std::string& value) {
    text += format_text("{}  {}\n", style.dim(pad(name, 34)), value);
  };
  if (worst != result.layers.end()) {
    line("steps compared",
         format_text("{}, worst {} (NMSE {:.2e})", result.layers.size(), one_line(worst->step), worst->nmse));
  }
  line("logits, NMSE", format_text("{:.2e}", result.logits_nmse));
  line("logits, cosine", format_text("{:.9f}", result.logits_cosine));
  line("same likeliest token everywhere", yes_no(result.same_top1));
  line("cached against full, least cosine", format_text("{:.9f}", result.cached_cosine));
  line("cached against full, same token", yes_no(result.cached_same_top1));
  if (result.n_tokens > 0) {
    std::string tokens =
        format_text("{} of {} as on the CPU", result.n_tokens - result.n_other_tokens, result.n_tokens);
    if (result.n_other_tokens > 0) {
      tokens += format_text("; first difference at {}, behind by {:.3f} (largest lead {:.3f} RMS)",
                            result.first_other_token, result.first_lead, result.largest_lead);
    }
    line("tokens chosen on the GPU", tokens);
  }
  const std::string verdict = one_line(result.verdict);
  return text + (result.passed ? style.green(verdict) : style.red(verdict)) + "\n";
}

Result<ExitCode> ValidateCommand::run() {
  // The engine knows the vocabulary's size and checks the ids; here they only have to be numbers.
  TRY(options.tokens, parse_token_ids(tokens, std::numeric_limits<TokenId>::max()));
  TRY(LoadOptions load, model.resolved());
  ProgressBar bar;
  options.on_progress = bar.callback();
  load.on_progress = bar.callback();
  TRY(const ValidateResult result, validate(load, options));
  bar.wipe();
  TRY_STATUS(print(report(result, all, Style::of(STDOUT_FILENO))));
  return result.passed ? ExitCode::kDone : ExitCode::kFailed;
}

}  // namespace

Command add_validate(CLI::App& tern) {
  auto command = std::make_shared<ValidateCommand>();
  CLI::App* app = add_command(tern, "validate", "Measure and check",
                              "Check that the backend computes what slow, exact loops compute, on this machine.",
                              "[options]", kValidateFooter);
  app->add_option("--tokens", command->tokens, "Token ids to run (default: a built-in text)")
      ->type_name("IDS")
      ->check(not_empty())
      ->group("Input");
  app->add_option("-n,--decode", command->options.n_decode, "Cached steps to compare with full passes (default 16)")
      ->type_name("N")
      ->check(in_range(0, 1 << 20, /*whole=*/true))
      ->group("Input");
  app->add_option("--generate", command->options.n_tokens,
                  "Tokens that a GPU chooses, to compare with the CPU's choices (default 200)")
      ->type_name("N")
      ->check(in_range(0, 1 << 20, /*whole=*/true))
      ->group("Input");
  app->add_flag("--steps", command->all, "Print every step, not only the worst")->group("Output");
  command->model.add_model(*app);
  command->model.add_backend(*app);
  add_kv(*app, command->options.kv_type);
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
