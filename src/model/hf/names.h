// Tensor names of Hugging Face checkpoints, by GGUF's names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/families/family.h"

namespace tern {

// "blk.3.attn_q.weight" taken apart; nullopt for a name outside the layers.
struct LayerName {
  int number = 0;
  std::string_view rest;  // "attn_q"
};
std::optional<LayerName> parse_layer_name(std::string_view gguf_name);

// The names under which the family's checkpoints have the tensor, the most usual first; empty for one that it has not.
std::vector<std::string> hf_names(const Family& family, std::string_view gguf_name);

// Whether the GGUF name is that of a linear layer's matrix.
bool is_linear_name(const Family& family, std::string_view gguf_name);

// GGUF's name of a checkpoint's tensor, or for `X.weight_scale` of the matrix that it belongs to. nullopt: the family
// does not have it.
std::optional<std::string> gguf_name_of(const Family& family, std::string_view hf_name);

// Whether the family takes this tensor of a checkpoint, or may leave it out without changing what is computed.
bool is_known_hf_name(const Family& family, std::string_view hf_name);

}  // namespace tern
