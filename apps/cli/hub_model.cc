#include "cli/hub_model.h"

#include "cli/common.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/progress_bar.h"

namespace tern::cli {

Result<std::string> pull_model(const std::string& model, HubOptions options, bool quiet) {
  const StopOnInterrupt interrupt;
  ProgressBar bar;
  options.stop = interrupt.token();
  if (!quiet) {
    options.on_progress = bar.callback();
    options.on_note = [&bar](std::string_view note) {
      bar.wipe();
      print_note(note);
    };
  }
  Result<std::string> path = hub_pull(model, options);
  if (!path && path.error().code == ErrorCode::kInterrupted) {
    path.error().message += "; what has arrived is kept, and the next pull continues from there";
  }
  return path;
}

void HubModelOption::add(CLI::App& app, CLI::Option* path_option) {
  app.add_option("--hf", model_, "Model on Hugging Face, OWNER/NAME[:FILE], downloaded on first use; also written -hf")
      ->type_name("REPO")
      ->check(not_empty())
      ->excludes(path_option)
      ->group(path_option->get_group());
}

Result<std::string> HubModelOption::resolve(const std::string& path) const {
  if (model_.empty()) return path;
  return pull_model(model_, {.prefer_cached = true}, /*quiet=*/false);
}

}  // namespace tern::cli
