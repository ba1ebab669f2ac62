// Builds request bodies, from generated text or from a file. The same seed gives the same bodies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "load/reply_chunk.h"
#include "tern/error.h"

namespace tern::load {

struct Message {
  std::string role;
  std::string content;
};

// Generated text of short English words. A tokenizer for English makes about one token of each.
struct MadeText {
  int tokens = 128;        // approximate length of each new message
  int shared_tokens = 0;   // how many tokens at the beginning all conversations share
  int64_t n_distinct = 0;  // number of distinct conversations, used in turn; 0: all are different
  uint64_t seed = 1;
};

// What every request contains besides its prompt.
struct RequestOptions {
  Api api = Api::kChat;
  std::string model = {};
  int max_tokens = 128;
  std::string extra = "{}";  // a JSON object whose members are added; they override those above
};

// kInvalidArgument if `extra` is not an object, or sets a field that Tern itself controls (stream, stream_options,
// prompt, messages, n).
Result<void> check_extra(std::string_view extra);

// True if the bodies ask for greedy sampling: `extra` sets no temperature other than 0.
bool is_greedy(const RequestOptions& options);

class Prompts {
 public:
  static Prompts made(const MadeText& text);

  // Each line is a JSON object: {"prompt": TEXT}, {"messages": [{"role": …, "content": TEXT}, …]}, or either in "body",
  // as in OpenAI's batch files. "max_tokens" beside it overrides the option. Empty lines are skipped. kCorruption names
  // the first other line, or one that has messages for Api::kCompletions.
  static Result<Prompts> from_jsonl(std::string_view text, std::string_view path, Api api);

  size_t n_from_file() const { return file_.size(); }

 private:
  friend class Conversation;

  struct Opening {
    std::vector<Message> messages;  // a single one for Api::kCompletions
    int max_tokens = 0;             // 0: use the options' value
  };

  MadeText made_;
  std::vector<Opening> file_;

  Opening opening(int64_t conversation, Api api) const;
  std::string next_message(int64_t conversation, int turn) const;
};

// One conversation, which grows by a reply and a new message per turn.
class Conversation {
 public:
  // `prompts` and `options` must outlive the conversation.
  Conversation(const Prompts& prompts, const RequestOptions& options, int64_t index);

  std::string body() const;  // of the next request
  int turn() const { return turn_; }
  void add_reply(const std::string& content);

 private:
  const Prompts& prompts_;
  const RequestOptions& options_;
  int64_t index_;
  int turn_ = 0;
  Prompts::Opening history_;
};

}  // namespace tern::load
