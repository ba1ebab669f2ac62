// A model's Jinja chat template: a conversation in, the text that the model was trained on out.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tern/engine.h"

namespace tern {

class ChatTemplate {
 public:
  // `bos` and `eos` are what bos_token and eos_token stand for in the template.
  // kNotSupported: a syntax that is wrong or unknown, or a template that is too large to be one (see template_guard.h).
  static Result<ChatTemplate> parse(std::string source, std::string bos, std::string eos);
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // Threads may share the object.
  // kInvalidArgument: what the template itself objects to, e.g. roles that do not alternate.
  Result<std::string> render(std::span<const ChatMessage> messages, const ChatOptions& options = {}) const;

 private:
  struct Impl;
  explicit ChatTemplate(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The template of microsoft/bitnet-b1.58-2B-4T's tokenizer_config.json, in own words: BOS, then for each message
// "Role: content<|eot_id|>". The reply is prompted for by "Assistant: ", whose space is part of it.
std::string_view bitnet_chat_template();

// Whether this is what that model's GGUF files carry instead ("Human: … BITNETAssistant: "), which it was not trained
// on.
bool is_placeholder_chat_template(std::string_view source);

}  // namespace tern
