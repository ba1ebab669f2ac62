// A conversation that a request brings: what the model reads of it, and how its reply is to be read.
#pragma once

#include <string>
#include <vector>

#include "server/api/completions.h"
#include "tern/chat_reply.h"

namespace tern::server {

// Who decides whether tools are called: the model, nobody, or the request, which wants a call of any or of one of them.
struct ToolUse {
  std::string tools = {};  // OpenAI's list, as text; empty: none
  std::vector<std::string> names = {};
  enum class Choice : uint8_t { kAuto, kNone, kRequired } choice = Choice::kAuto;
  std::string required = {};  // the only one that may be called
  bool parallel = true;
};

// tools, tool_choice, parallel_tool_calls.
ApiResult<ToolUse> read_tool_use(Fields& fields);

struct ConversationPrompt {
  std::string text;
  std::vector<TokenId> tokens;
  // For the reply's parser. `begin` and `end` are its text's, which the model did not write.
  ChatFormat format = {};
  ChatReplyOptions reply = {};
  std::string begin = {}, end = {};
};

// `name`: of the messages, for errors. What the reply is to be held to is added to `generate`.
ApiResult<ConversationPrompt> make_prompt(const std::vector<ChatMessage>& messages, const std::string& name,
                                          const ChatOptions& options, const ToolUse& tools, const ModelProfile& model,
                                          GenerateOptions& generate);

// Variables of the template, and whether the model is to think before it answers.
ChatOptions read_chat_options(Fields& fields);

}  // namespace tern::server
