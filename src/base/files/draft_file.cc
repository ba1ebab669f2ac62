#include "base/files/draft_file.h"

#include <atomic>
#include <charconv>
#include <filesystem>
#include <random>
#include <span>
#include <utility>

#include "base/platform/process.h"
#include "base/platform/unnamed_file.h"
#include "base/text/format_text.h"

namespace tern {
namespace {

namespace fs = std::filesystem;
using platform::DiskFile;
using platform::SystemResult;

constexpr std::string_view kEnding = ".partial";

fs::path folder_of(const std::string& target) {
  const fs::path folder = fs::path(target).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// The process id, a random number and a count make the name unique, also among machines that share a disk. So the name
// can be listed before there is a file: no signal finds one that is not listed.
std::string new_name(const std::string& target) {
  static std::atomic<unsigned> next = std::random_device()();
  return format_text("{}.{}-{}{}", target, platform::process_id(), next++, kEnding);
}

bool skip_number(std::string_view& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

// True of "TARGET.PID-N.partial".
bool is_draft_of(std::string_view target, std::string_view name) {
  if (!name.starts_with(target)) return false;
  name.remove_prefix(target.size());
  if (!name.starts_with('.')) return false;
  name.remove_prefix(1);
  if (!skip_number(name) || !name.starts_with('-')) return false;
  name.remove_prefix(1);
  return skip_number(name) && name == kEnding;
}

// Removes drafts whose writers have ended: those that nothing has locked.
void remove_stale(const std::string& target) {
  const std::string name = fs::path(target).filename().string();
  std::error_code error;
  fs::directory_iterator entries(folder_of(target), error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (!is_draft_of(name, entries->path().filename().string())) continue;
    const std::string path = entries->path().string();
    const auto file = DiskFile::open(path, DiskFile::Mode::kWrite);
    if (!file) continue;
    const auto locked = platform::try_lock_file(*file);
    std::error_code ignored;
    if (locked && *locked) fs::remove(path, ignored);
  }
}

struct NamedFile {
  DiskFile file;
  std::string name;
  UnfinishedFile listed;
};

// Creates and locks a draft with a name.
SystemResult<NamedFile> open_named(const std::string& target, DiskFile::Readers readers) {
  constexpr int kTries = 100;
  std::error_code error = std::make_error_code(std::errc::file_exists);
  for (int i = 0; i < kTries && error == std::errc::file_exists; ++i) {
    std::string name = new_name(target);
    UnfinishedFile listed(name);
    auto file = DiskFile::open(name, DiskFile::Mode::kCreateNew, readers);
    if (!file) {
      error = file.error();
      continue;
    }
    // Where files cannot be locked, no draft can be found stale either.
    const bool is_locked = platform::lock_file(*file).has_value();
    // Between these two calls another process may have taken it for a stale one.
    const auto info = file->info();
    if (is_locked && info && info->n_names == 0) continue;
    return NamedFile{*std::move(file), std::move(name), std::move(listed)};
  }
  return std::unexpected(error);
}

}  // namespace

SystemResult<DraftFile> DraftFile::create(const std::string& path, const Options& options) {
  std::error_code unresolved;
  const fs::path resolved = fs::canonical(path, unresolved);
  const std::string target = unresolved ? path : resolved.string();
  if (options.removes_old_drafts) remove_stale(target);
  if (!options.is_named) {
    auto unnamed = platform::make_unnamed_file(folder_of(target).string(), options.readers);
    if (unnamed) return DraftFile(target, *std::move(unnamed));
  }
  auto named = open_named(target, options.readers);
  if (!named) return std::unexpected(named.error());
  DraftFile draft(target, std::move(named->file));
  draft.partial_ = std::move(named->name);
  draft.listed_.emplace(std::move(named->listed));
  return draft;
}

DraftFile::~DraftFile() {
  if (!file_) return;
  file_.reset();
  std::error_code ignored;
  if (!partial_.empty()) fs::remove(partial_, ignored);
}

// A file without a name cannot replace another one, so it gets a name of its own first. It is locked under that name,
// too, because another process may look for stale ones.
SystemResult<void> DraftFile::give_name() {
  [[maybe_unused]] const auto locked = platform::lock_file(*file_);
  SystemResult<void> named = std::unexpected(std::make_error_code(std::errc::file_exists));
  while (!named && named.error() == std::errc::file_exists) {
    partial_ = new_name(target_);
    listed_.emplace(partial_);
    named = platform::name_file(*file_, partial_);
  }
  if (!named) partial_.clear();
  return named;
}

SystemResult<void> DraftFile::keep() {
  if (partial_.empty()) {
    const auto named = platform::name_file(*file_, target_);
    if (!named && named.error() != std::errc::file_exists) return named;
    if (!named) {
      if (const auto given = give_name(); !given) return given;
    }
  }
  // Before the file is closed: a closed one is not locked, and could be taken for a stale one.
  if (!partial_.empty()) {
    if (const auto renamed = platform::replace_file(partial_, target_); !renamed) return renamed;
  }
  partial_.clear();
  listed_.reset();
  const auto closed = file_->close();
  file_.reset();
  return closed;
}

SystemResult<void> write_text_file(const std::string& path, std::string_view text) {
  const std::span bytes = std::as_bytes(std::span(text));
  if (const auto info = platform::file_info(path); info && info->kind == platform::FileKind::kOther) {
    auto file = DiskFile::open(path, DiskFile::Mode::kWrite);
    if (!file) return std::unexpected(file.error());
    if (auto written = file->write(bytes); !written) return written;
    return file->close();
  }
  auto draft = DraftFile::create(path);
  if (!draft) return std::unexpected(draft.error());
  if (auto written = draft->file().write(bytes); !written) return written;
  return draft->keep();
}

}  // namespace tern
