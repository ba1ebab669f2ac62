// The families that Tern runs: how each reads its shape and its weights. docs/adding_a_model.md shows how one is added.
#pragma once

#include <string>

#include "base/result.h"
#include "model/config.h"
#include "model/source.h"
#include "model/weights.h"

namespace tern {

namespace bitnet {  // BitNet b1.58: sub-norms, relu² (or SiLU), int8 activations
Result<Config> read_config(ModelSource& source, const std::string& architecture);
Result<Weights> read_weights(ModelSource& source, const Config& config);
}  // namespace bitnet

namespace llama {  // Llama's layers: with ternary weights and int8 activations, or with float ones
Result<Config> read_config(ModelSource& source, const std::string& architecture);
Result<Weights> read_weights(ModelSource& source, const Config& config);
}  // namespace llama

namespace phi3 {  // Llama's layers, with q, k, v in one matrix and gate and up in another
Result<Config> read_config(ModelSource& source, const std::string& architecture);
Result<Weights> read_weights(ModelSource& source, const Config& config);
}  // namespace phi3

namespace qwen3 {  // a norm for every head of q and k
Result<Config> read_config(ModelSource& source, const std::string& architecture);
Result<Weights> read_weights(ModelSource& source, const Config& config);
}  // namespace qwen3

// What all have in common (transformer.cc).

// Every hyper-parameter but what a family decides for itself. kNotSupported: a kind of RoPE that Tern does not compute.
Result<Config> read_transformer_config(ModelSource& source, const std::string& architecture);

// The activation that the file names, else `usual`. kNotSupported: another than Tern computes.
Result<GluAct> read_glu_act(const ModelSource& source, const Config& config, GluAct usual);

// The embedding, the final norm, and the head where it is a matrix of its own.
Result<Weights> read_outer_weights(ModelSource& source, const Config& config);

}  // namespace tern
