// tern synth: makes a random model of a given shape.
#include <cstdio>
#include <memory>

#include "base/result.h"
#include "cli/commands/commands.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress_bar.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr const char* kSynthFooter = R"(Examples
  tern synth --list
  tern synth --preset bitnet-2b-4t --type i2_s --head f16 -o /tmp/bitnet.gguf
  tern synth --preset bonsai-1.7b --type q1_0 --head q1_0 -o /tmp/bonsai.gguf
  tern bench -m /tmp/bitnet.gguf                  how fast the real model would be on this machine
  tern synth --preset bonsai-8b --tokenizer bytes -o /tmp/served.gguf && tern serve -m /tmp/served.gguf
)";

struct SynthCommand {
  SynthOptions options;
  CLI::Option* out_option = nullptr;
  bool list = false;

  Result<ExitCode> print_presets() const;
  Result<ExitCode> run();
};

Result<ExitCode> SynthCommand::print_presets() const {
  const std::vector<SynthPreset> presets = synth_presets();
  size_t width = 0;
  for (const SynthPreset& preset : presets) width = std::max(width, display_width(preset.name));
  std::string page;
  for (const SynthPreset& preset : presets)
    page += format_text("{}  {}\n", pad(preset.name, width), preset.description);
  TRY_STATUS(print(page));
  return ExitCode::kDone;
}

Result<ExitCode> SynthCommand::run() {
  if (list) return print_presets();
  if (out_option->count() == 0) {
    return fail(ErrorCode::kInvalidArgument,
                "synth: name the file to write with -o FILE, or see the presets with --list");
  }
  ProgressBar bar;
  const StopOnInterrupt interrupt;
  options.on_progress = bar.callback();
  options.stop = interrupt.token();
  TRY_STATUS(synth(options));
  return ExitCode::kDone;
}

}  // namespace

Command add_synth(CLI::App& tern) {
  auto command = std::make_shared<SynthCommand>();
  SynthOptions& options = command->options;
  CLI::App* app =
      add_command(tern, "synth", "Models", "Make a random model of a given shape, for measuring without a download.",
                  "[--preset NAME] -o FILE [options]", kSynthFooter);
  app->add_flag("--list", command->list, "List the presets")->group("Shape");
  app->add_option("--preset", options.preset, "Which model's shape (default bitnet-2b-4t)")
      ->type_name("NAME")
      ->group("Shape");
  app->add_option("--type", options.type,
                  "Format of the linear layers: i2_s, tq2_0, q1_0, q4_0, q4_k_m … (default: the preset's own)")
      ->type_name("TYPE")
      ->group("Shape");
  app->add_option("--head", options.head,
                  "Format of the token embedding: f16, f32, bf16, q8_0, q6_k … (default: the preset's own)")
      ->type_name("TYPE")
      ->group("Shape");
  app->add_option("--tokenizer", options.tokenizer,
                  "bytes: a token for each byte of text, so that the model can be used with text (default: none)")
      ->type_name("NAME")
      ->group("Shape");
  app->add_option("--seed", options.seed, "Same seed, same file (default 0)")->type_name("N")->group("Shape");
  command->out_option =
      app->add_option("-o,--output", options.out_path, "GGUF file to write")->type_name("FILE")->group("Output");
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
