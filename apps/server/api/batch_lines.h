// The lines of OpenAI's batch format: what is asked, and what is answered.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/api/api_error.h"
#include "server/api/fields.h"

namespace tern::server {

struct BatchRequest {
  std::string custom_id, url;
  Json body;
  std::optional<ApiError> wrong = {};  // its answer, then
};

// Why the requests of a file cannot be answered.
struct BatchFault {
  size_t line;  // the first is 1
  std::string code, message, param = {};
};

// {"custom_id": …, "method": "POST", "url": "/v1/chat/completions", "body": {…}}. What is wrong with a request is its
// answer; but whose answer that is must be known.
std::expected<BatchRequest, BatchFault> read_batch_request(std::string_view line, size_t number);

// A file of requests, of which only where its lines are is in memory.
class BatchInput {
 public:
  // "-": standard input, which is read to its end and kept. kNotFound, kIo, kOutOfMemory.
  static Result<BatchInput> open(const std::string& path);
  BatchInput(BatchInput&& other) noexcept;
  BatchInput& operator=(BatchInput&&) = delete;
  ~BatchInput();

  // Reads it all. Each line has a custom_id that no other has, else it is a fault, and so is what `check` says, where
  // there is one. Faults past the first `most` are not looked for. kIo; kInterrupted where `is_wanted` says no midway.
  using Check = std::function<std::optional<BatchFault>(const BatchRequest& request, size_t number)>;
  struct Rules {
    size_t most_faults = 1;
    Check check = {};
    std::function<bool()> is_wanted = [] { return true; };
  };
  Result<std::vector<BatchFault>> validate(const Rules& rules);

  // Once it is valid: its requests, in their order.
  size_t n_requests() const { return ids_.size(); }
  const std::string& custom_id(size_t index) const { return ids_[index]; }
  Result<BatchRequest> request(size_t index) const;

 private:
  struct Line {
    uint64_t offset;
    size_t size, number;
  };

  explicit BatchInput(std::string path) : path_(std::move(path)) {}
  Result<std::string> read(uint64_t offset, size_t size) const;  // less at the end
  Result<void> each_line(const std::function<bool(std::string_view text, const Line& line)>& on_line) const;

  std::string path_;
  int fd_ = -1;
  std::string text_;  // of standard input
  std::vector<Line> lines_;
  std::vector<std::string> ids_;
};

// {"id": …, "custom_id": …, "response": {"status_code", "request_id", "body"}, "error": null}
Json answer_line(const std::string& custom_id, const ApiResult<Json>& answer);
// Where nobody was asked: no response, and an error with this code.
Json unanswered_line(const std::string& custom_id, std::string_view code, std::string_view message);

}  // namespace tern::server
