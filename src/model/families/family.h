// The families that Tern runs: the names in their files and the parts of their layers. docs/adding_a_model.md shows how
// to add one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/source/config.h"
#include "model/source/source.h"
#include "model/source/weights.h"

namespace tern {

// What converters to GGUF do to a checkpoint's tensor.
enum class HfChange {
  kUsual,       // Family::hf_norm_offset is added to gains
  kNone,        // not even that
  kNegatedExp,  // x → −eˣ
  kSqueeze,     // [channels, 1, taps] becomes a matrix of f32
  kStack,       // the matrices of all experts, "*" in the name, become one tensor
  kFirstHalf,   // of each expert's rows
  kLastHalf,
  kEvenRows,  // of gpt-oss's experts, in another order (hf/gpt_oss_experts.h)
  kOddRows,
  kAllRows,
};

// A tensor's names in GGUF and in Hugging Face checkpoints, without "blk.N." and "model.layers.N.", and without
// ".weight" where both have it.
struct TensorName {
  std::string_view gguf;
  std::string_view hf;
  bool is_linear = false;  // the matrix of a linear layer
  bool is_whole = false;   // the names have no ending
  HfChange change = HfChange::kUsual;
};

// Mixtures of experts, and what the weights of the chosen ones are: the softmax of all scores, or of the chosen. The
// latter is the same as making the weights of the first kind sum to 1.
enum class Experts { kNone, kSoftmaxOfAll, kSoftmaxOfChosen };

// What the layers of a family have in addition to Llama's. Biases are read wherever a file has them.
struct LayerParts {
  bool head_norms = false;    // norms of each head of q and k
  bool whole_norms = false;   // norms of all heads of q together, and of k
  bool sub_norms = false;     // norms of the inputs of attn_output and ffn_down
  bool post_norms = false;    // on attention's and feed-forward's output, before it joins the residual stream
  bool joined = false;        // q, k and v share one matrix, gate and up another
  bool partial_rope = false;  // only the first dimensions of a head may rotate
  bool layer_inputs = false;  // Gemma 4's: inputs for each layer, norms of values, shared keys and values
  bool delta = false;         // recurrent layers
  bool sinks = false;         // a score of every head that has no value
  Experts experts = Experts::kNone;
  bool dense_beside_experts = false;       // a file may have a mixture, whose layers keep their dense network
  std::string_view ffn_norm = "ffn_norm";  // the GGUF name of the norm before feed-forward
};

// Which models of a family have BitLinear layers: ternary weights with the input quantized to int8 per token. No key of
// a GGUF file says so.
enum class BitLinear {
  kNever,
  kAlways,
  kI2s,       // models with I2_S layers; the format has no other use
  kOneScale,  // these, and models in TQ1_0 or TQ2_0 whose blocks share one scale; in other models scales differ
};

struct Family {
  std::string_view architecture;  // in GGUF files
  std::string_view model_type;    // in config.json and mlc-chat-config.json; empty: not read from them
  // A config.json for text and images has this type, and the family's values in text_config. The tensors are below
  // "model.language_model.". Those for images are left out.
  std::string_view outer_model_type = {};
  LayerParts parts = {};
  GluAct glu_act = GluAct::kSilu;  // if the file names none
  BitLinear bitlinear = BitLinear::kNever;
  // The row order of attn_q and attn_k in GGUF files.
  RopePairs gguf_pairs = RopePairs::kHalves;
  std::span<const TensorName> hf_in_layer = {};  // empty: the usual names
  float hf_norm_offset = 0;                      // checkpoints store gains minus this, GGUF files whole gains
  bool needs_window = false;                     // the file must state the layers' window, even if it is 0
  // Reads and checks what is specific to the family, after read_config() did the common part; null: nothing.
  Result<void> (*finish)(ModelSource& source, Config& config) = nullptr;
};

std::span<const Family> families();
const Family* find_family(std::string_view architecture);  // null: unknown

// The tensors outside the layers, and those inside, by name.
std::span<const TensorName> outer_names();
std::span<const TensorName> layer_names(const Family& family);

// Reads all hyper-parameters. kCorruption: one is missing or invalid; kNotSupported, naming the key: a model that Tern
// does not compute.
Result<Config> read_config(ModelSource& source, const Family& family);

Result<Weights> read_weights(ModelSource& source, const Family& family, const Config& config);
// The one layer that predicts; null without one, or if it is not of the known form.
Result<std::unique_ptr<PredictionBlock>> read_prediction_block(ModelSource& source, const Family& family,
                                                               const Config& config, const Weights& weights);
// One layer, by its number in the file.
class TensorReader;
Result<Layer> read_layer(const TensorReader& tensors, int layer, const Family& family, const Config& config);

std::string_view glu_act_name(GluAct act);                  // "silu"
std::optional<GluAct> find_glu_act(std::string_view name);  // by any program's name for it: "swish"

// Family::finish of families with special rules.
Result<void> finish_bitnet(ModelSource& source, Config& config);
Result<void> finish_phi3(ModelSource& source, Config& config);
Result<void> finish_gemma2(ModelSource& source, Config& config);
Result<void> finish_gemma3(ModelSource& source, Config& config);
Result<void> finish_gemma4(ModelSource& source, Config& config);
Result<void> finish_qwen35(ModelSource& source, Config& config);
Result<void> finish_gpt_oss(ModelSource& source, Config& config);
Result<void> finish_maple(ModelSource& source, Config& config);
Result<void> finish_hunyuan(ModelSource& source, Config& config);

// Reads the tensors of layers that are specific to Qwen3.5: the recurrent layer, or attention with its gate.
Result<void> read_delta_layer(const TensorReader& tensors, int layer, const Config& config, Layer& out);

// Mixtures of experts: their shape, and a layer's tensors. Errors as of read_config() and read_weights().
Result<void> read_expert_shape(const ModelSource& source, const Family& family, Config& config);
Result<void> read_expert_layer(const TensorReader& tensors, int layer, const Family& family, const Config& config,
                               Layer& out);
// Read what is specific to Gemma 4: a layer's attention and its own input, and the tensors outside the layers.
Result<void> read_gemma4_layer(const TensorReader& tensors, int layer, const Config& config, Layer& out);
Result<void> read_gemma4_inputs(const TensorReader& tensors, const Config& config, Weights& out);
void add_value_norms(const Config& config, Weights& weights);  // Layer::attn_v_norm

}  // namespace tern
