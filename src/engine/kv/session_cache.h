// Saves and loads a sequence's KV cache as a file (file/prompt_cache.h).
#pragma once

#include <string>

#include "engine/kv/sequence.h"
#include "model/model.h"

namespace tern {

// A key of 32 characters that identifies the model: the MD5 of the configuration, of samples of every tensor and of
// overridden metadata. `is_long`: the model uses its RoPE variant for long sequences. Errors: those of reading the
// file.
Result<std::string> model_key(const Model& model, bool is_long);

// Writes the sequence's tokens and KV blocks; without tokens no file. If the model has recurrent layers, the sequence
// is shortened to what its state describes, which is written too. kIo.
Result<void> save_sequence(Sequence& sequence, const std::string& model, const std::string& path);

// Loads the file into the sequence; false if there is no such file. Errors: those of parse_prompt_cache, kIo.
Result<bool> load_sequence(Sequence& sequence, const std::string& model, int n_vocab, const std::string& path);

}  // namespace tern
