// Answers to one request for which the server calls tools of MCP servers: a reply that only has allowed calls is not
// the answer, but the reason for the next reply.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "server/api/replies/conversation.h"
#include "server/api/service/follow_up.h"

namespace tern::server {

// The tools' list for a request that asks for them, in the format of ChatOptions::tools; "" if it does not. The field
// "mcp" is true, or a list of servers. 400: there are none, or the request has tools of its own, or several replies.
ApiResult<std::string> read_mcp(Fields& fields, const ModelProfile& model, int n_replies);

class McpRounds final : public FollowUp {
 public:
  struct Conversation {
    std::vector<ChatMessage> messages;
    std::string field;  // the messages' name, for errors
    ChatOptions options;
    ToolUse use;
    GenerateOptions generate;  // without the constraints of a prompt
  };
  McpRounds(const ModelProfile& model, Conversation conversation);

  // A reply has ended. True if its calls are being made, so that another follows. False: it is the answer, perhaps with
  // calls that are the client's to make.
  bool follows(const ChatMessage& reply, const ReplyEvent& last);
  const ChatTurn& turn() const { return turn_; }  // of the reply that follows

  bool is_pending() const override { return is_pending_; }
  ApiResult<std::optional<NextReply>> wait(std::chrono::milliseconds time) override;

 private:
  void call_all(const std::stop_token& stop, const std::vector<ToolCall>& calls);

  const ModelProfile& model_;
  Conversation conversation_;  // the worker's while it runs
  ChatTurn turn_;
  int n_rounds_ = 0, n_generated_ = 0;
  bool is_pending_ = false;

  struct Made {
    ConversationPrompt prompt;
    GenerateOptions options;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<ApiResult<Made>> made_;  // by the worker
  std::jthread worker_;                  // last: it uses the others
};

// For a request with the tools that read_mcp() has returned; null if there are none. `generate` has no constraints of a
// prompt yet.
std::shared_ptr<McpRounds> mcp_rounds(const std::string& tools, const ModelProfile& model,
                                      const std::vector<ChatMessage>& messages, const std::string& field,
                                      const ChatOptions& options, const ToolUse& use, const GenerateOptions& generate);

}  // namespace tern::server
