// The two formats named tokenizer.model: tiktoken's ranks, as published with Llama 3, and SentencePiece's own protobuf,
// as published with Llama 2 and Phi-3.
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "text/tokenizer/vocab.h"

namespace tern {

// `path`: for messages only. The result owns what its views point to.
//
// tiktoken: a line for each token with its bytes in base64 and its rank, which is also its id and its place in the
// order of merging. The file names no special tokens and no pre-tokenizer; Llama 3's are assumed: 256 tokens from
// <|begin_of_text|> on.
//
// SentencePiece: pieces, scores and types of a BPE model with an identity normalizer. Unigram models are refused.
//
// Errors: kCorruption, naming the line or the byte: the file contradicts its format; kNotSupported.
Result<Vocab> read_tokenizer_model(Bytes file, std::string_view path);

// True if the file begins like one of the two formats.
bool looks_like_tokenizer_model(Bytes file);

}  // namespace tern
