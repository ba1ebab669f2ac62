// The tokenizer and the chat template of a GGUF file, with the repairs that published files need.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "file/gguf.h"
#include "text/vocab.h"

namespace tern {

// std::nullopt where the file holds no tokenizer. The views point into the file.
//
// Repairs, both for microsoft/bitnet-b1.58-2B-4T-gguf, whose tokenizer is Llama 3's: a BitNet file without
// `tokenizer.ggml.pre` means llama-bpe (read as GPT-2 it gives other ids, and loses ignore_merges and BOS); <|eot_id|>
// ends a reply although only <|end_of_text|> is declared.
Result<std::optional<BpeVocab>> read_gguf_vocab(const GgufFile& file);

// The Jinja source of the chat template; std::nullopt where there is none. A BitNet file's placeholder is replaced by
// the template of the model's tokenizer_config.json.
Result<std::optional<std::string>> read_gguf_chat_template(const GgufFile& file);

}  // namespace tern
