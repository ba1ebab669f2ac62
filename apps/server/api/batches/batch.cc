#include "server/api/batches/batch.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/start_thread.h"
#include "base/text/format_text.h"
#include "server/api/batches/batch_answers.h"

namespace tern::server {

Result<void> answer_requests(const BatchInput& input, const NextRequest& next, const BatchWork& work) {
  std::atomic<bool> has_failed = false;
  std::mutex mutex;  // guards what follows
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
    while (is_wanted()) {
      const Result<std::optional<size_t>> index = next(is_wanted);
      if (index && !*index) return;
      const Result<void> done = index ? answer(**index) : std::unexpected(index.error());
      if (done) continue;
      const std::scoped_lock lock(mutex);
      has_failed = true;
      if (!error) error = done.error();
    }
  };
  run_at_once(static_cast<size_t>(std::max(work.n_at_once, 1)), [&](size_t) { run(); });
  if (error) return std::unexpected(*error);
  return {};
}

Result<void> answer_requests(const BatchInput& input, const std::vector<size_t>& which, const BatchWork& work) {
  std::atomic<size_t> n_taken = 0;
  const auto next = [&](const std::function<bool()>&) -> std::optional<size_t> {
    const size_t i = n_taken++;
    return i < which.size() ? std::optional(which[i]) : std::nullopt;
  };
  BatchWork no_more_than_needed = work;
  no_more_than_needed.n_at_once =
      static_cast<int>(std::min(static_cast<size_t>(std::max(work.n_at_once, 1)), which.size()));
  return which.empty() ? Result<void>() : answer_requests(input, NextRequest(next), no_more_than_needed);
}

Result<BatchInput> open_requests(const std::string& path) {
  Result<BatchInput> input = BatchInput::open(path);
  if (!input) return std::unexpected(input.error());
  const Result<std::vector<BatchFault>> faults = input->validate({});
  if (!faults) return std::unexpected(faults.error());
  if (faults->empty()) return input;
  const BatchFault& first = faults->front();
  return std::unexpected(
      Error{ErrorCode::kInvalidArgument, format_text("{}, line {}: {}", path, first.line, first.message)});
}

BatchWork work_of(ServedModel& model, BatchAnswers& answers, const BatchOptions& options, const std::stop_token& stop,
                  BatchTally& tally) {
  BatchWork work{.n_at_once = options.n_at_once, .is_wanted = [&stop] { return !stop.stop_requested(); }};
  work.answer = [&model](const BatchRequest& request, const std::function<bool()>& is_wanted) {
    return model.answer(request.url, request.body, is_wanted);
  };
  work.take = [&](const std::string& custom_id, const ApiResult<Json>& answer) -> Result<void> {
    // A server error, such as a lack of memory, may be temporary: end the batch rather than record it as the answer.
    if (!answer && answer.error().status >= 500 && answer.error().status != 501) {
      return fail(ErrorCode::kIo, "{}", answer.error().message);
    }
    if (auto added = answers.add(answer_line(custom_id, answer)); !added) return added;
    const std::scoped_lock lock(tally.mutex);
    BatchResult& result = tally.result;
    ++result.n_answered;
    if (!answer) ++result.n_wrong;
    if (options.on_progress) options.on_progress(result.n_there + result.n_answered, result.n);
    return {};
  };
  return work;
}

Result<BatchResult> run_batch(ServedModel& model, const BatchOptions& options, const std::stop_token& stop) {
  const Result<BatchInput> input = open_requests(options.in);
  if (!input) return std::unexpected(input.error());
  const auto answers = BatchAnswers::open(options.out);
  if (!answers) return std::unexpected(answers.error());
  std::vector<size_t> left;
  for (size_t i = 0; i < input->n_requests(); ++i) {
    if (!(*answers)->ids().contains(input->custom_id(i))) left.push_back(i);
  }
  BatchTally tally{.result = {.n = input->n_requests(), .n_there = input->n_requests() - left.size()}};
  if (tally.result.n_there != (*answers)->ids().size()) {
    return fail(ErrorCode::kInvalidArgument, "{}: has answers to requests that are not in {}; name another file",
                options.out, options.in);
  }
  const BatchWork work = work_of(model, **answers, options, stop, tally);
  if (auto done = answer_requests(*input, left, work); !done) return std::unexpected(done.error());
  return tally.result;
}

}  // namespace tern::server
