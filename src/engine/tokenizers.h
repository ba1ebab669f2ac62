// Making the tokenizer and the chat template of a model file.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/source.h"
#include "tern/tokenizer.h"
#include "text/chat_template.h"
#include "text/vocab.h"

namespace tern {

// Both are missing where the model comes without a tokenizer.
struct ModelText {
  std::unique_ptr<Tokenizer> tokenizer;
  std::optional<ChatTemplate> chat_template;
};

// `chat_template` is Jinja source to use instead of the model's; empty: the model's own.
Result<ModelText> read_model_text(const ModelSource& source, const std::string& chat_template = {});

// The tokenizer alone; null where the model comes without.
Result<std::unique_ptr<Tokenizer>> make_tokenizer(const ModelSource& source);

// Both of a vocabulary from anywhere; `path` is for messages. The token that the template puts after a reply
// becomes a stop token.
Result<ModelText> make_model_text(Vocab vocab, std::optional<std::string> chat_template, const std::string& path);

}  // namespace tern
