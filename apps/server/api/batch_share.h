// One batch answered by several programs at once, on one machine or many that see one folder.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "server/api/batch.h"

namespace tern::server {

struct ShareOptions {
  std::string folder;         // for this batch alone; see BatchClaims
  std::string worker;         // no two that run have the same; who starts again under its name goes on with what it had
  int rank = 0, n_ranks = 0;  // where in the queue to begin; 0 ranks: unknown
  std::chrono::milliseconds lease = std::chrono::seconds(60);  // a worker of which nothing is seen for so long is dead
};

struct SharedResult {
  BatchResult own;           // of this worker; n_there: answered by all others and before
  bool is_complete = false;  // all have been answered, and `out` has them
};

// Takes ranges of the requests until all have been answered, also those of workers that died, and adds its answers to
// FOLDER/part-WORKER.jsonl. Who sees that all is done puts the parts together: `out` has nothing of it before, and then
// exactly one line for each request, and those that it had. Where a request was answered twice, the first part by name
// counts. Errors are run_batch()'s; kInvalidArgument also for a folder that belongs to other requests.
Result<SharedResult> run_shared_batch(ServedModel& model, const BatchOptions& options, const ShareOptions& share,
                                      const std::stop_token& stop);

// Only the last step; returns how many lines `out` has. kNotFound: not all requests have been answered yet.
Result<size_t> merge_batch(const BatchOptions& options, const std::string& folder);

}  // namespace tern::server
