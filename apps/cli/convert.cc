// tern convert: a model of any container as a GGUF file.
#include <memory>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/progress_bar.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr const char* kConvertFooter = R"(Examples
  tern convert Falcon3-7B-Instruct-1.58bit falcon3.gguf --type i2_s     a Hugging Face directory, packed
  tern convert Phi-3-mini-4k-instruct-q4f16_1-MLC phi3.gguf             an MLC directory, without loss
  tern convert ggml-model-i2_s.gguf small.gguf --head q6_k              another format for the embedding
)";

struct ConvertCommand {
  ConvertOptions options;
};

}  // namespace

Command add_convert(CLI::App& tern) {
  auto command = std::make_shared<ConvertCommand>();
  ConvertOptions& options = command->options;
  CLI::App* app = add_command(tern, "convert", "Models", "Write a model as a GGUF file, in another format if wanted.",
                              "IN OUT.gguf [--type TYPE] [--head TYPE]", kConvertFooter);
  app->add_option("in", options.in_path, "GGUF file, or a Hugging Face or MLC directory")
      ->required()
      ->option_text("IN")
      ->group("Files");
  app->add_option("out", options.out_path, "GGUF file to write")->required()->option_text("OUT.gguf")->group("Files");
  app->add_option("--type", options.type,
                  "Format of the linear layers: i2_s, tq1_0, tq2_0 if they are ternary, else q8_0, q4_0, q1_0 … "
                  "(default: unchanged)")
      ->type_name("TYPE")
      ->group("Formats");
  app->add_option("--head", options.head,
                  "Format of the token embedding and the head: f16, q8_0, q6_k … (default: unchanged, or --type if "
                  "that is not ternary)")
      ->type_name("TYPE")
      ->group("Formats");
  return {.app = app, .run = [command]() -> Result<ExitCode> {
            ProgressBar bar;
            const StopOnInterrupt interrupt;
            command->options.on_progress = bar.callback();
            command->options.stop = interrupt.token();
            TERN_TRY_STATUS(convert(command->options));
            return ExitCode::kDone;
          }};
}

}  // namespace tern::cli
