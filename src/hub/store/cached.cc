// Lists what the cache holds, and removes it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "base/result.h"
#include "hub/store/file_lock.h"
#include "hub/store/model_name.h"
#include "hub/store/partial_file.h"
#include "hub/store/settings.h"
#include "tern/hub.h"

namespace tern {
namespace hub {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "models--";

// A link in a snapshot, and its blob.
struct CachedFile {
  fs::path link;
  std::string path;  // in the repository
  fs::path blob;
  uint64_t bytes = 0;
};

std::string repo_of(const std::string& folder) {
  std::string repo = folder.substr(kPrefix.size());
  const size_t dashes = repo.find("--");
  return dashes == repo.npos ? repo : repo.replace(dashes, 2, "/");
}

std::vector<CachedFile> files_in(const fs::path& folder) {
  std::vector<CachedFile> files;
  std::error_code error;
  for (fs::directory_iterator snapshot(folder / "snapshots", error), end; !error && snapshot != end;
       snapshot.increment(error)) {
    std::error_code inner;
    for (fs::recursive_directory_iterator entry(snapshot->path(), inner), last; !inner && entry != last;
         entry.increment(inner)) {
      std::error_code missing;
      const uint64_t bytes = fs::file_size(entry->path(), missing);
      if (missing) continue;  // a folder, or a dangling link
      files.push_back({.link = entry->path(),
                       .path = entry->path().lexically_relative(snapshot->path()).generic_string(),
                       .blob = fs::weakly_canonical(entry->path(), missing),
                       .bytes = bytes});
    }
  }
  return files;
}

// All parts of a split model share one name: that of the first.
std::string first_part(const std::string& path) {
  constexpr size_t kNumbers = std::string_view("-00001-of-00003.gguf").size();
  if (path.size() <= kNumbers) return path;
  const std::string_view end = std::string_view(path).substr(path.size() - kNumbers);
  if (end.front() != '-' || end.substr(6, 4) != "-of-") return path;
  return path.substr(0, path.size() - kNumbers) + "-00001" + std::string(end.substr(6));
}

bool is_unfinished(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator blob(folder / "blobs", error), end; !error && blob != end; blob.increment(error)) {
    if (blob->path().extension() == ".incomplete") return true;
  }
  return false;
}

void add_models(const fs::path& folder, std::vector<CachedModel>& models) {
  const std::string repo = repo_of(folder.filename().string());
  std::map<std::string, uint64_t> ggufs;
  std::set<fs::path> counted;
  uint64_t all = 0;
  for (const CachedFile& file : files_in(folder)) {
    if (!counted.insert(file.blob).second) continue;  // also in another snapshot
    all += file.bytes;
    if (file.path.ends_with(".gguf")) ggufs[first_part(file.path)] += file.bytes;
  }
  for (const auto& [path, bytes] : ggufs) models.push_back({.name = repo + ":" + path, .bytes = bytes});
  const bool unfinished = is_unfinished(folder);
  if (unfinished || (ggufs.empty() && all > 0))
    models.push_back({.name = repo, .bytes = ggufs.empty() ? all : 0, .unfinished = unfinished});
}

Result<Settings> cache_settings(const HubOptions& options) {
  return settings_from(options, [](const char* variable) { return std::getenv(variable); });
}

// Fails if another process is downloading one of the repository's files.
Result<void> check_idle(const fs::path& locks, const std::string& repo) {
  std::error_code error;
  std::stop_source at_once;
  at_once.request_stop();
  for (fs::directory_iterator lock(locks, error), end; !error && lock != end; lock.increment(error)) {
    if (!FileLock::take(lock->path().string(), at_once.get_token(), [] {}))
      return fail(ErrorCode::kIo, "{}: another process is downloading it; end that first", repo);
  }
  return {};
}

// Removes the links to `paths`, then the blobs without other links. Returns the bytes of those blobs.
Result<uint64_t> remove_files(const fs::path& folder, const std::set<std::string>& paths) {
  std::set<fs::path> removed, kept;
  uint64_t freed = 0;
  for (const CachedFile& file : files_in(folder)) {
    if (!paths.contains(first_part(file.path))) {
      kept.insert(file.blob);
      continue;
    }
    std::error_code error;
    if (!fs::remove(file.link, error) && error) return disk_error(file.link.string(), "remove", error);
    if (removed.insert(file.blob).second) freed += file.bytes;
  }
  for (const fs::path& blob : removed) {
    std::error_code error;
    if (kept.contains(blob)) {
      freed -= fs::file_size(blob, error);
    } else if (!fs::remove(blob, error) && error) {
      return disk_error(blob.string(), "remove", error);
    }
  }
  return freed;
}

Result<uint64_t> remove_repo(const fs::path& folder, const fs::path& locks) {
  uint64_t freed = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored) && !entry->is_symlink(ignored)) freed += entry->file_size(ignored);
  }
  fs::remove_all(folder, error);
  if (error) return disk_error(folder.string(), "remove", error);
  fs::remove_all(locks, error);
  return freed;
}

// The GGUF file in the cache that `name.file` means: its path, or a part of it. kNotFound: none, or several.
Result<std::string> find_gguf(const fs::path& folder, const ModelName& name) {
  std::set<std::string> found;
  std::string all;
  for (const CachedFile& file : files_in(folder)) {
    if (!file.path.ends_with(".gguf")) continue;
    std::string path = first_part(file.path);
    if (path == name.file) return path;
    if (path.contains(name.file) && found.insert(path).second) all += (all.empty() ? "" : ", ") + path;
  }
  if (found.size() == 1) return *found.begin();
  if (found.empty()) return fail(ErrorCode::kNotFound, "{}: no file named '{}' is in the cache", name.repo, name.file);
  return fail(ErrorCode::kNotFound, "{}: several files match '{}': {}; name one of them", name.repo, name.file, all);
}

Result<uint64_t> remove_model(const std::string& text, const HubOptions& options) {
  TRY(const ModelName name, parse_model_name(text));
  TRY(const Settings settings, cache_settings(options));
  std::string folder_name = std::string(kPrefix) + name.repo;
  folder_name.replace(folder_name.find('/'), 1, "--");
  const fs::path folder = fs::path(settings.cache_dir) / folder_name;
  const fs::path locks = fs::path(settings.cache_dir) / ".locks" / folder_name;
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return fail(ErrorCode::kNotFound, "{}: it is not in the cache ({})", name.repo, settings.cache_dir);
  TRY_STATUS(check_idle(locks, name.repo));
  if (name.file.empty()) return remove_repo(folder, locks);
  TRY(const std::string path, find_gguf(folder, name));
  TRY(const uint64_t freed, remove_files(folder, {path}));
  if (files_in(folder).empty() && !is_unfinished(folder)) TRY_STATUS(remove_repo(folder, locks));
  return freed;
}

}  // namespace
}  // namespace hub

Result<std::string> hub_cache_dir(const HubOptions& options) {
  TRY(hub::Settings settings, hub::cache_settings(options));
  return std::move(settings.cache_dir);
}

Result<std::vector<CachedModel>> hub_cached(const HubOptions& options) {
  TRY(const hub::Settings settings, hub::cache_settings(options));
  std::vector<CachedModel> models;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(settings.cache_dir, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with(hub::kPrefix)) hub::add_models(entry->path(), models);
  }
  std::ranges::sort(models, {}, &CachedModel::name);
  return models;
}

Result<uint64_t> hub_remove(const std::string& name, const HubOptions& options) {
  return hub::remove_model(name, options);
}

}  // namespace tern
