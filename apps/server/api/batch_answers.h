// A file of a batch's answers, to which each is added once.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "server/api/api_error.h"

namespace tern::server {

// The custom_id of a line of answers; none where it is no such line.
std::optional<std::string> answered_id(std::string_view line);

// One program at a time has it; lines are written whole. One that was broken off is taken away when it is opened.
class BatchAnswers {
 public:
  // kInvalidArgument: it is no file of answers; kIo: it cannot be opened, read or written, or another program has it.
  static Result<std::unique_ptr<BatchAnswers>> open(const std::string& path);
  ~BatchAnswers();
  BatchAnswers(const BatchAnswers&) = delete;
  BatchAnswers& operator=(const BatchAnswers&) = delete;

  // Whose answers were there when it was opened.
  const std::unordered_set<std::string>& ids() const { return ids_; }
  bool is_empty() const { return size_ == 0; }

  // A line that does not fit on the disk is taken back. Threads may call.
  Result<void> add(const Json& answer);
  Result<void> sync();  // to the disk

 private:
  explicit BatchAnswers(std::string path) : path_(std::move(path)) {}
  Result<void> read_those_there();
  Result<void> take_id(std::string_view line, size_t number);

  const std::string path_;
  int fd_ = -1;
  size_t size_ = 0;  // of the lines that are whole
  std::unordered_set<std::string> ids_;
  std::mutex mutex_;
};

}  // namespace tern::server
