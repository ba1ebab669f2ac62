#include "server/api/replies/begun_reply.h"

namespace tern::server {

ApiResult<ConversationPrompt> make_continued_prompt(const std::vector<ChatMessage>& messages, const std::string& name,
                                                    const ChatOptions& options, const ToolUse& tools,
                                                    const ModelProfile& model, GenerateOptions& generate) {
  ChatOptions continued = options;
  continued.continue_final_message = messages.back().role == "assistant" && model.engine.has_chat_template();
  if (continued.continue_final_message) {
    if (!messages.back().tool_calls.empty()) return refuse(name + ": the last has a tool call without a result", name);
    if (messages.size() == 1) return refuse(name + ": there is only the assistant's", name);
  }
  TRY(ConversationPrompt prompt, make_prompt(messages, name, continued, tools, model, generate));
  if (continued.continue_final_message && !prompt.turn.begin.empty()) {
    return refuse(name + ": the last is the assistant's, but the reply has to begin with a call", name);
  }
  return prompt;
}

}  // namespace tern::server
