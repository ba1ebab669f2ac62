// Hugging Face's tokenizer.json, as far as it describes byte-level BPE or SentencePiece's BPE.
#pragma once

#include <memory>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "tern/tokenizer.h"
#include "text/tokenizer/vocab.h"

namespace tern {

// `path`: for messages only. The result owns what its views point to.
//
// Supported: model BPE, with merges as strings or as pairs, ignore_merges and byte_fallback; added_tokens with all
// their flags; post_processor TemplateProcessing that puts one token (BOS) first and one (the final token) last. The
// steps around the model are one of:
//  - byte-level: normalizer none or NFC; pre_tokenizer ByteLevel, alone or after Digits, or Split with one of the
//    expressions of word_patterns.h; decoder ByteLevel
//  - SentencePiece: normalizers Prepend and Replace, or pre_tokenizer Metaspace, turn the space into U+2581; decoders
//    Replace, ByteFallback, Fuse, Strip or Metaspace
// The file names no stop tokens; they are the control tokens that are known to end a reply.
//
// Errors: kCorruption: broken JSON or wrong types; kNotSupported, naming it: anything that would give other ids than
// Hugging Face's library does.
Result<Vocab> read_tokenizer_json(Bytes json, std::string_view path);

// The same as a tokenizer.
Result<std::unique_ptr<Tokenizer>> parse_tokenizer_json(Bytes json, std::string_view path);

}  // namespace tern
