// The tokenizer and the chat template of a GGUF file, with the repairs that published files need.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "file/gguf/gguf.h"
#include "file/gguf/gguf_writer.h"
#include "text/tokenizer/vocab.h"

namespace tern {

// std::nullopt: the file has no tokenizer. The views point into the file.
//
// `tokenizer.ggml.model` is "gpt2" (byte-level BPE) or "llama" (SentencePiece's BPE). Stop tokens are the declared ones
// and the control tokens that are known to end a turn.
//
// Repairs: microsoft/bitnet-b1.58-2B-4T-gguf, whose tokenizer is Llama 3's, has no `tokenizer.ggml.pre`; in a BitNet
// file that means llama-bpe (read as GPT-2 it gives other ids, and loses ignore_merges and BOS). If neither the file
// nor its family says how text is split into words, the file is refused. GGUF cannot express that a token strips the
// white space after it, as Phi-3's do; see the implementation for how those files are recognized.
Result<std::optional<Vocab>> read_gguf_vocab(const GgufFile& file);

// Adds the keys `tokenizer.ggml.*` from which llama.cpp and Tern read the same vocabulary. Unused tokens fill it up to
// `n_rows`, the rows of the model's embedding, because llama.cpp requires both to have the same size. What GGUF has no
// key for goes into Tern's own keys, `tern.tokenizer.*`, if it differs from the default. Errors: those of
// check_vocab(); kInvalidArgument: the vocabulary has more than `n_rows` tokens.
Result<void> write_gguf_vocab(const Vocab& vocab, GgufWriter& writer, size_t n_rows = 0);

// The Jinja source of the chat template; std::nullopt: there is none. A BitNet file's placeholder is replaced by the
// template of the model's tokenizer_config.json.
Result<std::optional<std::string>> read_gguf_chat_template(const GgufFile& file);

}  // namespace tern
