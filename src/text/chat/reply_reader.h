// What reads replies: one class for replies that are text with marks, one for those that are messages with channels.
#pragma once

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tern/chat_reply.h"
#include "text/chat/forms/call_reader.h"

namespace tern {

// Collects the parts of a reply.
class DeltaWriter {
 public:
  explicit DeltaWriter(uint64_t id_seed) : ids_(id_seed != 0 ? id_seed : std::random_device()()) {}

  void tell(ChatDelta::Kind kind, std::string_view text);
  void tell(const CallPart& part);
  std::vector<ChatDelta> take() { return std::exchange(deltas_, {}); }
  int n_calls() const { return n_calls_; }

 private:
  std::string new_id();

  std::mt19937_64 ids_;
  std::vector<ChatDelta> deltas_;
  int n_calls_ = 0;
};

class ReplyReader {
 public:
  ReplyReader() = default;
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;
  virtual ~ReplyReader() = default;

  // See ChatReplyParser.
  virtual std::vector<ChatDelta> feed(std::string_view text) = 0;
  virtual std::vector<ChatDelta> finish() = 0;
  virtual int n_calls() const = 0;
  virtual std::optional<std::string> partial_call() const = 0;
};

// For formats with channels.
std::unique_ptr<ReplyReader> make_channel_reader(ChatFormat format, ChatReplyOptions options);

}  // namespace tern
