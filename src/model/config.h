// The shape of a model: everything that decides which steps run, and nothing about where the weights are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/rope.h"

namespace tern {

// What the feed-forward layer does with its gate: out = act(gate) · up.
enum class GluAct {
  kRelu2,     // relu(x)²
  kSilu,      // x / (1 + e⁻ˣ)
  kGeluTanh,  // x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))
};

// What may differ from layer to layer.
struct LayerConfig {
  int window = 0;  // a token attends to itself and the window − 1 tokens before it; 0: to all
  int rope = 0;    // of Config::ropes
  // As Config has them, but for this layer; 0: the same.
  int n_heads = 0;
  int n_kv_heads = 0;
  int d_ff = 0;
};

struct Config {
  std::string architecture;  // as in the file
  int n_layers = 0;
  int d_model = 0;     // width of the residual stream
  int n_heads = 0;     // query heads; where layers differ, of the one that has most
  int n_kv_heads = 0;  // key and value heads, likewise; a layer's n_heads is a multiple
  int head_dim = 0;
  int d_ff = 0;  // width of the feed-forward layer, likewise
  int n_vocab = 0;
  int n_ctx = 0;  // trained context
  float rms_eps = 0;
  std::vector<RopeParams> ropes = {{}};
  std::vector<LayerConfig> layers = {};  // empty: all are LayerConfig{}
  GluAct glu_act = GluAct::kRelu2;
  bool int8_activations =
      true;  // linear layers are BitLinear: ternary weights, their input quantised to int8 per token
  // Factors of models trained with µP and the like. All but the first are folded into the weights when they are read.
  float embedding_scale = 1;  // multiplies the embedding
  float residual_scale = 1;   // multiplies what each half of a layer adds to the residual stream
  float attention_scale = 0;  // of q·k before the softmax; 0: 1/√head_dim
  float logit_scale = 1;      // divides the logits
  // Bounds that values come near to and do not pass, x → cap · tanh(x / cap); 0: none.
  float attention_softcap = 0;  // of q·k, scaled, before the softmax
  float logit_softcap = 0;

  // With its own numbers of everything.
  LayerConfig layer(int i) const {
    LayerConfig l = layers.empty() ? LayerConfig{} : layers[static_cast<size_t>(i)];
    if (l.n_heads == 0) l.n_heads = n_heads;
    if (l.n_kv_heads == 0) l.n_kv_heads = n_kv_heads;
    if (l.d_ff == 0) l.d_ff = d_ff;
    return l;
  }
  // For setting what is a layer's own.
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

  // Of one layer, and of the widest.
  int q_width(int i) const { return layer(i).n_heads * head_dim; }
  int kv_width(int i) const { return layer(i).n_kv_heads * head_dim; }
  int q_width() const { return n_heads * head_dim; }
  int kv_width() const { return n_kv_heads * head_dim; }
};

}  // namespace tern
