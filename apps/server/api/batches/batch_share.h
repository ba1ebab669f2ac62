// One batch answered by several programs at once, on one machine or on several that share a folder.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "server/api/batches/batch.h"

namespace tern::server {

struct ShareOptions {
  std::string folder;         // for this batch alone; see BatchClaims
  std::string worker;         // unique among running workers; a restart under the same name resumes its work
  int rank = 0, n_ranks = 0;  // determines where in the queue to begin; 0 ranks: unknown
  std::chrono::milliseconds lease = std::chrono::seconds(60);  // a worker without a sign of life for so long is dead
};

struct SharedResult {
  BatchResult own;           // of this worker; n_there: answers of all workers that it found at its start
  bool is_complete = false;  // all are answered, and `out` contains the answers
};

// Takes ranges of requests until all are answered, including ranges of dead workers, and adds its answers to
// FOLDER/part-WORKER.jsonl. A worker that finds all done merges the parts: until then `out` is unchanged, afterwards it
// has exactly one line for each request, including those it had. If a request was answered twice, the first part by
// name counts. Errors: those of run_batch(); kInvalidArgument also for a folder that belongs to other requests.
Result<SharedResult> run_shared_batch(ServedModel& model, const BatchOptions& options, const ShareOptions& share,
                                      const std::stop_token& stop);

// Only merges the parts; returns the number of lines in `out`. kNotFound: not all requests have been answered yet.
Result<size_t> merge_batch(const BatchOptions& options, const std::string& folder);

}  // namespace tern::server
