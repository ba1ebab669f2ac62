// A Hugging Face config.json in GGUF's terms.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/families/family.h"
#include "model/source/source_values.h"

namespace tern {

// How a directory's linear tensors become weights. For packed weights, transformers/integrations/bitnet.py defines what
// a BitNet layer computes: one class of layer multiplies by weight_scale, the other divides by it.
enum class HfLinear {
  kFloat,           // used unchanged
  kTernaryLatent,   // floats to quantize: s = 1 / mean|w|, round(w·s) clamped to ±1, times 1/s
  kPackedMultiply,  // packed codes; y = (W·x) · weight_scale (linear_class autobitlinear)
  kPackedDivide,    // packed codes; y = (W·x) / weight_scale (linear_class bitlinear)
};

struct HfConfig {
  const Family* family;
  std::string architecture;  // GGUF's name
  HfLinear linear = HfLinear::kFloat;
  bool has_input_norms = false;                            // every linear layer has its own norm before it
  std::optional<bool> attention_bias = {}, mlp_bias = {};  // true if there are biases; nullopt: not stated
  std::optional<bool> tied;                                // true if the output head is the embedding
  SourceValues values;
};

// Parses config.json. kCorruption: no such file; kNotSupported, naming it: an architecture, a quantization_config or a
// detail that Tern does not compute.
Result<HfConfig> parse_hf_config(std::string_view text, const std::string& path);

}  // namespace tern
