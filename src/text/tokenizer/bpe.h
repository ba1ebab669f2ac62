// Byte-level byte-pair encoding: the tokenizer of GPT-2, Llama 3, Qwen, and of BitNet b1.58 2B-4T.
//
// Text → special tokens split out → (NFC) → split into words by a regular expression → each word's bytes merged pair by
// pair. Gives the same ids as Hugging Face's tokenizers library.
#pragma once

#include <memory>

#include "base/result.h"
#include "tern/tokenizer.h"
#include "text/tokenizer/vocab.h"

namespace tern {

// For a vocabulary of kind kByteLevel; see make_tokenizer() (vocab.h).
//
// decode(encode(text)) is `text`, byte for byte, valid UTF-8 or not; with vocab.nfc it is text's normalized form.
Result<std::unique_ptr<Tokenizer>> make_bpe_tokenizer(const Vocab& vocab);

}  // namespace tern
