// The sampling parameters that a model's makers recommend, as far as they come with the model.
#pragma once

#include "file/gguf/gguf_writer.h"
#include "model/source/source.h"
#include "tern/options.h"

namespace tern {

// Reads the recommendation from a GGUF file's keys `general.sampling.*`, a Hugging Face directory's
// generation_config.json, or an MLC directory's mlc-chat-config.json. A bad recommendation does not make a model
// unusable: what Tern cannot follow goes to `not_followed`, and the rest applies.
//
// Names of GGUF's keys: ggml-org/llama.cpp, gguf-py/gguf/constants.py. Names in the files: transformers'
// GenerationConfig and mlc-llm's MLCChatConfig. As there, `do_sample: false` means temperature 0, and a top-k below 0
// means 0.
SamplingAdvice read_sampling_advice(const ModelSource& source);

// Adds the keys `general.sampling.*` from which read_sampling_advice() reads the same values.
void write_gguf_sampling(const SampleOptions& values, GgufWriter& writer);

// True if any number is set.
bool gives_any(const SampleOptions& options);

}  // namespace tern
