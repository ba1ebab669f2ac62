#include "server/api/batch.h"

#include <algorithm>
#include <atomic>
#include <format>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "server/api/batch_answers.h"

namespace tern::server {
Result<void> answer_requests(const BatchInput& input, const std::vector<size_t>& which, const BatchWork& work) {
  std::atomic<size_t> next = 0;
  std::atomic<bool> has_failed = false;
  std::mutex mutex;  // of what follows
  std::optional<Error> error;
  const auto is_wanted = [&] { return work.is_wanted() && !has_failed; };
  const auto answer = [&](size_t index) -> Result<void> {
    const Result<BatchRequest> request = input.request(index);
    if (!request) return std::unexpected(request.error());
    const ApiResult<Json> got = request->wrong ? std::unexpected(*request->wrong) : work.answer(*request, is_wanted);
    if (!is_wanted()) return {};
    return work.take(request->custom_id, got);
  };
  const auto run = [&] {
    for (size_t i = next++; i < which.size() && is_wanted(); i = next++) {
      const Result<void> done = answer(which[i]);
      if (done) continue;
      const std::scoped_lock lock(mutex);
      has_failed = true;
      if (!error) error = done.error();
    }
  };
  {
    std::vector<std::jthread> threads;
    const size_t n = std::min(static_cast<size_t>(std::max(work.n_at_once, 1)), which.size());
    for (size_t i = 0; i < n; ++i) threads.emplace_back(run);
  }
  if (error) return std::unexpected(*error);
  return {};
}

Result<BatchResult> run_batch(ServedModel& model, const BatchOptions& options, const std::stop_token& stop) {
  Result<BatchInput> input = BatchInput::open(options.in);
  if (!input) return std::unexpected(input.error());
  const Result<std::vector<BatchFault>> faults = input->validate({});
  if (!faults) return std::unexpected(faults.error());
  if (!faults->empty()) {
    const BatchFault& first = faults->front();
    return std::unexpected(
        Error{ErrorCode::kInvalidArgument, std::format("{}, line {}: {}", options.in, first.line, first.message)});
  }
  const auto answers = BatchAnswers::open(options.out);
  if (!answers) return std::unexpected(answers.error());
  std::vector<size_t> left;
  for (size_t i = 0; i < input->n_requests(); ++i) {
    if (!(*answers)->ids().contains(input->custom_id(i))) left.push_back(i);
  }
  BatchResult result{.n = input->n_requests(), .n_there = input->n_requests() - left.size()};
  if (result.n_there != (*answers)->ids().size()) {
    return std::unexpected(Error{
        ErrorCode::kInvalidArgument,
        std::format("{}: has answers to requests that are not in {}; name another file", options.out, options.in)});
  }
  std::mutex mutex;
  BatchWork work{.n_at_once = options.n_at_once, .is_wanted = [&] { return !stop.stop_requested(); }};
  work.answer = [&](const BatchRequest& request, const std::function<bool()>& is_wanted) {
    return model.answer(request.url, request.body, is_wanted);
  };
  work.take = [&](const std::string& custom_id, const ApiResult<Json>& answer) -> Result<void> {
    // What the machine has no memory for now, it has later: no answer is better than this one.
    if (!answer && answer.error().status >= 500 && answer.error().status != 501) {
      return std::unexpected(Error{ErrorCode::kIo, answer.error().message});
    }
    if (auto added = (*answers)->add(answer_line(custom_id, answer)); !added) return added;
    const std::scoped_lock lock(mutex);
    ++result.n_answered;
    if (!answer) ++result.n_wrong;
    if (options.on_progress) options.on_progress(result.n_there + result.n_answered, result.n);
    return {};
  };
  if (auto done = answer_requests(*input, left, work); !done) return std::unexpected(done.error());
  return result;
}

}  // namespace tern::server
