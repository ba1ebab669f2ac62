// A model's Jinja chat template: a conversation in, the text that the model was trained on out.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "tern/engine.h"

namespace tern {

// A template is a program that comes with a model file. Nothing of it is looked at before a conversation is rendered,
// and then it is stopped before it has run for 2 seconds or made more than 32 MiB and 64 bytes for each of the
// conversation (512 MiB at most); see template_budget.h.
class ChatTemplate {
 public:
  // `bos` and `eos` are what bos_token and eos_token stand for in the template.
  ChatTemplate(std::string source, std::string bos, std::string eos)
      : source_(std::move(source)), bos_(std::move(bos)), eos_(std::move(eos)) {}

  // kNotSupported: a syntax that is wrong or unknown, or a template that is too large to be one.
  Result<void> check() const;

  // Threads may share the object.
  // Errors: those of check(); kNotSupported, what the template uses that Tern does not have, or a template that is
  // stopped; kInvalidArgument, what the template itself objects to, e.g. roles that do not alternate, and what
  // template_conversation.h says of requests.
  Result<std::string> render(std::span<const ChatMessage> messages, const ChatOptions& options = {}) const;

  std::string_view source() const { return source_; }
  std::string_view bos() const { return bos_; }
  std::string_view eos() const { return eos_; }

 private:
  std::string source_;
  std::string bos_;
  std::string eos_;
};

// The template of microsoft/bitnet-b1.58-2B-4T's tokenizer_config.json, in own words: BOS, then for each message
// "Role: content<|eot_id|>". The reply is prompted for by "Assistant: ", whose space is part of it.
std::string_view bitnet_chat_template();

// Whether this is what that model's GGUF files carry instead ("Human: … BITNETAssistant: "), which it was not trained
// on.
bool is_placeholder_chat_template(std::string_view source);

}  // namespace tern
