// tern models: lists the published models that Tern is known to run.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/support/sampling_json.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/output.h"
#include "tern/published.h"

namespace tern::cli {
namespace {

constexpr const char* kModelsFooter = R"(Examples
  tern models
  tern chat -m bonsai-1.7b                        downloaded on first use
  tern pull bonsai-1.7b                           prints the path of the file

Memory is for the weights and a context of 4,096 tokens in f16; working memory is not included. Other models run too: -hf
OWNER/NAME takes any repository, and refuses what Tern cannot run before the download.
)";

constexpr uint32_t kListedTokens = 4096;

std::string models_page() {
  size_t name_width = 4;
  for (const PublishedModel& model : published_models()) name_width = std::max(name_width, model.name.size());
  const auto row = [&](std::string_view name, std::string_view format, std::string_view download,
                       std::string_view memory, std::string_view license) {
    return format_text("{}  {}  {}  {}  {}\n", pad(name, name_width), pad(format, 6), pad_left(download, 8),
                       pad_left(memory, 8), license);
  };
  std::string page = row("name", "format", "download", "memory", "license");
  for (const PublishedModel& model : published_models()) {
    page += row(model.name, model.format, human_bytes(model.download_bytes()),
                human_bytes(model.memory_bytes(kListedTokens)), model.license);
  }
  page += format_text("\nWithout -m, Tern runs the model that comes with it: Tern Stories, which {}.\n",
                      kDefaultModelLimits);
  return page;
}

std::string models_json() {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const PublishedModel& model : published_models()) {
    list.push_back({{"name", model.name},
                    {"hub", model.hub_name},
                    {"format", model.format},
                    {"license", model.license},
                    {"download_bytes", model.download_bytes()},
                    {"memory_bytes", model.memory_bytes(kListedTokens)},
                    {"memory_tokens", kListedTokens},
                    {"sampling", sampling_json(model.sampling)}});
  }
  return list.dump(2) + "\n";
}

Result<ExitCode> print_published(bool json) {
  TRY_STATUS(print(json ? models_json() : models_page()));
  return ExitCode::kDone;
}

}  // namespace

Command add_models(CLI::App& tern) {
  auto json = std::make_shared<bool>(false);
  CLI::App* app = add_command(tern, "models", "Models", "List the published models that Tern is known to run.",
                              "[--json]", kModelsFooter);
  app->add_flag("--json", *json, "Print JSON")->group("Output");
  return {.app = app, .run = [json] { return print_published(*json); }};
}

}  // namespace tern::cli
