// Making the tokenizer and the chat template of a model file.
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "file/gguf.h"
#include "tern/tokenizer.h"
#include "text/chat_template.h"

namespace tern {

// Null where the file holds no tokenizer.
Result<std::unique_ptr<Tokenizer>> make_tokenizer(const GgufFile& file);

// std::nullopt where the file holds no template.
Result<std::optional<ChatTemplate>> make_chat_template(const GgufFile& file, const Tokenizer& tokenizer);

}  // namespace tern
