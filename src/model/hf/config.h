// What a Hugging Face config.json says, in GGUF's terms.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/families/family.h"
#include "model/source_values.h"

namespace tern {

// How the linear layers of a directory's tensors become weights. What a BitNet layer computes from the packed ones is
// in transformers/integrations/bitnet.py: the same name, weight_scale, is multiplied by in one class of layer and
// divided by in the other.
enum class HfLinear {
  kFloat,           // as they are
  kTernaryLatent,   // floats that are made ternary: s = 1 / mean|w|, round(w·s) clamped to ±1, times 1/s
  kPackedMultiply,  // packed codes; y = (W·x) · weight_scale (linear_class autobitlinear)
  kPackedDivide,    // packed codes; y = (W·x) / weight_scale (linear_class bitlinear)
};

struct HfConfig {
  const Family* family;
  std::string architecture;  // GGUF's name of it
  HfLinear linear = HfLinear::kFloat;
  bool has_input_norms = false;                            // a norm of its own before every linear layer
  std::optional<bool> attention_bias = {}, mlp_bias = {};  // whether there are any, where the file says
  std::optional<bool> tied;                                // whether the head is the embedding
  SourceValues values;
};

// Parses config.json. kCorruption: no such file; kNotSupported: an architecture, a quantization_config or a detail that
// Tern does not compute, by its name.
Result<HfConfig> parse_hf_config(std::string_view text, const std::string& path);

}  // namespace tern
