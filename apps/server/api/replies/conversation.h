// Turns a request's conversation into a prompt, and determines how its reply is parsed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/api/replies/completions.h"
#include "server/api/tools/client_tools.h"
#include "tern/chat_reply.h"

namespace tern::server {

// Where a request may have tools that are no functions.
struct OtherTools {
  ClientTools& known;  // those that were found
  GrammarCache& grammars;
};

// Reads tools, tool_choice and parallel_tool_calls. `others`: a list of tools for a request without its own; "": none.
ApiResult<ToolUse> read_tool_use(Fields& fields, const std::string& others = {}, std::optional<OtherTools> client = {});

struct ConversationPrompt {
  ChatTurn turn;
  std::vector<TokenId> tokens;
};

// `name`: the messages' field, for errors. Constraints on the reply are added to `generate`.
ApiResult<ConversationPrompt> make_prompt(const std::vector<ChatMessage>& messages, const std::string& name,
                                          const ChatOptions& options, const ToolUse& tools, const ModelProfile& model,
                                          GenerateOptions& generate);

// Reads variables of the template, how the conversation is rendered, and how much the model may think.
ChatOptions read_chat_options(Fields& fields, const ModelProfile& model, ThoughtLimit& thoughts);

}  // namespace tern::server
