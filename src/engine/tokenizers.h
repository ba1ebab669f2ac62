// Making the tokenizer and the chat template of a model file.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/source.h"
#include "tern/tokenizer.h"
#include "text/chat_template.h"
#include "text/turn_tokenizer.h"
#include "text/vocab.h"

namespace tern {

// All are missing where the model comes without a tokenizer.
struct ModelText {
  std::unique_ptr<Tokenizer> tokenizer;
  std::optional<ChatTemplate> chat_template;  // not looked at yet
  TurnTokenizer* turns = nullptr;             // the tokenizer, where there is a template
};

// `chat_template` is Jinja source to use instead of the model's; empty: the model's own.
// One that is given is checked.
Result<ModelText> read_model_text(const ModelSource& source, const std::string& chat_template = {});

// The tokenizer alone; null where the model comes without.
Result<std::unique_ptr<Tokenizer>> make_tokenizer(const ModelSource& source);

// All of a vocabulary from anywhere; `path` is for messages.
Result<ModelText> make_model_text(Vocab vocab, std::optional<std::string> chat_template, const std::string& path);

}  // namespace tern
