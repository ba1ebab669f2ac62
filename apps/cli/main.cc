// `tern`: parses the command line, runs one command, and turns its result into an exit code.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdlib>
#include <memory>
#include <new>
#include <system_error>

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/bus_error.h"
#include "cli/commands/commands.h"
#include "cli/sudden_end.h"
#include "cli/support/hub_model.h"
#include "cli/support/sandbox.h"
#include "cli/terminal/help.h"
#include "cli/terminal/output.h"
#include "cli/terminal/usage_error.h"
#include "cli/version_text.h"

namespace tern::cli {
namespace {

constexpr const char* kDescription =
    "Tern runs language models with few bits per weight, on the CPU or a GPU. Text goes to standard output, everything "
    "else to standard error.";

constexpr const char* kTernFooter = R"(Examples
  tern run -p "Once upon a time"                  let the model that comes with Tern tell a story
  tern chat                                       talk to it
  tern chat -hf microsoft/bitnet-b1.58-2B-4T-gguf  talk to a model that is downloaded on first use
  tern inspect model.gguf                         see what is in a file, and whether Tern can run it
  tern bench -m model.gguf                        measure it on this machine

'tern COMMAND --help' explains a command. Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted.
)";

Result<ExitCode> run_command(const std::vector<Command>& commands, const CLI::App& app) {
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    try {
      if (command.app->get_name() != "serve") TRY_STATUS(enter_sandbox(*command.app));  // that one has settings to read
      return command.run();
    } catch (const std::bad_alloc&) {
      return fail(ErrorCode::kOutOfMemory,
                  "{}: out of memory; close other programs, or use a smaller model or a smaller --ctx",
                  command.app->get_name());
    } catch (const std::system_error& error) {  // of a library: Tern's own code returns such errors
      return fail(ErrorCode::kIo, "{}: {}; end other programs, or raise the limits on processes, memory and files",
                  command.app->get_name(), error.what());
    }
  }
  TRY_STATUS(print(app.help()));
  return ExitCode::kDone;
}

ExitCode finish(Result<ExitCode> result) {
  if (result) {
    if (const Result<void> closed = close_output(); !closed) result = std::unexpected(closed.error());
  }
  if (is_output_pipe_closed()) die_of_closed_pipe();
  if (result) return *result;
  print_error(result.error().message);
  return exit_code_for(result.error().code);
}

ExitCode tern_main(int argc, char** argv) {
  prepare_standard_streams();
  explain_bus_errors();
  if (auto prepared = prepare_for_sudden_ends(); !prepared) return finish(std::unexpected(prepared.error()));
  // Sets only the character encoding, for line editing. Numbers keep their decimal point.
  if (!std::setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");

  CLI::App app(kDescription, "tern");
  app.usage("tern COMMAND [options]");
  app.footer(kTernFooter);
  app.formatter(std::make_shared<HelpFormatter>());
  app.option_defaults()->group("Other");
  app.set_help_flag("-h,--help", "Print this help")->group("Other");
  app.set_version_flag("--version", "", "Print the version, and what this build is made of")->group("Other");
  app.require_subcommand(0, 1);
  app.allow_windows_style_options(false);  // "/name" is a path or text, also on Windows
  const std::vector<Command> commands = {
      add_run(app),   add_chat(app),   add_inspect(app), add_tokenize(app), add_detokenize(app), add_logits(app),
      add_embed(app), add_eval(app),   add_bench(app),   add_validate(app), add_synth(app),      add_convert(app),
      add_pull(app),  add_models(app), add_list(app),    add_rm(app),       add_devices(app),    add_tune(app),
      add_route(app), add_serve(app),  add_batch(app),   add_manual(app),
  };
  for (const Command& command : commands) {
    constexpr std::array kWithout = {"pull", "models", "list", "rm", "devices", "tune", "route", "manual"};
    if (!std::ranges::contains(kWithout, command.app->get_name())) add_sandbox(*command.app);
  }
  try {
    Result<std::vector<std::string>> arguments = known_arguments(app, argc, argv);
    if (!arguments) return finish(std::unexpected(arguments.error()));
    std::ranges::reverse(*arguments);  // the parser wants them reversed
    app.parse(*std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    const auto parsed = app.get_subcommands();
    const std::vector<std::string> extras = app.remaining();
    if (parsed.empty() && !extras.empty()) {  // help for a command that does not exist
      print_error(usage_error(app, CLI::ExtrasError("tern", extras)));
      return ExitCode::kWrongUsage;
    }
    return finish(
        print(parsed.empty() ? app.help() : parsed.front()->help()).transform([] { return ExitCode::kDone; }));
  } catch (const CLI::CallForVersion&) {
    return finish(print(version_text()).transform([] { return ExitCode::kDone; }));
  } catch (const CLI::ParseError& error) {
    print_error(usage_error(app, error));
    return ExitCode::kWrongUsage;
  }
  return finish(run_command(commands, app));
}

}  // namespace
}  // namespace tern::cli

int main(int argc, char** argv) { return static_cast<int>(tern::cli::tern_main(argc, argv)); }
