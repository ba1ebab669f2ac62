#include "server/api/replies/begun_reply.h"

#include <utility>

namespace tern::server {

ApiResult<ConversationPrompt> make_continued_prompt(std::vector<ChatMessage> messages, const std::string& name,
                                                    const ChatOptions& options, const ToolUse& tools,
                                                    const ModelProfile& model, GenerateOptions& generate) {
  const bool is_begun = messages.back().role == "assistant" && model.engine.has_chat_template();
  if (!is_begun) return make_prompt(messages, name, options, tools, model, generate);
  const ChatMessage last = std::move(messages.back());
  messages.pop_back();
  if (!last.tool_calls.empty()) return refuse(name + ": the last has a tool call without a result", name);
  if (messages.empty()) return refuse(name + ": there is only the assistant's", name);
  TRY(ConversationPrompt prompt, make_prompt(messages, name, options, tools, model, generate));
  if (prompt.turn.reply.in_thought || !prompt.turn.begin.empty()) {
    return refuse(name + ": the last is the assistant's, but the reply has to begin with a thought or a call", name);
  }
  prompt.turn.prompt += last.content;
  prompt.tokens = model.engine.tokenizer().encode(prompt.turn.prompt, {.add_bos = false, .parse_special = true});
  return prompt;
}

}  // namespace tern::server
