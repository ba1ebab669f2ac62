// RoPE of a Hugging Face or MLC configuration, in GGUF's terms.
#pragma once

#include "model/hf/json_config.h"

namespace tern {

// Sets `PREFIXrope.*` and, if pairs have individual divisors, the tensors rope_freqs or rope_factors_*. kNotSupported:
// a scaling that Tern does not compute, or partial RoPE; kCorruption: invalid values.
Result<void> set_rope(const JsonConfig& config, const std::string& prefix, SourceValues& values);

}  // namespace tern
