// A model's shape as the metadata keys of a GGUF file.
#pragma once

#include "file/gguf/gguf_writer.h"
#include "model/source/config.h"

namespace tern {

// Adds `general.architecture` and the `ARCH.key` values from which read_config() and llama.cpp read the same Config.
void write_gguf_config(const Config& config, GgufWriter& writer);

}  // namespace tern
