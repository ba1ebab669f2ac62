// tern list: shows the downloaded models.
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/output.h"
#include "tern/hub.h"
#include "tern/visible.h"

namespace tern::cli {
namespace {

constexpr const char* kListFooter = R"(Examples
  tern list
  tern chat -hf OWNER/NAME:FILE                   with a name of the list
  tern rm OWNER/NAME:FILE                         frees its space

The cache is that of Hugging Face's own tools, so what they downloaded is listed, too.
)";

std::string list_json(const std::vector<CachedModel>& models) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const CachedModel& model : models)
    list.push_back({{"name", model.name}, {"bytes", model.bytes}, {"unfinished", model.unfinished}});
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ExitCode> print_models(bool json) {
  TRY(const std::vector<CachedModel> models, hub_cached());
  std::string page;
  for (const CachedModel& model : models) {
    const std::string size = model.unfinished && model.bytes == 0 ? "?" : human_bytes(model.bytes);
    page += format_text("{}  {}{}\n", pad_left(size, 9), one_line(model.name),
                        model.unfinished ? "  (not complete: 'tern pull' continues the download)" : "");
  }
  TRY_STATUS(print(json ? visible(list_json(models)) : page));
  if (models.empty() && !json) print_note("no models have been downloaded yet; 'tern pull' or -hf downloads one");
  return ExitCode::kDone;
}

}  // namespace

Command add_list(CLI::App& tern) {
  auto json = std::make_shared<bool>(false);
  CLI::App* app =
      add_command(tern, "list", "Models", "List the downloaded models and their sizes.", "[--json]", kListFooter);
  app->add_flag("--json", *json, "Print JSON")->group("Output");
  return {.app = app, .run = [json] { return print_models(*json); }};
}

}  // namespace tern::cli
