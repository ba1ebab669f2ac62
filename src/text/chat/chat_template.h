// A model's Jinja chat template: turns a conversation into the text format that the model was trained on.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "tern/engine.h"

namespace tern {

struct MessageStyle;

// A template is a program that comes with a model file. It is not parsed before a conversation is rendered. Rendering
// stops before it has run for 2 seconds or made more than 32 MiB plus 64 bytes for each byte of the conversation (512
// MiB at most); see text/jinja/budget.h.
class ChatTemplate {
 public:
  // `bos` and `eos`: the template's values of bos_token and eos_token.
  ChatTemplate(std::string source, std::string bos, std::string eos)
      : source_(std::move(source)), bos_(std::move(bos)), eos_(std::move(eos)) {}

  // kNotSupported: wrong or unknown syntax, or an implausibly large template.
  Result<void> check() const;

  // Thread-safe. Errors: those of check(); kNotSupported: the template uses something that Tern lacks, or was stopped;
  // kInvalidArgument: the template itself raises an error, e.g. for roles that do not alternate, or the request is
  // invalid (template_conversation.h).
  Result<ChatPrompt> render(std::span<const ChatMessage> messages, const ChatOptions& options = {}) const;

  std::string_view source() const { return source_; }
  std::string_view bos() const { return bos_; }
  std::string_view eos() const { return eos_; }

 private:
  struct Styles;
  Result<ChatPrompt> render_as(const MessageStyle& style, std::span<const ChatMessage> messages,
                               const ChatOptions& options) const;
  MessageStyle find_call_style() const;
  bool wants_typed_content(const ChatOptions& options) const;

  std::string source_;
  std::string bos_;
  std::string eos_;
  std::shared_ptr<Styles> styles_ = make_styles();  // found when they are first needed
  static std::shared_ptr<Styles> make_styles();
};

// Equivalent to the template in microsoft/bitnet-b1.58-2B-4T's tokenizer_config.json: BOS, then "Role:
// content<|eot_id|>" for each message. The prompt for the reply is "Assistant: ", including the space.
std::string_view bitnet_chat_template();

// True for the placeholder in that model's GGUF files ("Human: … BITNETAssistant: "), which the model was not trained
// on.
bool is_placeholder_chat_template(std::string_view source);

}  // namespace tern
