// Tensor names of Hugging Face checkpoints, by GGUF's names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/families/family.h"

namespace tern {

// "blk.3.attn_q.weight" in parts; nullopt: a name outside the layers.
struct LayerName {
  int number = 0;
  std::string_view rest;  // "attn_q"
};
std::optional<LayerName> parse_layer_name(std::string_view gguf_name);

// The tensor's names in the family's checkpoints, the most common first; empty: unknown to the family.
std::vector<std::string> hf_names(const Family& family, std::string_view gguf_name);

// The layer that proposes draft tokens has names of its own in checkpoints; in GGUF files it is layer `number`, behind
// the last one. hf_prediction_names(): like hf_names(), for a tensor of that layer. gguf_prediction_name(): the other
// way round; nullopt: not a tensor of that layer in the form that Tern knows.
bool is_prediction_name(std::string_view hf_name);
std::vector<std::string> hf_prediction_names(const Family& family, std::string_view gguf_name);
std::optional<std::string> gguf_prediction_name(const Family& family, std::string_view hf_name, int64_t number);

// True for a linear layer's matrix.
bool is_linear_name(const Family& family, std::string_view gguf_name);

// The GGUF name of a checkpoint's tensor; for `X.weight_scale`, that of its matrix. nullopt: not a tensor of the
// family.
std::optional<std::string> gguf_name_of(const Family& family, std::string_view hf_name);

// The entry of layer_names() or outer_names() for a tensor's two names; null: unknown to the family.
const TensorName* find_tensor_name(const Family& family, std::string_view gguf_name, std::string_view hf_name);

// True if the family uses this tensor of a checkpoint, or if leaving it out has no effect on the results.
bool is_known_hf_name(const Family& family, std::string_view hf_name);

}  // namespace tern
