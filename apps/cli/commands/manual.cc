// tern manual: writes the manual pages and the completions. The command is hidden; the build runs it.
#include <filesystem>
#include <memory>

#include "base/files/draft_file.h"
#include "base/result.h"
#include "cli/commands/commands.h"
#include "cli/manual/completions.h"
#include "cli/manual/manual_pages.h"
#include "cli/terminal/help.h"

namespace tern::cli {
namespace {

Result<void> write_file(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error || !write_text_file(path.string(), text))
    return fail(ErrorCode::kIo, "{}: cannot be written; is there room, and may you write there?", path.string());
  return {};
}

Result<ExitCode> run(const CLI::App& tern, const std::filesystem::path& folder, const std::string& date) {
  const ProgramDescription program = describe_program(tern);
  for (const auto& [name, text] : manual_pages(program, {.version = std::string(version()), .date = date})) {
    TRY_STATUS(write_file(folder / "man/man1" / name, text));
  }
  TRY_STATUS(write_file(folder / "bash-completion/completions/tern", bash_completions(program)));
  TRY_STATUS(write_file(folder / "zsh/site-functions/_tern", zsh_completions(program)));
  TRY_STATUS(write_file(folder / "fish/vendor_completions.d/tern.fish", fish_completions(program)));
  return ExitCode::kDone;
}

}  // namespace

Command add_manual(CLI::App& tern) {
  struct Options {
    std::string folder;
    std::string date;
  };
  auto options = std::make_shared<Options>();
  CLI::App* app = add_command(tern, "manual", "", "Write the manual pages and the completions for shells.", "DIR", "");
  app->add_option("dir", options->folder, "The folder to write to: what is installed as share")
      ->required()
      ->option_text("DIR")
      ->check(not_empty())
      ->group("Output");
  app->add_option("--date", options->date, "The day that the pages are of")->type_name("DATE")->group("Output");
  return {.app = app, .run = [&tern, options] { return run(tern, options->folder, options->date); }};
}

}  // namespace tern::cli
