// SentencePiece's byte-pair encoding: the tokenizer of Llama 2 and Phi-3.
//
// Text → special tokens split out → a space put in front → characters, or the bytes of those that are no token → merged
// pair by pair. Gives the ids that Hugging Face's tokenizers library gives for the tokenizer.json of such a model.
#pragma once

#include <memory>

#include "base/result.h"
#include "tern/tokenizer.h"
#include "text/vocab.h"

namespace tern {

// For a vocabulary of kind kSentencePiece; see make_tokenizer() (vocab.h). The order of merges is that of vocab.merges;
// without them it follows from vocab.scores: of all pairs that spell a token, the one with the highest score, and the
// leftmost of equals.
//
// Where the vocabulary has tokens for bytes, decode(encode(text)) is `text` byte for byte, except that U+2581 comes
// back as a space and that white space swallowed by special tokens is lost. Without them what is no token becomes
// `unk`.
Result<std::unique_ptr<Tokenizer>> make_sentence_piece_tokenizer(const Vocab& vocab);

}  // namespace tern
