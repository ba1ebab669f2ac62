// A model's shape as the metadata keys of a GGUF file.
#pragma once

#include "file/gguf_writer.h"
#include "model/config.h"

namespace tern {

// Adds `general.architecture` and every `ARCH.key` from which read_config() reads the same Config, and llama.cpp too.
void write_gguf_config(const Config& config, GgufWriter& writer);

}  // namespace tern
