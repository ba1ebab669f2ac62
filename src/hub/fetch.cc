#include "hub/fetch.h"

#include <filesystem>

#include "base/text/human_numbers.h"
#include "hub/download.h"
#include "hub/store/digest.h"
#include "hub/store/file_lock.h"

namespace tern::hub {
namespace {

constexpr uint64_t kSpareBytes = 16 << 20;  // for folders, links and state files

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// True if the blob's name is a checksum of its bytes.
bool is_checksum(const std::string& etag) { return is_hex(etag, 64) || is_hex(etag, 40); }

}  // namespace

void Fetcher::note(std::string_view text) const {
  if (options_.on_note) options_.on_note(text);
}

void Fetcher::report(const std::string& what, uint64_t done, uint64_t total) const {
  if (options_.on_progress) options_.on_progress({.what = what, .done = done, .total = total, .unit = "B"});
}

Result<void> Fetcher::fetch_all(const std::string& commit, const std::vector<RemoteFile>& files) {
  std::vector<RemoteFile> missing;
  for (const RemoteFile& file : files) {
    if (cache_.has(commit, file)) continue;
    TRY(RemoteFile complete, hub_.complete(commit, file));
    missing.push_back(std::move(complete));
  }
  if (missing.empty()) return {};
  TRY_STATUS(cache_.make_folders());
  TRY_STATUS(check_space(missing));
  label_ = missing.size() == 1 ? "downloading " + base_name(missing.front().path)
                               : format_text("downloading {} files", missing.size());
  for (const RemoteFile& file : missing) total_ += *file.size;
  for (const RemoteFile& file : missing) {
    TRY_STATUS(fetch(commit, file));
    before_ += *file.size;
  }
  return {};
}

Result<void> Fetcher::check_space(const std::vector<RemoteFile>& missing) const {
  uint64_t needed = 0;
  for (const RemoteFile& file : missing) {
    if (cache_.has_blob(file)) continue;
    const uint64_t there = bytes_on_disk(cache_.partial_stem(file.etag));
    if (*file.size > there) needed += *file.size - there;
  }
  std::error_code unknown;
  const uint64_t available = std::filesystem::space(cache_.root(), unknown).available;
  if (needed == 0 || unknown || needed + kSpareBytes <= available) return {};
  return fail(ErrorCode::kIo,
              "{}: {} are needed and {} are free; free some space, or set HF_HUB_CACHE to a directory on another disk",
              cache_.root(), human_bytes(needed), human_bytes(available));
}

Result<void> Fetcher::fetch(const std::string& commit, const RemoteFile& file) {
  if (!cache_.has_blob(file)) {
    const auto on_wait = [&] { note(format_text("another process is downloading {}; waiting for it", file.path)); };
    TRY(const FileLock lock, FileLock::take(cache_.lock(file.etag), options_.stop, on_wait));
    // The process that held the lock may have downloaded it.
    if (!cache_.has_blob(file)) TRY_STATUS(fetch_blob(commit, file));
  }
  return cache_.link(commit, file);
}

Result<void> Fetcher::fetch_blob(const std::string& commit, const RemoteFile& file) {
  TRY(Outcome outcome, fetch_once(commit, file));
  if (outcome == Outcome::kWrongSinceEarlier) {
    // Bytes from an earlier run may have been lost in a power cut. That is not the host's fault, so try once more.
    note(format_text("{}: what an earlier run left behind is damaged; downloading it again", file.path));
    TRY(outcome, fetch_once(commit, file));
  }
  if (outcome == Outcome::kRight) return {};
  return fail(
      ErrorCode::kCorruption,
      "{}: the checksum is not the one that the hub announced, so the download is deleted; pull again; if that does "
      "not help, something on the way alters it",
      file.path);
}

Result<Fetcher::Outcome> Fetcher::fetch_once(const std::string& commit, const RemoteFile& file) {
  TRY(PartialFile partial, PartialFile::open(cache_.partial_stem(file.etag), *file.size, chunk_bytes_for(*file.size)));
  const bool resumed = partial.resumed();
  if (resumed)
    note(format_text("{}: {} of {} are here already", file.path, human_bytes(partial.bytes_done()),
                     human_bytes(*file.size)));
  const auto on_progress = [&](uint64_t done) { report(label_, before_ + done, total_); };
  const Result<DownloadStatus> got =
      download(hub_.http(), hub_.address(commit, file.path), file.path, partial, on_progress);
  const bool worthless =
      got ? got->status != 0 && partial.bytes_done() == 0 : got.error().code == ErrorCode::kCorruption;
  if (worthless) partial.discard();
  if (!got) return std::unexpected(got.error());
  if (got->status != 0) return hub_.refusal(got->status, got->error_code, file.path);
  TRY(const bool right, check(file, partial.path()));
  if (right) {
    TRY_STATUS(partial.finish(cache_.blob(file.etag)));
    return Outcome::kRight;
  }
  partial.discard();
  return resumed ? Outcome::kWrongSinceEarlier : Outcome::kWrong;
}

Result<bool> Fetcher::check(const RemoteFile& file, const std::string& path) const {
  if (!is_checksum(file.etag)) {
    note(format_text("{}: the hub gives no checksum, so only the size was checked", file.path));
    return true;
  }
  const auto on_progress = [&](uint64_t done) {
    report("checking " + base_name(file.path), done, *file.size);
    return !options_.stop.stop_requested();
  };
  TRY(const std::string digest, digest_like(file.etag, path, on_progress));
  return digest == file.etag;
}

}  // namespace tern::hub
