// The two formats that are called tokenizer.model: tiktoken's ranks, as Llama 3 is published with, and SentencePiece's
// own protobuf, as Llama 2 and Phi-3 are.
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "text/vocab.h"

namespace tern {

// `path` is only for messages. The result owns what its views point to.
//
// tiktoken: a line for each token, its bytes in base64 and its rank, which is also its id and the order of merging. The
// file names no special tokens and no pre-tokenizer; they are taken to be those of Llama 3: 256 tokens from
// <|begin_of_text|> on.
//
// SentencePiece: pieces, scores and types of a BPE model with an identity normalizer. Unigram models are refused.
//
// Errors: kCorruption where the file contradicts its format, with the line or the byte; kNotSupported.
Result<Vocab> read_tokenizer_model(Bytes file, std::string_view path);

// Whether the file begins like one of the two.
bool looks_like_tokenizer_model(Bytes file);

}  // namespace tern
