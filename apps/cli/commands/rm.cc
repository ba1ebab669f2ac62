// tern rm: deletes a downloaded model.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>

#include "base/result.h"
#include "cli/commands/commands.h"
#include "cli/terminal/help.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/terminal.h"
#include "tern/hub.h"

namespace tern::cli {
namespace {

constexpr const char* kRemoveFooter = R"(Examples
  tern rm OWNER/NAME:FILE                         one model, as 'tern list' names it
  tern rm OWNER/NAME --yes                        all that is downloaded of a repository, without a question

Files that another model in the cache needs are kept.
)";

struct RemoveCommand {
  std::string name;
  bool yes = false;

  Result<ExitCode> run() const;
};

// Asks on the terminal; only "y" and "yes" mean yes.
bool is_confirmed(const std::string& name) {
  std::fprintf(stderr, "Remove %s? [y/N] ", one_line(name).c_str());
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

Result<ExitCode> RemoveCommand::run() const {
  TRY(const std::vector<CachedModel> models, hub_cached());
  const auto is_meant = [&](const CachedModel& model) {
    return model.name == name || model.name.starts_with(name + ":");
  };
  if (!yes && std::ranges::any_of(models, is_meant)) {  // a missing model needs no question
    if (!is_terminal(STDIN_FILENO))
      return fail(ErrorCode::kInvalidArgument, "rm: there is no terminal to ask on; add --yes to remove {}",
                  one_line(name));
    if (!is_confirmed(name)) {
      print_note("nothing was removed");
      return ExitCode::kFailed;
    }
  }
  TRY(const uint64_t freed, hub_remove(name));
  print_note(format_text("{} freed", human_bytes(freed)));
  return ExitCode::kDone;
}

}  // namespace

Command add_rm(CLI::App& tern) {
  auto command = std::make_shared<RemoveCommand>();
  CLI::App* app = add_command(tern, "rm", "Models", "Remove a downloaded model from the disk.",
                              "OWNER/NAME[:FILE] [--yes]", kRemoveFooter);
  app->add_option("model", command->name, "The model, as 'tern list' names it")
      ->option_text("REPO[:FILE]")
      ->required()
      ->check(not_empty())
      ->group("Model");
  app->add_flag("-y,--yes", command->yes, "Do not ask")->group("Model");
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
