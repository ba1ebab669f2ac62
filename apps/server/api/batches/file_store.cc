#include "server/api/batches/file_store.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/result.h"
#include "base/text/format_text.h"
#include "server/api/replies/answer.h"
#include "tern/tools.h"

namespace tern::server {
namespace {

bool is_id(std::string_view text) {
  const auto is_sane = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  };
  return !text.empty() && text.size() < 100 && std::ranges::all_of(text, is_sane);
}

Result<StoredFile> file_of(const std::string& path, const Json& note) {
  Fields fields(note);
  StoredFile file;
  constexpr double kMost = 9e15;
  int64_t bytes = 0, number = 0;
  fields.read("id", file.id);
  fields.read("filename", file.filename);
  fields.read("purpose", file.purpose);
  fields.read("bytes", bytes, {0, kMost});
  fields.read("created_at", file.created_at, {0, kMost});
  fields.read("expires_at", file.expires_at, {0, kMost});
  fields.read("number", number, {0, kMost});
  file.bytes = static_cast<uint64_t>(bytes);
  file.number = static_cast<uint64_t>(number);
  if (fields.check() && is_id(file.id) && path.ends_with("/" + file.id + ".json")) return file;
  return fail(ErrorCode::kCorruption, "{}: is nothing that this server has written; move it elsewhere", path);
}

}  // namespace

Result<Json> read_note(const std::string& path) {
  const Result<std::string> text = read_text(path);
  if (!text) return std::unexpected(text.error());
  Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) return json;
  return fail(ErrorCode::kCorruption, "{}: is nothing that this server has written; move it elsewhere", path);
}

Json StoredFile::json() const {
  Json json = {{"id", id},
               {"object", "file"},
               {"bytes", bytes},
               {"created_at", created_at},
               {"filename", filename},
               {"purpose", purpose},
               {"status", "processed"}};
  if (expires_at > 0) json["expires_at"] = expires_at;
  return json;
}

Result<std::unique_ptr<FileStore>> FileStore::open(const std::string& folder, const std::set<std::string>& unfinished) {
  if (auto made = make_folder(folder); !made) return std::unexpected(made.error());
  std::unique_ptr<FileStore> store(new FileStore(folder));
  if (auto loaded = store->load(unfinished); !loaded) return std::unexpected(loaded.error());
  return store;
}

Result<void> FileStore::load(const std::set<std::string>& unfinished) {
  const auto names = files_in(folder_);
  if (!names) return std::unexpected(names.error());
  for (const std::string& name : *names) {
    if (!name.ends_with(".json")) continue;
    const std::string path = folder_ + "/" + name;
    const Result<Json> note = read_note(path);
    if (!note) return std::unexpected(note.error());
    Result<StoredFile> file = file_of(path, *note);
    if (!file) return std::unexpected(file.error());
    n_ever_ = std::max(n_ever_, file->number);
    const std::string id = file->id;
    files_[id] = *std::move(file);
  }
  for (const std::string& name : *names) {
    const bool is_part = name.ends_with(".part") || name.ends_with(".partial");
    const std::string id = name.substr(0, name.find('.'));
    const bool is_orphan = name.ends_with(".data") && !files_.contains(id) && !unfinished.contains(id);
    if (!is_part && !is_orphan) continue;
    if (auto removed = remove_file(folder_ + "/" + name); !removed) return removed;
  }
  std::error_code error;
  std::erase_if(files_, [&](const auto& entry) { return !std::filesystem::exists(path_of(entry.first), error); });
  return {};
}

Result<StoredFile> FileStore::add(StoredFile file, int64_t lifetime) {
  file.created_at = unix_seconds();
  if (lifetime > 0) file.expires_at = file.created_at + lifetime;
  file.number = ++n_ever_;
  Json note = file.json();
  note["number"] = file.number;
  if (auto written = write_file(note_of(file.id), dump(note)); !written) return std::unexpected(written.error());
  files_[file.id] = file;
  return file;
}

Result<StoredFile> FileStore::keep(const std::string& id, NewFile content, const std::string& filename,
                                   int64_t lifetime) {
  const uint64_t bytes = content.bytes();
  if (auto kept = content.keep(); !kept) return std::unexpected(kept.error());
  const std::scoped_lock lock(mutex_);
  auto added = add({.id = id, .filename = filename, .purpose = "batch", .bytes = bytes}, lifetime);
  if (!added) [[maybe_unused]]
    const auto removed = remove_file(path_of(id));
  return added;
}

Result<StoredFile> FileStore::adopt(const std::string& id, const std::string& path, const std::string& filename,
                                    int64_t lifetime) {
  const std::scoped_lock lock(mutex_);
  if (const auto there = files_.find(id); there != files_.end()) return there->second;
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    if (auto moved = move_file(path, path_of(id)); !moved) return std::unexpected(moved.error());
  }
  const uint64_t bytes = std::filesystem::file_size(path_of(id), error);
  if (error) {
    return fail(ErrorCode::kIo, "{}: cannot be read: {}", path_of(id), error.message());
  }
  return add({.id = id, .filename = filename, .purpose = "batch_output", .bytes = bytes}, lifetime);
}

std::optional<StoredFile> FileStore::find(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  erase_expired();
  const auto found = files_.find(id);
  return found == files_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<StoredFile> FileStore::all() {
  const std::scoped_lock lock(mutex_);
  erase_expired();
  std::vector<StoredFile> list;
  for (const auto& [id, file] : files_) list.push_back(file);
  std::ranges::sort(list, {}, &StoredFile::number);
  return list;
}

ApiResult<bool> FileStore::remove(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  if (!files_.contains(id)) return false;
  if (const auto reader = readers_.find(id); reader != readers_.end()) {
    return std::unexpected(
        ApiError{.status = 409,
                 .message = format_text("file_id: {} is being read by {}; cancel that first, or wait for it", id,
                                        *reader->second.begin()),
                 .param = "file_id",
                 .code = "file_in_use"});
  }
  if (auto erased = erase(id); !erased) return std::unexpected(api_error(erased.error()));
  return true;
}

// Removes the note first: a file without a note is removed when the server restarts.
Result<void> FileStore::erase(const std::string& id) {
  if (auto removed = remove_file(note_of(id)); !removed) return removed;
  files_.erase(id);
  return remove_file(path_of(id));
}

void FileStore::erase_expired() {
  const int64_t now = unix_seconds();
  std::vector<std::string> expired;
  for (const auto& [id, file] : files_) {
    if (file.expires_at > 0 && file.expires_at <= now && !readers_.contains(id)) expired.push_back(id);
  }
  for (const std::string& id : expired) {
    if (!erase(id)) files_.erase(id);
  }
}

bool FileStore::hold(const std::string& id, const std::string& reader) {
  const std::scoped_lock lock(mutex_);
  erase_expired();
  if (!files_.contains(id)) return false;
  readers_[id].insert(reader);
  return true;
}

void FileStore::release(const std::string& id, const std::string& reader) {
  const std::scoped_lock lock(mutex_);
  const auto found = readers_.find(id);
  if (found == readers_.end()) return;
  found->second.erase(reader);
  if (found->second.empty()) readers_.erase(found);
}

}  // namespace tern::server
