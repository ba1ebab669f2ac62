// tern pull: downloads a model.
#include <memory>

#include "cli/commands/commands.h"
#include "cli/support/hub_model.h"
#include "cli/terminal/help.h"
#include "cli/terminal/output.h"

namespace tern::cli {
namespace {

constexpr const char* kPullFooter = R"(Examples
  tern pull microsoft/bitnet-b1.58-2B-4T-gguf     prints the path of the file
  tern pull bonsai-1.7b                           a model of 'tern models'
  tern pull OWNER/NAME:Q2_0                       one of several files, by part of its name
  tern pull OWNER/NAME --list                     the files of the repository
  tern chat -hf microsoft/bitnet-b1.58-2B-4T-gguf downloads on first use, then uses the cache

Of several files, ternary and 1-bit ones come first, then Q8_0, Q6_K, Q4_K_M, Q4_0, BF16 and F16. Tern refuses what it
cannot run before the download, by the beginning of the file or the small files of a directory.

The cache is the one that Hugging Face's own tools use: HF_HUB_CACHE, HF_HOME/hub or ~/.cache/huggingface/hub. An
interrupted download continues where it stopped. -hf uses a cached model as it is; tern pull looks for a newer version.

Environment
  HF_TOKEN           token for private and gated repositories (default: what 'hf auth login' saved)
  HF_ENDPOINT        another host that speaks Hugging Face's protocol
  HF_HUB_OFFLINE=1   never use the network
  https_proxy        and the other proxy variables, as curl understands them
)";

struct PullCommand {
  std::string model;
  HubOptions options;
  bool list = false;
  bool unchecked = false;
  bool quiet = false;

  Result<ExitCode> print_list() const;
  Result<ExitCode> run() const;
};

Result<ExitCode> PullCommand::print_list() const {
  TRY(const std::vector<HubFile> files, hub_list(hub_name_of(model), options));
  std::string page;
  for (const HubFile& file : files) {
    page += format_text("{}  {}\n", pad_left(file.bytes ? human_bytes(*file.bytes) : "?", 9), one_line(file.path));
  }
  TRY_STATUS(print(page));
  return ExitCode::kDone;
}

Result<ExitCode> PullCommand::run() const {
  if (list) return print_list();
  HubOptions with_check = options;
  if (unchecked) with_check.check = [](std::span<const FilePreview>) { return Result<void>(); };
  TRY(const std::string path, pull_model(model, with_check, quiet));
  TRY_STATUS(print(path + "\n"));
  return ExitCode::kDone;
}

}  // namespace

Command add_pull(CLI::App& tern) {
  auto command = std::make_shared<PullCommand>();
  CLI::App* app = add_command(tern, "pull", "Models",
                              "Download a model from Hugging Face or a compatible host, and print its path.",
                              "OWNER/NAME[@REVISION][:FILE] [options]", kPullFooter);
  app->add_option("model", command->model, "Repository, and which of its files; see below")
      ->option_text("REPO[:FILE]")
      ->required()
      ->check(not_empty())
      ->group("Model");
  app->add_flag("--list", command->list, "List the files of the repository; download nothing")->group("Model");
  app->add_flag("--unchecked", command->unchecked, "Also download models that Tern cannot run")->group("Download");
  app->add_option("--connections", command->options.connections,
                  "Parts of a file to download at the same time (default 8)")
      ->type_name("N")
      ->check(in_range(1, 64, /*whole=*/true))
      ->group("Download");
  app->add_flag("-q,--quiet", command->quiet, "Print errors only: no progress, no notes")->group("Download");
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
