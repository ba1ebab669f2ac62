#include "cli/flags/model_list.h"

#include <memory>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "cli/support/settings.h"
#include "cli/terminal/help.h"
#include "cli/terminal/layout.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

Result<server::ModelEntry> read_model(const SettingsSection& section, const std::string& file,
                                      const ServeOptions& usual) {
  ServeOptions options;
  std::vector<std::string> names;
  bool pinned = false;
  CLI::App app;
  add_model_options(app, options);
  options = usual;
  app.add_option("--alias", names)->check(not_empty());
  app.add_flag("--pinned", pinned);
  TRY_STATUS(apply_section(app, section, file));
  const std::string where = format_text("{}: [{}]", file, one_line(section.name));
  try {
    options.model.complete(app);
  } catch (const CLI::Error& error) {
    return fail(ErrorCode::kInvalidArgument, "{}: {}", where, one_line(error.what()));
  }
  if (app.count("--model") + app.count("--hf") == 0) {
    return fail(ErrorCode::kInvalidArgument, "{}: names no model; give model = \"FILE\" or hf = \"OWNER/NAME\"", where);
  }
  TRY(const ModelPlace place, options.model.place());
  const auto load = std::make_shared<LoadOptions>(options.model.load);
  load->model_path = place.path;
  if (pinned) {
    TRY(*load, options.model.resolved());
  }
  load->job.any_length = true;
  TRY(std::string own_template, template_of(options));
  if (!own_template.empty()) load->chat_template = std::move(own_template);
  names.insert(names.begin(), section.name);
  server::ModelEntry entry{.served = served_with(options, std::move(names)),
                           .load = [load] { return Engine::load(*load); },
                           .pinned = pinned,
                           .embedding = load->embeddings};
  if (!pinned && !place.hub_name.empty()) {
    entry.fetch = [load, name = place.hub_name, say = usual.api.on_event](const std::stop_token& stop) -> Result<void> {
      TRY(load->model_path, pull_model_beside(name, load->metadata, stop, [&](std::string_view line) {
            if (say) say(std::string(line));
          }));
      return {};
    };
  }
  return entry;
}

}  // namespace

Result<std::string> template_of(const ServeOptions& options) {
  if (options.template_file.empty()) return options.template_text;
  TRY(std::string text, read_text(options.template_file));
  if (text.empty()) return fail(ErrorCode::kInvalidArgument, "{}: the template is empty", options.template_file);
  return text;
}

server::ServedModelOptions served_with(const ServeOptions& options, std::vector<std::string> names) {
  server::ApiOptions api = options.api;
  api.names = std::move(names);
  api.pooling = options.pooling;
  api.speculate = drafts_of(api.speculate, api.scheduler.draft_block);
  for (const int tokens : {options.batch, options.small_batch}) {
    int& most = api.scheduler.max_batch_tokens;
    if (tokens > 0 && (most == 0 || tokens < most)) most = tokens;
  }
  return server::served_options(api);
}

Result<std::vector<server::ModelEntry>> read_model_list(const std::string& file, const ServeOptions& usual) {
  TRY(const std::vector<SettingsSection> sections, read_sections(file));
  if (sections.empty()) {
    return fail(ErrorCode::kInvalidArgument, "{}: there is no model in it; a model is a section, [NAME]", file);
  }
  std::vector<server::ModelEntry> models;
  for (const SettingsSection& section : sections) {
    TRY(server::ModelEntry model, read_model(section, file, usual));
    models.push_back(std::move(model));
  }
  return models;
}

}  // namespace tern::cli
