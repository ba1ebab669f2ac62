// Many requests from a file, answered into another: OpenAI's batch format, what `tern batch` runs.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "server/api/batch_lines.h"
#include "server/api/served_model.h"

namespace tern::server {

// A line of `in`: {"custom_id": …, "method": "POST", "url": "/v1/chat/completions", "body": {…}}.
// A line of `out`: {"id": …, "custom_id": …, "response": {"status_code", "request_id", "body"}, "error": null}, in the
// order in which they are answered. A request that is wrong has its error there.
struct BatchOptions {
  std::string in;   // "-": standard input, read to its end first
  std::string out;  // what it has already is not done again: so a batch that was broken off goes on
  int n_at_once = 64;
  std::function<void(size_t n_done, size_t n)> on_progress = {};
};

struct BatchResult {
  size_t n = 0;        // requests, of which
  size_t n_there = 0;  // … were answered already
  size_t n_answered = 0;
  size_t n_wrong = 0;  // … of these, with an error
  bool is_complete() const { return n_there + n_answered == n; }
};

// Each line of `in` gets exactly one line of `out`, whatever happens in between: a line that was not written to its end
// is taken away when it goes on. kInvalidArgument: lines without a custom_id, or with one that another has, or an `out`
// that belongs to other requests. kIo: files that cannot be read or written; what was written before stands.
Result<BatchResult> run_batch(ServedModel& model, const BatchOptions& options, const std::stop_token& stop);

// The requests of a file that is a batch; run_batch()'s errors.
Result<BatchInput> open_requests(const std::string& path);

// What answers a batch's requests, some at a time. All is called by several threads at once.
struct BatchWork {
  int n_at_once = 1;
  std::function<bool()> is_wanted = {};
  std::function<ApiResult<Json>(const BatchRequest& request, const std::function<bool()>& is_wanted)> answer = {};
  // An error ends it.
  std::function<Result<void>(const std::string& custom_id, const ApiResult<Json>& answer)> take = {};
};

class BatchAnswers;

// What has been done, counted by several threads.
struct BatchTally {
  BatchResult result = {};
  std::mutex mutex = {};
};

// By the model, into the file of answers. All must outlive it.
BatchWork work_of(ServedModel& model, BatchAnswers& answers, const BatchOptions& options, const std::stop_token& stop,
                  BatchTally& tally);

// Answers the requests whose indices `next` gives, until it gives none, as long as it is wanted; `next` may wait as
// long as that. Threads call it at once. Errors: the first of `next`'s and `take`'s, and kIo where the input cannot be
// read any more.
using NextRequest = std::function<Result<std::optional<size_t>>(const std::function<bool()>& is_wanted)>;
Result<void> answer_requests(const BatchInput& input, const NextRequest& next, const BatchWork& work);
// These requests, by their indices.
Result<void> answer_requests(const BatchInput& input, const std::vector<size_t>& which, const BatchWork& work);

}  // namespace tern::server
