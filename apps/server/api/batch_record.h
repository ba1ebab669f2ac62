// What a server knows of a batch, and how it says so: to clients, and to itself when it starts again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/api/batch_lines.h"
#include "server/api/file_store.h"

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
  // Chosen when it begins, so that whatever ends the program, no file is made twice.
  std::string output_file_id, error_file_id;
  bool has_output = false, has_errors = false;  // whether there are such files
  bool has_all_lines = false;                   // all that is left to do is to make files of them
  uint64_t number = 0;                          // in the order in which they came
  BatchStatus status = BatchStatus::kValidating;
  int64_t file_lifetime = 0;    // of what it writes, in seconds; 0: for ever
  Json times = Json::object();  // "created_at", "expires_at", …, in seconds since 1970
  Json metadata = nullptr;
  std::vector<BatchFault> faults = {};
  uint64_t n = 0, n_completed = 0, n_failed = 0;

  bool is_over() const;
  int64_t expires_at() const { return times.at("expires_at").get<int64_t>(); }
  // Also notes when.
  void become(BatchStatus next);

  Json json() const;  // as OpenAI's clients know it
  Json note() const;  // everything, for record_of()
};

// kCorruption: no note() has said this.
Result<BatchRecord> record_of(const std::string& path, const Json& note);

// What a client asks for. 400 for what is wrong with it; whether its file is there, nobody has looked.
ApiResult<BatchRecord> read_new_batch(const Json& body);

// {"anchor": "created_at", "seconds": 3600}, or nothing, which is 0.
ApiResult<int64_t> read_lifetime(Fields& fields, std::string_view name);

}  // namespace tern::server
