// What is asked: bodies of requests, from made text or from a file. The same seed gives the same bodies.
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

// Text of short English words, of which a tokenizer for English makes about one token each.
struct MadeText {
  int tokens = 128;        // of each new message, about
  int shared_tokens = 0;   // so many at the beginning are the same in all conversations
  int64_t n_distinct = 0;  // conversations with other texts; they are used in turn. 0: no two are alike
  uint64_t seed = 1;
};

// What every request says beside its prompt.
struct RequestOptions {
  Api api = Api::kChat;
  std::string model = {};
  int max_tokens = 128;
  std::string extra = "{}";  // an object of JSON whose members are added; they win over those above
};

// kInvalidArgument where `extra` is no object, or sets what Tern has to know (stream, stream_options, prompt, messages,
// n).
Result<void> check_extra(std::string_view extra);

// Whether the bodies ask for greedy sampling: `extra` sets no other temperature than 0.
bool is_greedy(const RequestOptions& options);

class Prompts {
 public:
  static Prompts made(const MadeText& text);

  // One object of JSON a line: {"prompt": TEXT}, {"messages": [{"role": …, "content": TEXT}, …]}, or either in "body",
  // as files of OpenAI's batches have it; "max_tokens" beside it wins. Empty lines are skipped. kCorruption names the
  // line that is something else, or has messages for Api::kCompletions.
  static Result<Prompts> from_jsonl(std::string_view text, std::string_view path, Api api);

  size_t n_from_file() const { return file_.size(); }

 private:
  friend class Conversation;

  struct Opening {
    std::vector<Message> messages;  // for Api::kCompletions a single one
    int max_tokens = 0;             // 0: as the options say
  };

  MadeText made_;
  std::vector<Opening> file_;

  Opening opening(int64_t conversation, Api api) const;
  std::string next_message(int64_t conversation, int turn) const;
};

// One conversation, which grows by a reply and a new message each turn.
class Conversation {
 public:
  // Both must outlive it.
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
