// The commands of `tern`, one file each. A command adds its options to the parser and returns the function that runs
// it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/support/common.h"

namespace tern::cli {

struct Command {
  CLI::App* app;
  std::function<Result<ExitCode>()> run;
};

Command add_run(CLI::App& tern);
Command add_chat(CLI::App& tern);
Command add_tokenize(CLI::App& tern);
Command add_detokenize(CLI::App& tern);
Command add_logits(CLI::App& tern);
Command add_embed(CLI::App& tern);
Command add_eval(CLI::App& tern);
Command add_inspect(CLI::App& tern);
Command add_bench(CLI::App& tern);
Command add_validate(CLI::App& tern);
Command add_synth(CLI::App& tern);
Command add_convert(CLI::App& tern);
Command add_pull(CLI::App& tern);
Command add_list(CLI::App& tern);
Command add_models(CLI::App& tern);
Command add_rm(CLI::App& tern);
Command add_devices(CLI::App& tern);
Command add_tune(CLI::App& tern);
Command add_route(CLI::App& tern);
Command add_serve(CLI::App& tern);
Command add_batch(CLI::App& tern);
Command add_manual(CLI::App& tern);

}  // namespace tern::cli
