// The families that Tern runs: what their files call themselves and their tensors, and what their layers have.
// docs/adding_a_model.md shows how one is added.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/config.h"
#include "model/source.h"
#include "model/weights.h"

namespace tern {

// A tensor by GGUF's name and by that of a Hugging Face checkpoint; both without "blk.N.", "model.layers.N." and
// ".weight".
struct TensorName {
  std::string_view gguf;
  std::string_view hf;
  bool is_linear = false;  // the matrix of a linear layer
};

// What the layers of a family have beside Llama's. Biases are read wherever a file has them.
struct LayerParts {
  bool head_norms = false;  // of every head of q and k
  bool sub_norms = false;   // of what attn_output and ffn_down read
  bool post_norms = false;  // of what attention and the feed-forward layer add to the residual stream
  bool joined = false;      // q, k and v lie in one matrix, gate and up in another
};

// Which models of a family have BitLinear layers: ternary weights, and their input quantised to int8 per token. No key
// of a GGUF file says so.
enum class BitLinear {
  kNever,
  kAlways,
  kI2s,       // those whose layers are I2_S, which is used for nothing else
  kOneScale,  // these, and those in TQ1_0 and TQ2_0 whose blocks have one scale: ordinary models' have scales of their
              // own
};

struct Family {
  std::string_view architecture;  // in GGUF files
  std::string_view model_type;    // in config.json and mlc-chat-config.json; empty: not read from there
  LayerParts parts = {};
  GluAct glu_act = GluAct::kSilu;  // where a file names none
  BitLinear bitlinear = BitLinear::kNever;
  // How GGUF files order the rows of attn_q and attn_k.
  RopePairs gguf_pairs = RopePairs::kHalves;
  std::span<const TensorName> hf_in_layer = {};  // empty: the usual ones
  float hf_norm_offset = 0;                      // checkpoints hold gains less this, GGUF files whole ones
  bool needs_window = false;  // a file says how wide the layers' window is, if only that there is none
  // What is left to read or to check once read_config() has done what all have in common; null: nothing.
  Result<void> (*finish)(ModelSource& source, Config& config) = nullptr;
};

std::span<const Family> families();
const Family* find_family(std::string_view architecture);  // null: none

// The tensors outside the layers and inside them, by name.
std::span<const TensorName> outer_names();
std::span<const TensorName> layer_names(const Family& family);

// Every hyper-parameter. kCorruption: one is missing or makes no sense; kNotSupported: a model that Tern does not
// compute, by the key's name.
Result<Config> read_config(ModelSource& source, const Family& family);

Result<Weights> read_weights(ModelSource& source, const Family& family, const Config& config);

std::string_view glu_act_name(GluAct act);                  // "silu"
std::optional<GluAct> find_glu_act(std::string_view name);  // by any name that a program has for it: "swish"

// What is peculiar to some (Family::finish).
Result<void> finish_bitnet(ModelSource& source, Config& config);
Result<void> finish_phi3(ModelSource& source, Config& config);
Result<void> finish_gemma2(ModelSource& source, Config& config);
Result<void> finish_gemma3(ModelSource& source, Config& config);

}  // namespace tern
