// What a model's makers recommend for sampling, as it comes with the model.
#pragma once

#include "file/gguf_writer.h"
#include "model/source.h"
#include "tern/options.h"

namespace tern {

// Of a GGUF file the keys `general.sampling.*`, of a Hugging Face directory generation_config.json, of an MLC directory
// mlc-chat-config.json. A recommendation is no reason to refuse a model: what cannot be followed is in `not_followed`,
// and the rest holds.
//
// The names of GGUF's keys: ggml-org/llama.cpp, gguf-py/gguf/constants.py. Those of the files: transformers'
// GenerationConfig and mlc-llm's MLCChatConfig. `do_sample: false` is temperature 0, and a top-k below 0 is 0, as
// there.
SamplingAdvice read_sampling_advice(const ModelSource& source);

// Adds the keys `general.sampling.*` from which read_sampling_advice() reads these values back.
void write_gguf_sampling(const SampleOptions& values, GgufWriter& writer);

// Whether any number is given.
bool gives_any(const SampleOptions& options);

}  // namespace tern
