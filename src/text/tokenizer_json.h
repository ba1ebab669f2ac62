// Hugging Face's tokenizer.json, as far as it describes a byte-level BPE tokenizer.
#pragma once

#include <memory>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "tern/tokenizer.h"

namespace tern {

// `path` is only for messages.
//
// Understood: model BPE, with merges as strings or as pairs, and ignore_merges; added_tokens; normalizer none or NFC;
// pre_tokenizer ByteLevel, or Split with the expression of GPT-2, Llama 3 or Qwen 2; post_processor TemplateProcessing
// that puts one token (BOS) first. The file names no stop tokens, so those are the control tokens that are known to end
// a reply.
//
// Errors: kCorruption where the JSON is broken or has the wrong types; kNotSupported, naming what it is, for everything
// that would give other ids than Hugging Face's library does.
Result<std::unique_ptr<Tokenizer>> parse_tokenizer_json(Bytes json, std::string_view path);

}  // namespace tern
