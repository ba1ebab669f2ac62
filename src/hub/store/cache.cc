#include "hub/store/cache.h"

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "base/files/draft_file.h"
#include "base/files/mapped_file.h"
#include "base/platform/disk_file.h"
#include "base/platform/process.h"
#include "hub/store/model_name.h"
#include "hub/store/partial_file.h"

namespace tern::hub {
namespace {

namespace fs = std::filesystem;

std::string folder_name(std::string repo) { return "models--" + repo.replace(repo.find('/'), 1, "--"); }

// A unique name beside `path`, because two processes or threads may write the same file at once.
std::string temporary_name(const fs::path& path) {
  static std::atomic<int> count = 0;
  return path.string() + format_text(".{}-{}.tmp", platform::process_id(), count.fetch_add(1));
}

Result<void> make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return disk_error(path.string(), "create", error);
  return {};
}

// True of file systems without symbolic links, and on Windows for users that may not make them.
bool has_no_links([[maybe_unused]] std::error_code error) {
#ifdef _WIN32
  return true;
#else
  return error == std::errc::operation_not_permitted || error == std::errc::function_not_supported ||
         error == std::errc::operation_not_supported;
#endif
}

bool is_there(const fs::path& path, const std::optional<uint64_t>& size) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  return !size || fs::file_size(path, error) == *size;
}

}  // namespace

Cache::Cache(const std::string& root, const std::string& repo)
    : root_(root), folder_(root + "/" + folder_name(repo)), lock_folder_(root + "/.locks/" + folder_name(repo)) {}

std::string Cache::blob(const std::string& etag) const { return folder_ + "/blobs/" + etag; }
std::string Cache::partial_stem(const std::string& etag) const { return blob(etag) + ".tern"; }
std::string Cache::lock(const std::string& etag) const { return lock_folder_ + "/" + etag + ".lock"; }
std::string Cache::snapshot(const std::string& commit) const { return folder_ + "/snapshots/" + commit; }

std::optional<std::string> Cache::commit_of(const std::string& revision) const {
  std::error_code error;
  if (is_commit(revision)) {
    return fs::is_directory(snapshot(revision), error) ? std::optional(revision) : std::nullopt;
  }
  Result<std::string> commit = read_text_file(folder_ + "/refs/" + revision);
  if (!commit) return std::nullopt;
  commit->erase(commit->find_last_not_of(" \t\r\n") + 1);
  return is_commit(*commit) ? std::optional(*std::move(commit)) : std::nullopt;
}

std::vector<RemoteFile> Cache::files_of(const std::string& commit) const {
  std::vector<RemoteFile> files;
  std::error_code error;
  const fs::path root = snapshot(commit);
  for (fs::recursive_directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code missing;
    const uint64_t size = fs::file_size(entry->path(), missing);
    if (missing) continue;  // a folder, or a dangling link
    files.push_back({.path = entry->path().lexically_relative(root).generic_string(), .size = size});
  }
  std::ranges::sort(files, {}, &RemoteFile::path);
  return files;
}

bool Cache::has(const std::string& commit, const RemoteFile& file) const {
  return is_there(fs::path(snapshot(commit)) / file.path, file.size);
}

bool Cache::has_blob(const RemoteFile& file) const { return is_there(blob(file.etag), file.size); }

Result<void> Cache::make_folders() const {
  TRY_STATUS(make_folder(folder_ + "/blobs"));
  return make_folder(lock_folder_);
}

Result<void> Cache::link(const std::string& commit, const RemoteFile& file) const {
  const fs::path path = fs::path(snapshot(commit)) / file.path;
  TRY_STATUS(make_folder(path.parent_path()));
  const fs::path target = fs::path(blob(file.etag)).lexically_relative(path.parent_path());
  std::error_code error, ignored;
  fs::create_symlink(target, path, error);
  if (!error) return {};
  // An old one is replaced by one with another name, so that readers find the old or the new link.
  const std::string temporary = temporary_name(path);
  fs::create_symlink(target, temporary, error);
  if (!error) {
    const auto renamed = platform::replace_file(temporary, path.string());
    if (renamed) return {};
    fs::remove(temporary, ignored);
    return disk_error(path.string(), "create", renamed.error());
  }
  if (!has_no_links(error)) return disk_error(path.string(), "create", error);
  // Where there are no links, the snapshot has the file itself, as with huggingface_hub.
  const auto moved = platform::replace_file(blob(file.etag), path.string());
  return moved ? Result<void>() : disk_error(path.string(), "create", moved.error());
}

Result<void> Cache::write_reference(const std::string& revision, const std::string& commit) const {
  if (is_commit(revision) || commit_of(revision) == commit) return {};
  const fs::path path = fs::path(folder_) / "refs" / revision;
  TRY_STATUS(make_folder(path.parent_path()));
  const auto written = write_text_file(path.string(), commit);
  return written ? Result<void>() : disk_error(path.string(), "write", written.error());
}

}  // namespace tern::hub
