// Answers many requests from one file into another, in OpenAI's batch format: what `tern batch` runs.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "server/api/batches/batch_lines.h"
#include "server/api/replies/served_model.h"

namespace tern::server {

// A line of `in`: {"custom_id": …, "method": "POST", "url": "/v1/chat/completions", "body": {…}}.
// A line of `out`: {"id": …, "custom_id": …, "response": {"status_code", "request_id", "body"}, "error": null}, in the
// order in which requests are answered. A wrong request has its error there.
struct BatchOptions {
  std::string in;   // "-": standard input, read to its end first
  std::string out;  // requests answered there already are skipped, so an interrupted batch resumes
  int n_at_once = 64;
  std::function<void(size_t n_done, size_t n)> on_progress = {};
};

struct BatchResult {
  size_t n = 0;        // requests, of which
  size_t n_there = 0;  // … were answered before this run
  size_t n_answered = 0;
  size_t n_wrong = 0;  // … of n_answered, with an error
  bool is_complete() const { return n_there + n_answered == n; }
};

// Each line of `in` gets exactly one line of `out`, even after interruptions: resuming removes an incomplete line.
// kInvalidArgument: a line without a custom_id or with a duplicate one, or an `out` that belongs to other requests.
// kIo: a file cannot be read or written; lines written before remain.
Result<BatchResult> run_batch(ServedModel& model, const BatchOptions& options, const std::stop_token& stop);

// Opens and checks a file of requests. Errors: those of run_batch().
Result<BatchInput> open_requests(const std::string& path);

// How to answer a batch's requests. Several threads call its functions at once.
struct BatchWork {
  int n_at_once = 1;
  std::function<bool()> is_wanted = {};
  std::function<ApiResult<Json>(const BatchRequest& request, const std::function<bool()>& is_wanted)> answer = {};
  // An error ends the batch.
  std::function<Result<void>(const std::string& custom_id, const ApiResult<Json>& answer)> take = {};
};

class BatchAnswers;

// Counts of the work done, shared by threads.
struct BatchTally {
  BatchResult result = {};
  std::mutex mutex = {};
};

// Work in which `model` answers into `answers`. All arguments must outlive it.
BatchWork work_of(ServedModel& model, BatchAnswers& answers, const BatchOptions& options, const std::stop_token& stop,
                  BatchTally& tally);

// Answers the requests whose indices `next` returns, until it returns none or the work is no longer wanted; `next` may
// block until then. Several threads call `next` at once. Errors: the first of `next` or `take`; kIo: the input can no
// longer be read.
using NextRequest = std::function<Result<std::optional<size_t>>(const std::function<bool()>& is_wanted)>;
Result<void> answer_requests(const BatchInput& input, const NextRequest& next, const BatchWork& work);
// Answers the requests with these indices.
Result<void> answer_requests(const BatchInput& input, const std::vector<size_t>& which, const BatchWork& work);

}  // namespace tern::server
