#include "cli/support/hub_model.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/result.h"
#include "cli/support/common.h"
#include "cli/terminal/help.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/progress_bar.h"
#include "tern/file_preview.h"
#include "tern/published.h"

namespace tern::cli {

namespace {

// Adds to the error that the model was refused before any download.
Result<void> check_before_download(std::span<const FilePreview> parts, const MetadataChanges& changes) {
  Result<void> checked = check_model_header_with(parts, changes);
  if (!checked)
    checked.error().message += "; it was not downloaded ('tern pull --unchecked' downloads it all the same)";
  return checked;
}

// Returns "bonsai-1.7b" for a misspelling of it, else the names that contain `name` ("bonsai-1.7b, bonsai-4b"), else
// "".
std::string similar_names(const std::string& name) {
  std::vector<std::string> names;
  std::string holding;
  for (const PublishedModel& model : published_models()) {
    names.emplace_back(model.name);
    if (model.name.contains(name)) holding += format_text("{}{}", holding.empty() ? "" : ", ", model.name);
  }
  const std::string meant = nearest(name, names);
  return meant.empty() ? holding : meant;
}

// True for OWNER/NAME, optionally with @REVISION and :FILE. A path to a missing GGUF file is not one, nor is a path
// that starts with '.', '/' or '~'.
bool is_hub_name(const std::string& name) {
  const std::string repo = name.substr(0, name.find_first_of("@:"));
  const bool is_path =
      name.starts_with('.') || name.starts_with('/') || name.starts_with('~') || repo.ends_with(".gguf");
  return !is_path && std::ranges::count(repo, '/') == 1 && !repo.ends_with('/');
}

std::unexpected<Error> no_such_model(const std::string& name) {
  const std::string similar = similar_names(name);
  return fail(ErrorCode::kNotFound,
              "{}: there is no such file, nor a published model of that name{}; 'tern models' lists them", name,
              similar.empty() ? "" : format_text(" (did you mean {}?)", similar));
}

Result<ModelPlace> place_of_model(const std::string& name) {
  std::error_code ignored;
  if (name.empty() || std::filesystem::exists(name, ignored)) return ModelPlace{.path = name, .hub_name = {}};
  if (find_published_model(name) || is_hub_name(name)) return ModelPlace{.path = {}, .hub_name = name};
  if (name.contains('/') || name.contains(".gguf")) return ModelPlace{.path = name, .hub_name = {}};
  return no_such_model(name);
}

decltype(HubOptions::check) check_with(const MetadataChanges& changes) {
  return [changes](std::span<const FilePreview> parts) { return check_before_download(parts, changes); };
}

Result<std::string> path_at(const ModelPlace& place, const MetadataChanges& changes) {
  if (place.hub_name.empty()) return place.path;
  return pull_model(place.hub_name, {.prefer_cached = true, .check = check_with(changes)}, /*quiet=*/false);
}

}  // namespace

Result<std::string> pull_model_beside(const std::string& model, const MetadataChanges& changes,
                                      const std::stop_token& stop,
                                      const std::function<void(std::string_view line)>& say) {
  std::string what;
  uint64_t told = 0;  // tenths of the download reported so far
  const auto on_progress = [&](const Progress& progress) {
    if (progress.total == 0) return;
    const uint64_t tenths = std::min(progress.done, progress.total) * 10 / progress.total;
    if (progress.what == what && tenths <= told) return;
    what = progress.what;
    told = tenths;
    say(format_text("{}: {}: {} % of {}", model, what, 10 * tenths, human_bytes(progress.total)));
  };
  return hub_pull(
      hub_name_of(model),
      {.prefer_cached = true, .check = check_with(changes), .on_progress = on_progress, .on_note = say, .stop = stop});
}

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
  if (!options.check) options.check = check_with({});
  Result<std::string> path = hub_pull(hub_name_of(model), options);
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

std::string hub_name_of(const std::string& name) {
  const PublishedModel* published = find_published_model(name);
  return published ? std::string(published->hub_name) : name;
}

Result<ModelPlace> HubModelOption::place(const std::string& path) const {
  if (!model_.empty()) return ModelPlace{.path = {}, .hub_name = model_};
  return path.contains('/') ? Result<ModelPlace>({.path = path, .hub_name = {}}) : place_of_model(path);
}

Result<std::string> HubModelOption::resolve(const std::string& path, const MetadataChanges& changes) const {
  TRY(const ModelPlace at, place(path));
  return path_at(at, changes);
}

Result<std::string> path_of_model(const std::string& name) {
  TRY(const ModelPlace at, place_of_model(name));
  return path_at(at, {});
}

}  // namespace tern::cli
