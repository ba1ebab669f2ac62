// The shape of a model: everything that decides which steps run, and nothing about where the weights are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/source/rope.h"

namespace tern {

// The activation of the feed-forward layer's gate: out = act(gate) · up.
enum class GluAct {
  kRelu2,      // relu(x)²
  kSilu,       // x / (1 + e⁻ˣ)
  kGeluTanh,   // x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))
  kSwigluOai,  // x / (1 + e^(−1.702 x)); out = act(gate) · (up + 1)
};

// Mixtures of experts: a layer has many feed-forward networks, and a router chooses some of them for each token.
struct ExpertConfig {
  int n = 0;                   // networks of a layer; 0: no mixtures
  int n_used = 0;              // for each token
  int d_ff = 0;                // width of one network
  int d_ff_shared = 0;         // of the network that all tokens use, too; 0: none
  bool weighs_chosen = false;  // the weights are the softmax of the chosen scores, else of all scores
  // If not 0, the gate is at most this, and |up| too.
  float limit = 0;

  bool operator==(const ExpertConfig&) const = default;
};

// Recurrent layers (Gated DeltaNet, Yang et al. 2024): they keep a state of fixed size instead of keys and values.
struct DeltaConfig {
  int n_k_heads = 0;
  int n_v_heads = 0;             // a multiple of n_k_heads
  int head_dim = 0;              // of keys and of values
  int conv_taps = 0;             // tokens that the convolution sees, its own included
  bool rotates_grouped = false;  // the rotation of the output's matrix takes the heads in the other order
  bool is_tiled = false;  // head h of the values belongs to key head h % n_k_heads, else to h / (n_v_heads / n_k_heads)

  int key_width() const { return n_k_heads * head_dim; }
  int value_width() const { return n_v_heads * head_dim; }
  int channels() const { return 2 * key_width() + value_width(); }  // of the convolution: queries, keys, values
  bool operator==(const DeltaConfig&) const = default;
};

inline constexpr int kNoRope = -1;

// Values that may differ between layers.
struct LayerConfig {
  int window = 0;             // a token attends to itself and the window − 1 tokens before it; 0: to all
  int rope = 0;               // index in Config::ropes; kNoRope: queries and keys do not rotate
  bool is_recurrent = false;  // Config::delta instead of attention
  // This layer's values of Config's members; 0: the same.
  int n_heads = 0;
  int n_kv_heads = 0;
  int head_dim = 0;
  int d_ff = 0;
  int kv_layer = -1;  // the layer that makes the keys and values that this one reads; −1: itself
};

struct Config {
  std::string architecture;  // as in the file
  int n_layers = 0;
  int d_model = 0;     // width of the residual stream
  int n_heads = 0;     // query heads; the maximum if layers differ
  int n_kv_heads = 0;  // key and value heads, likewise; each layer's n_heads is a multiple
  int head_dim = 0;    // the maximum if layers differ
  int d_ff = 0;        // width of the feed-forward layer, likewise
  int n_vocab = 0;
  int n_ctx = 0;  // context length of the training
  float rms_eps = 0;
  std::vector<RopeParams> ropes = {{}};
  std::vector<LayerConfig> layers = {};  // empty: all layers are LayerConfig{}
  DeltaConfig delta = {};                // of the recurrent layers
  ExpertConfig experts = {};             // of the mixtures
  bool has_gated_attention = false;      // attn_q has a gate behind each head: attention's output · sigmoid(gate)
  bool norms_follow_rope = false;        // norms of heads take the rotated q and k
  int n_prediction_layers = 0;           // layers after the last one that only propose draft tokens; they are not read
  int per_layer_width = 0;               // of the input that each layer gets from the token itself; 0: there is none
  int rotation_block = 0;                // of matrices that were rotated (Tensor::rotation): a power of two
  GluAct glu_act = GluAct::kRelu2;
  bool int8_activations = true;  // linear layers are BitLinear: ternary weights, input quantized to int8 per token
  // Factors of models trained with µP and similar methods. All but the first are folded into the weights on reading.
  float embedding_scale = 1;  // multiplies the embedding
  float residual_scale = 1;   // multiplies the output of each half of a layer before it is added to the residual stream
  float attention_scale = 0;  // multiplies q·k before the softmax; 0: 1/√head_dim
  float logit_scale = 1;      // divides the logits
  // Soft limits on values, x → cap · tanh(x / cap); 0: no limit.
  float attention_softcap = 0;  // on scaled q·k before the softmax
  float logit_softcap = 0;

  // Values of layer i, with defaults filled in.
  LayerConfig layer(int i) const {
    LayerConfig l = layers.empty() ? LayerConfig{} : layers[static_cast<size_t>(i)];
    if (l.n_heads == 0) l.n_heads = n_heads;
    if (l.n_kv_heads == 0) l.n_kv_heads = n_kv_heads;
    if (l.head_dim == 0) l.head_dim = head_dim;
    if (l.d_ff == 0) l.d_ff = d_ff;
    if (l.kv_layer < 0) l.kv_layer = i;
    return l;
  }
  bool has_own_kv(int i) const { return layer(i).kv_layer == i; }
  bool has_recurrent_layers() const { return std::ranges::any_of(layers, &LayerConfig::is_recurrent); }
  // For setting values that differ between layers.
  std::vector<LayerConfig>& each_layer() {
    layers.resize(static_cast<size_t>(n_layers));
    return layers;
  }
  bool layers_differ(int LayerConfig::* in) const {
    for (int i = 1; i < n_layers; ++i) {
      if (layer(i).*in != layer(0).*in) return true;
    }
    return false;
  }

  // True for a tensor of a layer that only proposes draft tokens, by its name in GGUF files.
  bool is_of_prediction(std::string_view tensor) const {
    for (int i = n_layers; i < n_layers + n_prediction_layers; ++i) {
      if (tensor.starts_with("blk." + std::to_string(i) + ".")) return true;
    }
    return false;
  }

  // True for a tensor of GGUF files that makes keys and values in a layer that reads another's.
  bool is_of_unused_kv(std::string_view tensor) const {
    for (int i = 0; i < n_layers; ++i) {
      const std::string blk = "blk." + std::to_string(i) + ".attn_";
      if (!tensor.starts_with(blk) || has_own_kv(i)) continue;
      const std::string_view rest = tensor.substr(blk.size());
      return rest == "k.weight" || rest == "v.weight" || rest == "k_norm.weight";
    }
    return false;
  }

  // Widths of one layer, and bounds for all.
  int q_width(int i) const { return layer(i).n_heads * layer(i).head_dim; }
  int kv_width(int i) const { return layer(i).n_kv_heads * layer(i).head_dim; }
  int q_width() const { return n_heads * head_dim; }
  int kv_width() const { return n_kv_heads * head_dim; }
};

}  // namespace tern
