// The file of a batch's answers, to which each answer is added once.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/platform/disk_file.h"
#include "server/api/api_error.h"

namespace tern::server {

// The custom_id of a line of answers; none if it is not such a line.
std::optional<std::string> answered_id(std::string_view line);

// Locked by one program at a time. Lines are written whole; an incomplete last line is removed on opening.
class BatchAnswers {
 public:
  // kInvalidArgument: not a file of answers; kIo: it cannot be opened, read or written, or another program has it.
  static Result<std::unique_ptr<BatchAnswers>> open(const std::string& path);
  BatchAnswers(const BatchAnswers&) = delete;
  BatchAnswers& operator=(const BatchAnswers&) = delete;

  // The custom_ids of the answers found on opening.
  const std::unordered_set<std::string>& ids() const { return ids_; }
  bool is_empty() const { return size_ == 0; }

  // If the line does not fit on the disk, what was written of it is removed. Thread-safe.
  Result<void> add(const Json& answer);
  Result<void> sync();  // to the disk

 private:
  BatchAnswers(std::string path, platform::DiskFile file) : path_(std::move(path)), file_(std::move(file)) {}
  Result<void> read_those_there();
  Result<void> take_id(std::string_view line, size_t number);

  const std::string path_;
  platform::DiskFile file_;
  size_t size_ = 0;  // bytes of complete lines
  std::unordered_set<std::string> ids_;
  std::mutex mutex_;
};

}  // namespace tern::server
