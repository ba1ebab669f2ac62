// The public calls: whether to use the cache or the hub first, and the fallback without a network.
#include <algorithm>
#include <cstdlib>
#include <list>
#include <optional>

#include "base/log.h"
#include "hub/choose.h"
#include "hub/complete_model.h"
#include "hub/fetch.h"
#include "hub/hub.h"
#include "hub/preview.h"
#include "hub/store/settings.h"
#include "tern/hub.h"

namespace tern {
namespace hub {
namespace {

struct Pull {
  const HubOptions& options;
  Settings settings;
  ModelName name;
  Cache cache;
  Hub hub;

  Result<std::string> run();
  Result<Listing> files();

 private:
  Result<Listing> cached_listing() const;
  Result<std::string> cached_model() const;
  std::string path_of(const std::string& commit, const Choice& choice) const;
  std::string path_here(const std::string& commit, const RemoteFile& file) const;
  Result<void> check_beginnings(const std::string& commit, const Choice& choice) const;
};

std::string Pull::path_of(const std::string& commit, const Choice& choice) const {
  return cache.snapshot(commit) + (choice.model.empty() ? "" : "/" + choice.model);
}

Result<Listing> Pull::cached_listing() const {
  const std::optional<std::string> commit = cache.commit_of(name.revision);
  if (commit) {
    Listing listing{.commit = *commit, .files = cache.files_of(*commit)};
    if (!listing.files.empty()) return listing;
  }
  return fail(ErrorCode::kNotFound, "{}: it is not in the cache ({})", name.repo, cache.root());
}

Result<std::string> Pull::cached_model() const {
  TRY(const Listing listing, cached_listing());
  TRY(const Choice choice, choose(listing, name.file, name.repo));
  if (!is_complete(choice, cache.snapshot(listing.commit))) {
    return fail(ErrorCode::kNotFound, "{}: only some of its files are in the cache ({})", name.repo, cache.root());
  }
  return path_of(listing.commit, choice);
}

// The path of a file's bytes on this machine; empty if they must be fetched.
std::string Pull::path_here(const std::string& commit, const RemoteFile& file) const {
  if (cache.has(commit, file)) return cache.snapshot(commit) + "/" + file.path;
  return cache.has_blob(file) ? cache.blob(file.etag) : "";
}

// Calls options.check for a model of which something must still be fetched.
Result<void> Pull::check_beginnings(const std::string& commit, const Choice& choice) const {
  const bool is_there =
      std::ranges::all_of(choice.files, [&](const RemoteFile& file) { return !path_here(commit, file).empty(); });
  const bool is_model = choice.model.empty() || choice.model.ends_with(".gguf");
  if (!options.check || is_there || !is_model) return {};
  std::list<Beginning> beginnings;  // a list: the previews keep their addresses
  std::vector<FilePreview> files;
  for (const RemoteFile& file : choice.files) {
    TRY(const RemoteFile complete, hub.complete(commit, file));
    Beginning& beginning = beginnings.emplace_back(hub.http(), hub.address(commit, file.path), *complete.size,
                                                   path_here(commit, complete));
    files.push_back({.path = name.repo + "/" + file.path,
                     .bytes = *complete.size,
                     .read_beginning = [&beginning](MutableBytes into) { return beginning.read(into); }});
  }
  Result<void> checked = options.check(files);
  if (options.stop.stop_requested()) return fail(ErrorCode::kInterrupted, "interrupted");
  // If a beginning cannot be read, go on: the model is checked when it is loaded, and the download reports host errors.
  return std::ranges::any_of(beginnings, &Beginning::failed) ? Result<void>() : checked;
}

Result<std::string> Pull::run() {
  if (settings.offline || options.prefer_cached) {
    const Result<std::string> cached = cached_model();
    if (cached) return cached;
    if (settings.offline) {
      return fail(cached.error().code, "{}; there is no network (HF_HUB_OFFLINE) to get it from",
                  cached.error().message);
    }
  }
  const Result<Listing> listing = hub.list();
  if (!listing) {
    const Result<std::string> cached = cached_model();
    if (listing.error().code != ErrorCode::kIo || !cached) return std::unexpected(listing.error());
    warn("{}; using what the cache has", listing.error().message);
    return cached;
  }
  TRY(const Choice choice, choose(*listing, name.file, name.repo));
  TRY_STATUS(check_beginnings(listing->commit, choice));
  TRY_STATUS(Fetcher(hub, cache, options).fetch_all(listing->commit, choice.files));
  // Done last, so that until then the revision means the files that are there.
  TRY_STATUS(cache.write_reference(name.revision, listing->commit));
  return path_of(listing->commit, choice);
}

Result<Listing> Pull::files() {
  if (settings.offline) return cached_listing();
  Result<Listing> listing = hub.list();
  if (listing || listing.error().code != ErrorCode::kIo) return listing;
  Result<Listing> cached = cached_listing();
  if (!cached) return listing;
  warn("{}; listing what the cache has", listing.error().message);
  return cached;
}

Result<Pull> prepare(const std::string& model, const HubOptions& options) {
  TRY(ModelName name, parse_model_name(model));
  TRY(Settings settings, settings_from(options, [](const char* variable) { return std::getenv(variable); }));
  HttpOptions http{
      .token = settings.token, .connections = std::clamp(options.connections, 1, 64), .stop = options.stop};
  if (options.on_note) http.on_note = options.on_note;
  Cache cache(settings.cache_dir, name.repo);
  Hub hub(settings.endpoint, name, std::move(http));
  return Pull{options, std::move(settings), std::move(name), std::move(cache), std::move(hub)};
}

}  // namespace
}  // namespace hub

Result<std::string> hub_pull(const std::string& model, const HubOptions& options) {
  TRY(hub::Pull pull, hub::prepare(model, options));
  return pull.run();
}

Result<std::vector<HubFile>> hub_list(const std::string& model, const HubOptions& options) {
  TRY(hub::Pull pull, hub::prepare(model, options));
  TRY(const hub::Listing listing, pull.files());
  std::vector<HubFile> files;
  for (const hub::RemoteFile& file : listing.files) files.push_back({.path = file.path, .bytes = file.size});
  std::ranges::sort(files, {}, &HubFile::path);
  return files;
}

}  // namespace tern
