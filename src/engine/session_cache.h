// Keeping a sequence's keys and values in a file (file/prompt_cache.h).
#pragma once

#include <string>

#include "engine/sequence.h"
#include "model/model.h"

namespace tern {

// 32 characters that differ where models do: MD5 of the configuration, of samples of every tensor and
// of overridden metadata. `is_long`: heads
// are turned as in long sequences, where the model does that otherwise. Errors: those of reading the file.
Result<std::string> model_key(const Model& model, bool is_long);

// Writes what the sequence holds, if anything. kIo.
Result<void> save_sequence(const Sequence& sequence, const std::string& model, const std::string& path);

// Gives the sequence what the file holds; false where there is no such file. Errors: those of parse_prompt_cache, kIo.
Result<bool> load_sequence(Sequence& sequence, const std::string& model, int n_vocab, const std::string& path);

}  // namespace tern
