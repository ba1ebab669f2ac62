#include "server/api/batches/batch_claims.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <span>
#include <utility>

#include "base/platform/disk_file.h"
#include "base/result.h"
#include "base/start_thread.h"
#include "base/text/format_text.h"
#include "server/api/durable_files.h"
#include "tern/tools.h"

namespace tern::server {
namespace {

using platform::DiskFile;
using std::chrono::milliseconds;

constexpr std::string_view kDone = "done";

platform::SystemResult<void> write_draft(const std::string& path, std::string_view text) {
  auto file = DiskFile::open(path, DiskFile::Mode::kReplace);
  if (!file) return std::unexpected(file.error());
  if (const auto written = file->write(std::as_bytes(std::span(text))); !written) return written;
  return file->close();
}

}  // namespace

std::string BatchClaims::range_path(size_t range, std::string_view ending) const {
  return format_text("{}/ranges/{:08}.{}", options_.folder, range, ending);
}

// Creates the file with `text`; true if this call created it. It exists afterwards in any case.
Result<bool> BatchClaims::create_once(const std::string& path, std::string_view text) {
  const std::string draft = format_text("{}/workers/{}.draft{}", options_.folder, options_.worker, n_created_++);
  if (const auto written = write_draft(draft, text); !written)
    return disk_error(draft, "cannot be written", written.error());
  const auto linked = platform::link_file(draft, path);
  // A network file system may repeat a request: then the link exists already, and it is ours.
  const auto info = platform::file_info(draft);
  const bool is_ours = linked || (info && info->n_names == 2);
  std::error_code ignored;
  std::filesystem::remove(draft, ignored);
  if (is_ours || linked.error() == std::errc::file_exists) return is_ours;
  return disk_error(path, "cannot be linked to, which sharing a batch needs; take a folder on another file system",
                    linked.error());
}

Result<std::unique_ptr<BatchClaims>> BatchClaims::open(ClaimOptions options, size_t n_ranges, std::string_view queue) {
  auto claims = std::unique_ptr<BatchClaims>(new BatchClaims(std::move(options), n_ranges));
  if (auto started = claims->start(queue); !started) return std::unexpected(started.error());
  return claims;
}

Result<void> BatchClaims::start(std::string_view queue) {
  for (const std::string& folder : {options_.folder, options_.folder + "/ranges", options_.folder + "/workers"}) {
    if (auto made = make_folder(folder); !made) return made;
  }
  const std::string path = options_.folder + "/queue";
  if (const Result<bool> created = create_once(path, queue); !created) return std::unexpected(created.error());
  const Result<std::string> there = read_text(path);
  if (!there) return std::unexpected(there.error());
  if (*there != queue) {
    return fail(ErrorCode::kInvalidArgument, "{}: belongs to other requests; name another folder", options_.folder);
  }
  const std::string beat = options_.folder + "/workers/" + options_.worker;
  if (const auto made = DiskFile::open(beat, DiskFile::Mode::kReadWrite); !made)
    return disk_error(beat, "cannot be written", made.error());
  beat_once();
  Result<std::jthread> heart =
      start_thread("signs of life", [this](const std::stop_token& stop) { touch_until(stop); });
  if (!heart) return std::unexpected(heart.error());
  heart_ = *std::move(heart);
  const std::scoped_lock lock(mutex_);
  if (auto looked = look(); !looked) return looked;
  for (size_t range = 0; range < states_.size(); ++range) {
    if (states_[range] == State::kTaken && owner(range) == options_.worker) from_before_.push_back(range);
  }
  return {};
}

BatchClaims::~BatchClaims() {
  heart_.request_stop();
  if (heart_.joinable()) heart_.join();
  std::error_code ignored;
  std::filesystem::remove(options_.folder + "/workers/" + options_.worker, ignored);
}

void BatchClaims::touch_until(const std::stop_token& stop) {
  std::unique_lock lock(sleep_mutex_);
  while (!sleep_.wait_for(lock, stop, options_.lease / 6, [&] { return stop.stop_requested(); })) {
    if (stop.stop_requested()) return;
    beat_once();
  }
}

// A worker whose signs of life cannot be written is taken for dead, which costs time and nothing else.
void BatchClaims::beat_once() const {
  [[maybe_unused]] const auto touched = platform::touch_file(options_.folder + "/workers/" + options_.worker);
}

Result<void> BatchClaims::look() {
  const Result<std::vector<std::string>> names = files_in(options_.folder + "/ranges");
  if (!names) return std::unexpected(names.error());
  for (const std::string& name : *names) {
    size_t range = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), range);
    if (error != std::errc() || range >= states_.size() || *end != '.') continue;
    const std::string_view ending(end + 1, name.data() + name.size());
    if (ending == kDone) {
      states_[range] = State::kDone;
      continue;
    }
    int taking = 0;
    std::from_chars(ending.data(), ending.data() + ending.size(), taking);
    taken_[range] = std::max(taken_[range], taking + 1);
    if (states_[range] == State::kFree) states_[range] = State::kTaken;
  }
  return {};
}

// The worker that has the range; empty if the file cannot be read.
std::string BatchClaims::owner(size_t range) const {
  return read_text(range_path(range, std::to_string(taken_[range] - 1))).value_or("");
}

bool BatchClaims::is_dead(const std::string& worker) {
  if (worker.empty()) return false;
  // Opens the file because a network file system refreshes attributes at open.
  const auto file = DiskFile::open(options_.folder + "/workers/" + worker, DiskFile::Mode::kRead);
  if (!file) return file.error() == std::errc::no_such_file_or_directory;
  const auto info = file->info();
  const auto now = std::chrono::steady_clock::now();
  Seen& seen = seen_[worker];
  if (!info || info->written_ns != seen.written_ns) {
    seen = {info ? info->written_ns : 0, now};
    return false;
  }
  return now - seen.at > options_.lease;
}

Result<std::optional<BatchClaims::Claim>> BatchClaims::claim(size_t range, int taking, bool was_begun) {
  const Result<bool> is_ours = create_once(range_path(range, std::to_string(taking)), options_.worker);
  if (!is_ours) return std::unexpected(is_ours.error());
  taken_[range] = std::max(taken_[range], taking + 1);
  states_[range] = *is_ours ? State::kOurs : State::kTaken;
  return *is_ours ? std::optional(Claim{range, was_begun}) : std::nullopt;
}

Result<std::optional<BatchClaims::Claim>> BatchClaims::next() {
  const std::scoped_lock lock(mutex_);
  while (!from_before_.empty()) {
    const size_t range = from_before_.back();
    from_before_.pop_back();
    if (states_[range] == State::kTaken && owner(range) == options_.worker) {
      states_[range] = State::kOurs;
      return Claim{range, true};
    }
  }
  for (; n_looked_at_ < states_.size(); ++n_looked_at_) {
    const size_t range = (options_.first + n_looked_at_) % states_.size();
    if (states_[range] != State::kFree) continue;
    auto claimed = claim(range, 0, /*was_begun=*/false);
    if (!claimed || *claimed) return claimed;
  }
  if (auto looked = look(); !looked) return std::unexpected(looked.error());
  for (size_t range = 0; range < states_.size(); ++range) {
    if (states_[range] != State::kTaken || !is_dead(owner(range))) continue;
    auto claimed = claim(range, taken_[range], /*was_begun=*/true);
    if (!claimed || *claimed) return claimed;
  }
  return std::nullopt;
}

Result<void> BatchClaims::finish(size_t range) {
  const std::scoped_lock lock(mutex_);
  const Result<bool> created = create_once(range_path(range, kDone), options_.worker);
  if (!created) return std::unexpected(created.error());
  states_[range] = State::kDone;
  return {};
}

Result<bool> BatchClaims::all_are_done() {
  const std::scoped_lock lock(mutex_);
  if (auto looked = look(); !looked) return std::unexpected(looked.error());
  return std::ranges::all_of(states_, [](State state) { return state == State::kDone; });
}

milliseconds BatchClaims::pause() const {
  return std::clamp(options_.lease / 10, milliseconds(20), milliseconds(1000));
}

}  // namespace tern::server
