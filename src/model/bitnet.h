// BitNet b1.58 2B-4T and its relatives: ternary linear layers on int8 activations, a norm before each output
// projection, ReLU² gate (Ma et al. 2025, "BitNet b1.58 2B4T Technical Report"; transformers' models/bitnet).
#pragma once

#include "base/result.h"
#include "file/gguf.h"
#include "model/config.h"
#include "model/weights.h"

namespace tern::bitnet {

// Reads ARCH.* metadata, where ARCH is general.architecture.
Result<Config> read_config(const GgufFile& file, const std::string& architecture);

// Fetches every tensor by the names that microsoft/bitnet-b1.58-2B-4T-gguf uses.
Result<Weights> read_weights(const GgufFile& file, const Config& config);

}  // namespace tern::bitnet
