// Creates the tokenizer and the chat template of a model file.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/source/source.h"
#include "tern/tokenizer.h"
#include "text/chat/chat_template.h"
#include "text/chat/turn_tokenizer.h"
#include "text/tokenizer/vocab.h"

namespace tern {

// All members are empty if the model has no tokenizer.
struct ModelText {
  std::unique_ptr<Tokenizer> tokenizer;
  std::optional<ChatTemplate> chat_template;  // not parsed yet
  TurnTokenizer* turns = nullptr;             // the tokenizer, if there is a template
};

// `chat_template` is Jinja source that replaces the model's own; it is checked at once. Empty: the model's own.
Result<ModelText> read_model_text(const ModelSource& source, const std::string& chat_template = {});

// Only the tokenizer; null if the model has none.
Result<std::unique_ptr<Tokenizer>> make_tokenizer(const ModelSource& source);

// Builds all of it from a vocabulary of any source; `path` is for messages.
Result<ModelText> make_model_text(Vocab vocab, std::optional<std::string> chat_template, const std::string& path);

}  // namespace tern
