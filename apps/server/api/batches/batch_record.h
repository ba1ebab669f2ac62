// The state of a batch, as JSON for clients and for the server itself after a restart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/api/batches/batch_lines.h"
#include "server/api/batches/file_store.h"

namespace tern::server {

enum class BatchStatus : uint8_t {
  kValidating,
  kInProgress,
  kFinalizing,
  kCompleted,
  kFailed,
  kExpired,
  kCancelling,
  kCancelled
};

struct BatchRecord {
  std::string id, endpoint, input_file_id;
  // Chosen when the batch is created, so that no file is made twice even after a crash.
  std::string output_file_id, error_file_id;
  bool has_output = false, has_errors = false;  // these files exist
  bool has_all_lines = false;                   // all lines are written; only the files remain to be made
  uint64_t number = 0;                          // in order of creation
  BatchStatus status = BatchStatus::kValidating;
  int64_t file_lifetime = 0;    // of its output files, in seconds; 0: forever
  Json times = Json::object();  // "created_at", "expires_at", …, in seconds since 1970
  Json metadata = nullptr;
  std::vector<BatchFault> faults = {};
  uint64_t n = 0, n_completed = 0, n_failed = 0;

  bool is_over() const;
  int64_t expires_at() const { return times.at("expires_at").get<int64_t>(); }
  // Sets the status and records the time.
  void become(BatchStatus next);

  Json json() const;  // in OpenAI's form
  Json note() const;  // all fields, for record_of()
};

// Restores a batch from its note(). kCorruption: `note` is not one.
Result<BatchRecord> record_of(const std::string& path, const Json& note);

// Reads a client's request for a batch. 400: it is wrong. Does not check that the input file exists.
ApiResult<BatchRecord> read_new_batch(const Json& body);

// Reads {"anchor": "created_at", "seconds": 3600} and returns the seconds; 0 if absent.
ApiResult<int64_t> read_lifetime(Fields& fields, std::string_view name);

}  // namespace tern::server
