#include "server/api/batches/batch_share.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text/format_text.h"
#include "server/api/batches/batch_answers.h"
#include "server/api/batches/batch_claims.h"
#include "server/api/durable_files.h"

namespace tern::server {
namespace {

using Ids = std::unordered_set<std::string>;

std::string part_name(std::string_view worker) { return format_text("part-{}.jsonl", worker); }

std::error_code last_error() { return {errno, std::generic_category()}; }  // of streams

// Small enough to keep all workers busy until the end, large enough to keep the number of files low. It must be the
// same for every worker.
size_t range_size(size_t n_requests) { return std::clamp<size_t>(n_requests / 512, 1, 64); }
size_t n_ranges(size_t n_requests) { return (n_requests + range_size(n_requests) - 1) / range_size(n_requests); }

// Identifies a file of requests: FNV-1a hash of all its bytes.
Result<std::string> queue_of(const std::string& path, size_t n_requests) {
  std::ifstream file(std::filesystem::path(path), std::ios::binary);
  uint64_t hash = 0xcbf29ce484222325;
  for (std::array<char, 1 << 16> piece; file.read(piece.data(), piece.size()) || file.gcount() > 0;) {
    for (const char byte : std::string_view(piece.data(), static_cast<size_t>(file.gcount()))) {
      hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    }
  }
  if (!file.eof()) return disk_error(path, "cannot be read", last_error());
  return format_text("{} requests, {} in a range, hash {:016x}\n", n_requests, range_size(n_requests), hash);
}

// Calls `take` for each complete line of answers. A line without a line end is incomplete.
Result<void> each_answer(const std::string& path,
                         const std::function<Result<void>(std::string_view, std::string)>& take) {
  std::ifstream file(std::filesystem::path(path), std::ios::binary);
  if (!file) return disk_error(path, "cannot be read", last_error());
  for (std::string line; std::getline(file, line) && !file.eof();) {
    std::optional<std::string> id = answered_id(line);
    if (!id) continue;
    if (auto taken = take(line, *std::move(id)); !taken) return taken;
  }
  if (file.bad()) return disk_error(path, "cannot be read", last_error());
  return {};
}

// The files with answers: `out` if it exists, then the parts, by name.
Result<std::vector<std::string>> files_of_answers(const std::string& out, const std::string& folder) {
  auto names = files_in(folder);
  if (!names) return std::unexpected(names.error());
  std::ranges::sort(*names);
  std::vector<std::string> paths;
  std::error_code ignored;
  if (std::filesystem::exists(out, ignored)) paths.push_back(out);
  for (const std::string& name : *names) {
    if (name.starts_with("part-") && name.ends_with(".jsonl")) paths.push_back(folder + "/" + name);
  }
  return paths;
}

// `out` will be replaced. It must be a file of answers to these requests, or be absent from a writable folder.
Result<void> check_out(const std::string& out, const BatchInput& input) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::exists(out, error)) {
    const fs::path folder = fs::absolute(out, error).parent_path();
    if (::access(folder.string().c_str(), W_OK) == 0) return {};
    return disk_error(folder.string(), "cannot be written", last_error());
  }
  const auto refuse = [&](std::string_view why) { return fail(ErrorCode::kInvalidArgument, "{}: {}", out, why); };
  if (!fs::is_regular_file(out, error)) return refuse("is no regular file, in which a batch could go on");
  Ids wanted;
  for (size_t i = 0; i < input.n_requests(); ++i) wanted.insert(input.custom_id(i));
  std::ifstream file(std::filesystem::path(out), std::ios::binary);
  if (!file) return disk_error(out, "cannot be read", last_error());
  for (std::string line; std::getline(file, line);) {
    if (file.eof() && line.starts_with('{')) break;  // incomplete line
    const std::optional<std::string> id = answered_id(line);
    if (!id) return refuse("is no file of answers; name another");
    if (!wanted.contains(*id)) {
      return refuse("has answers to requests that are not in the batch; name another file");
    }
  }
  return {};
}

Result<void> add_ids(const std::string& out, const std::string& folder, Ids& ids) {
  const auto paths = files_of_answers(out, folder);
  if (!paths) return std::unexpected(paths.error());
  for (const std::string& path : *paths) {
    auto read = each_answer(path, [&](std::string_view, std::string id) -> Result<void> {
      ids.insert(std::move(id));
      return {};
    });
    if (!read) return read;
  }
  return {};
}

// True if `out` is complete already, so that the last workers need not merge again.
bool has_all(const std::string& out, size_t n_requests) {
  Ids ids;
  size_t n_lines = 0;
  const auto read = each_answer(out, [&](std::string_view, std::string id) -> Result<void> {
    ids.insert(std::move(id));
    ++n_lines;
    return {};
  });
  return read && n_lines == n_requests && ids.size() == n_requests;  // all belong to the batch: see check_out()
}

Result<size_t> merge(const BatchInput& input, const std::string& out, const std::string& folder) {
  if (auto fine = check_out(out, input); !fine) return std::unexpected(fine.error());
  const auto lock = FileLock::wait_for(folder + "/merging");  // one worker at a time: the second finds `out` complete
  if (!lock) return std::unexpected(lock.error());
  if (has_all(out, input.n_requests())) return input.n_requests();
  Ids wanted;
  for (size_t i = 0; i < input.n_requests(); ++i) wanted.insert(input.custom_id(i));
  const auto paths = files_of_answers(out, folder);
  if (!paths) return std::unexpected(paths.error());
  auto file = NewFile::create(std::filesystem::absolute(out).string());
  if (!file) return std::unexpected(file.error());
  for (const std::string& path : *paths) {
    auto read = each_answer(path, [&](std::string_view line, const std::string& id) -> Result<void> {
      if (wanted.erase(id) == 0) return {};
      return file->add(std::string(line) + "\n");
    });
    if (!read) return std::unexpected(read.error());
  }
  if (!wanted.empty()) {
    return fail(ErrorCode::kNotFound,
                "{}: {} of {} requests have no answer yet; run 'tern batch' with --share and without --merge", folder,
                wanted.size(), input.n_requests());
  }
  if (auto kept = file->keep(); !kept) return std::unexpected(kept.error());
  return input.n_requests();
}

// The requests that this worker takes from the queue. Its threads take them one by one.
class Worker {
 public:
  Worker(const BatchInput& input, const std::string& out, const ShareOptions& share, BatchClaims& claims,
         BatchAnswers& answers)
      : input_(input), out_(out), share_(share), claims_(claims), answers_(answers) {
    for (size_t i = 0; i < input.n_requests(); ++i) index_of_.emplace(input.custom_id(i), i);
  }

  // Waits while other workers hold the remaining requests, in case one dies. None: all is done, or no longer wanted.
  Result<std::optional<size_t>> next(const std::function<bool()>& is_wanted) {
    const std::scoped_lock lock(queue_mutex_);
    while (queue_.empty()) {
      if (!is_wanted()) return std::nullopt;
      const auto claim = claims_.next();
      if (!claim) return std::unexpected(claim.error());
      if (*claim) {
        if (auto opened = open(**claim); !opened) return std::unexpected(opened.error());
        continue;
      }
      const Result<bool> is_over = claims_.all_are_done();
      if (!is_over) return std::unexpected(is_over.error());
      if (*is_over) return std::nullopt;
      std::this_thread::sleep_for(claims_.pause());
    }
    const size_t index = queue_.front();
    queue_.pop_front();
    return index;
  }

  Result<void> have_answered(const std::string& custom_id) {
    const size_t range = index_of_.at(custom_id) / range_size(input_.n_requests());
    {
      const std::scoped_lock lock(left_mutex_);
      if (--left_[range] > 0) return {};
    }
    return finish(range);
  }

  // Call it before next().
  Result<void> read_those_there() { return add_ids(out_, share_.folder, there_); }
  const Ids& there() const { return there_; }

 private:
  Result<void> open(const BatchClaims::Claim& claim) {
    if (claim.was_begun) {
      if (auto read = read_those_there(); !read) return read;
    }
    const size_t size = range_size(input_.n_requests());
    const size_t first = claim.range * size;
    for (size_t i = first; i < std::min(first + size, input_.n_requests()); ++i) {
      if (!there_.contains(input_.custom_id(i))) queue_.push_back(i);
    }
    if (queue_.empty()) return finish(claim.range);
    const std::scoped_lock lock(left_mutex_);
    left_[claim.range] = queue_.size();
    return {};
  }

  Result<void> finish(size_t range) {
    if (auto synced = answers_.sync(); !synced) return synced;
    return claims_.finish(range);
  }

  const BatchInput& input_;
  const std::string& out_;
  const ShareOptions& share_;
  BatchClaims& claims_;
  BatchAnswers& answers_;
  std::unordered_map<std::string_view, size_t> index_of_;
  std::mutex queue_mutex_;    // guards queue_ and there_
  std::deque<size_t> queue_;  // left in the range opened last
  Ids there_;
  std::mutex left_mutex_;
  std::map<size_t, size_t> left_;  // unanswered requests of each range
};

}  // namespace

Result<SharedResult> run_shared_batch(ServedModel& model, const BatchOptions& options, const ShareOptions& share,
                                      const std::stop_token& stop) {
  const Result<BatchInput> input = open_requests(options.in);
  if (!input) return std::unexpected(input.error());
  if (auto fine = check_out(options.out, *input); !fine) return std::unexpected(fine.error());
  const Result<std::string> queue = queue_of(options.in, input->n_requests());
  if (!queue) return std::unexpected(queue.error());
  if (auto made = make_folder(share.folder); !made) return std::unexpected(made.error());
  const auto answers = BatchAnswers::open(share.folder + "/" + part_name(share.worker));
  if (!answers) return std::unexpected(answers.error());
  const size_t n = n_ranges(input->n_requests());
  const size_t first = share.n_ranks > 0 ? n * static_cast<size_t>(share.rank) / static_cast<size_t>(share.n_ranks)
                                         : std::hash<std::string>()(share.worker) % std::max<size_t>(n, 1);
  const auto claims = BatchClaims::open(
      {.folder = share.folder, .worker = share.worker, .lease = share.lease, .first = first}, n, *queue);
  if (!claims) return std::unexpected(claims.error());
  Worker worker(*input, options.out, share, **claims, **answers);
  if (auto read = worker.read_those_there(); !read) return std::unexpected(read.error());
  BatchTally tally{.result = {.n = input->n_requests(), .n_there = worker.there().size()}};
  BatchWork work = work_of(model, **answers, options, stop, tally);
  work.take = [&worker, take = work.take](const std::string& custom_id, const ApiResult<Json>& answer) {
    auto taken = take(custom_id, answer);
    return taken ? worker.have_answered(custom_id) : taken;
  };
  const NextRequest next = [&worker](const std::function<bool()>& is_wanted) { return worker.next(is_wanted); };
  if (auto done = answer_requests(*input, next, work); !done) {
    return std::unexpected(done.error());
  }
  SharedResult result{.own = tally.result};
  const Result<bool> is_over = (*claims)->all_are_done();
  if (!is_over) return std::unexpected(is_over.error());
  if (!*is_over) return result;
  if (auto merged = merge(*input, options.out, share.folder); !merged) return std::unexpected(merged.error());
  result.is_complete = true;
  return result;
}

Result<size_t> merge_batch(const BatchOptions& options, const std::string& folder) {
  const Result<BatchInput> input = open_requests(options.in);
  if (!input) return std::unexpected(input.error());
  return merge(*input, options.out, folder);
}

}  // namespace tern::server
