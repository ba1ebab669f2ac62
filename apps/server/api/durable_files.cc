#include "server/api/durable_files.h"

#include <filesystem>
#include <span>

#include "base/result.h"
#include "base/text/format_text.h"

namespace tern::server {
namespace {

using platform::DiskFile;

Result<void> sync_folder_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  const auto synced = platform::sync_folder(folder);
  return synced ? Result<void>() : disk_error(folder, "cannot be written", synced.error());
}

}  // namespace

std::unexpected<Error> disk_error(const std::string& path, std::string_view what, std::error_code why) {
  const bool is_absent = why == std::errc::no_such_file_or_directory;
  return fail(is_absent ? ErrorCode::kNotFound : ErrorCode::kIo, "{}: {}: {}", path, what, why.message());
}

Result<NewFile> NewFile::create(const std::string& path) {
  auto draft = DraftFile::create(path, {.readers = DiskFile::Readers::kUser});
  if (!draft) return disk_error(path, "cannot be made", draft.error());
  return NewFile(path, *std::move(draft));
}

Result<void> NewFile::add(std::string_view bytes) {
  const auto written = draft_.file().write(std::as_bytes(std::span(bytes)));
  if (!written) return disk_error(path_, "cannot be written", written.error());
  bytes_ += bytes.size();
  return {};
}

Result<void> NewFile::keep() {
  if (const auto synced = draft_.file().sync(); !synced) return disk_error(path_, "cannot be written", synced.error());
  if (const auto kept = draft_.keep(); !kept) return disk_error(path_, "cannot be made", kept.error());
  return sync_folder_of(path_);
}

Result<void> write_file(const std::string& path, std::string_view text) {
  auto file = NewFile::create(path);
  if (!file) return std::unexpected(file.error());
  if (auto added = file->add(text); !added) return added;
  return file->keep();
}

Result<void> move_file(const std::string& from, const std::string& to) {
  if (const auto moved = platform::replace_file(from, to); !moved)
    return disk_error(to, "cannot be made", moved.error());
  return sync_folder_of(to);
}

Result<void> remove_file(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) return disk_error(path, "cannot be removed", error);
  return sync_folder_of(path);
}

Result<void> make_folder(const std::string& path) {
  std::error_code error;
  if (std::filesystem::create_directories(path, error)) {
    std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
  }
  if (!error && std::filesystem::is_directory(path, error)) return {};
  return fail(ErrorCode::kIo, "{}: the folder cannot be made: {}", path,
              error ? error.message() : "there is a file of that name");
}

Result<std::vector<std::string>> files_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    names.push_back(entries->path().filename().string());
  }
  if (!error) return names;
  return fail(ErrorCode::kIo, "{}: cannot be read: {}", folder, error.message());
}

Result<FileLock> FileLock::take(const std::string& path, const std::string& taken) {
  auto file = DiskFile::open(path, DiskFile::Mode::kReadWrite, DiskFile::Readers::kUser);
  if (!file) return disk_error(path, "cannot be written", file.error());
  const auto locked = platform::try_lock_file(*file);
  if (!locked) return disk_error(path, "cannot be locked", locked.error());
  if (!*locked) return fail(ErrorCode::kIo, "{}", taken);
  return FileLock(std::move(*file));
}

Result<FileLock> FileLock::wait_for(const std::string& path) {
  auto file = DiskFile::open(path, DiskFile::Mode::kReadWrite);
  if (!file) return disk_error(path, "cannot be written", file.error());
  if (const auto locked = platform::lock_file(*file); !locked)
    return disk_error(path, "cannot be locked", locked.error());
  return FileLock(std::move(*file));
}

}  // namespace tern::server
