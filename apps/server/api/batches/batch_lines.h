// The lines of OpenAI's batch format: requests and answers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/platform/disk_file.h"
#include "server/api/api_error.h"
#include "server/api/fields.h"

namespace tern::server {

struct BatchRequest {
  std::string custom_id, url;
  Json body;
  size_t n_bytes = 0;                  // of its line
  std::optional<ApiError> wrong = {};  // then this is the answer
};

// The reason that a file's requests cannot be answered.
struct BatchFault {
  size_t line;  // counted from 1
  std::string code, message, param = {};
};

// Parses {"custom_id": …, "method": "POST", "url": "/v1/chat/completions", "body": {…}}. An error in a request becomes
// its answer; only a line without a readable custom_id is a fault.
std::expected<BatchRequest, BatchFault> read_batch_request(std::string_view line, size_t number);

// A file of requests. Only the positions and ids of its lines are kept in memory.
class BatchInput {
 public:
  // "-": standard input, which is read to its end and kept in memory. kNotFound, kIo, kOutOfMemory. `gives_way`: lines
  // are parsed as other requests of a server are; see Preparation.
  static Result<BatchInput> open(const std::string& path, bool gives_way = false);
  BatchInput(BatchInput&& other) noexcept = default;
  BatchInput& operator=(BatchInput&&) = delete;

  // Reads the whole file. A line is a fault if its custom_id is missing or not unique, or if `check` says so. Stops at
  // `most_faults` faults. kIo; kInterrupted: `is_wanted` returned false.
  using Check = std::function<std::optional<BatchFault>(const BatchRequest& request, size_t number)>;
  struct Rules {
    size_t most_faults = 1;
    Check check = {};
    std::function<bool()> is_wanted = [] { return true; };
  };
  Result<std::vector<BatchFault>> validate(const Rules& rules);

  // After successful validation: its requests, in order.
  size_t n_requests() const { return ids_.size(); }
  const std::string& custom_id(size_t index) const { return ids_[index]; }
  Result<BatchRequest> request(size_t index) const;

 private:
  struct Line {
    uint64_t offset;
    size_t size, number;
  };

  BatchInput(std::string path, bool gives_way) : path_(std::move(path)), gives_way_(gives_way) {}
  void prepare(size_t n_bytes, const std::function<void()>& work) const;
  Result<std::string> read(uint64_t offset, size_t size) const;  // fewer bytes at the end
  Result<void> each_line(const std::function<bool(std::string_view text, const Line& line)>& on_line) const;

  std::string path_;
  bool gives_way_;
  std::unique_ptr<platform::DiskFile> file_;  // null for standard input
  std::string text_;                          // content of standard input
  std::vector<Line> lines_;
  std::vector<std::string> ids_;
};

// {"id": …, "custom_id": …, "response": {"status_code", "request_id", "body"}, "error": null}
Json answer_line(const std::string& custom_id, const ApiResult<Json>& answer);
// For a request that was not run: no response, and an error with this code.
Json unanswered_line(const std::string& custom_id, std::string_view code, std::string_view message);

}  // namespace tern::server
