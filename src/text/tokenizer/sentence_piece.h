// SentencePiece's byte-pair encoding: the tokenizer of Llama 2 and Phi-3.
//
// Text → special tokens split out → a space added in front → characters, or their bytes if they are not tokens → merged
// pair by pair. Gives the same ids as Hugging Face's tokenizers library with the tokenizer.json of such a model.
#pragma once

#include <memory>

#include "base/result.h"
#include "tern/tokenizer.h"
#include "text/tokenizer/vocab.h"

namespace tern {

// For a vocabulary of kind kSentencePiece; see make_tokenizer() (vocab.h). Merges follow the order of vocab.merges. If
// it is empty, they follow vocab.scores: of all pairs that spell a token, the one with the highest score merges first,
// and the leftmost of equals.
//
// If the vocabulary has byte tokens, decode(encode(text)) is `text` byte for byte, except that U+2581 becomes a space
// and white space stripped by special tokens is lost. Without byte tokens, unknown characters become `unk`.
Result<std::unique_ptr<Tokenizer>> make_sentence_piece_tokenizer(const Vocab& vocab);

}  // namespace tern
