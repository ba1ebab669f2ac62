// The parts of an answer in a chat while its replies arrive.
#pragma once

#include <memory>
#include <vector>

#include "server/api/replies/mcp_rounds.h"
#include "tern/chat_reply.h"

namespace tern::server {

class TurnParser {
 public:
  // `rounds`: null if the server calls no tools itself.
  TurnParser(const ChatTurn& turn, std::shared_ptr<McpRounds> rounds);

  // The parts that the news brings. If the reply has ended and another follows, `news.finish` is reset: its calls are
  // no part of the answer.
  std::vector<ChatDelta> take(ReplyEvent& news);

  int n_calls() const { return parser_.n_calls(); }  // of the last reply

 private:
  void begin(const ChatTurn& turn);
  std::vector<ChatDelta> without_calls(std::vector<ChatDelta> deltas, ReplyEvent& news);

  const std::shared_ptr<McpRounds> rounds_;
  ChatReplyParser parser_;
  std::vector<ChatDelta> begun_;  // from the end of the prompt, which begins the reply
  std::string end_;
  ChatMessage reply_ = {.role = "assistant"};  // so far, if there are rounds
  std::vector<ChatDelta> calls_;               // held back until the reply ends, if there are rounds
  bool is_over_ = false;                       // the reply; another follows
  bool needs_break_ = false;                   // an earlier reply had content
};

}  // namespace tern::server
