// A small model with recurrent layers: three of them, then one with attention and its gate, as in Qwen3.5.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "conform/matrix.h"
#include "model/model.h"

namespace tern::conform {

struct DeltaModel {
  // `only`: the format of all matrices; nullopt: several.
  explicit DeltaModel(std::optional<Format> only = {}) : only(only) {}

  Tensor matrix(Format format, int rows, int cols, float scale = 0.06f) {
    matrices.push_back(std::make_unique<Matrix>(rows > 1 ? only.value_or(format) : format, rows, cols, ++seed));
    matrices.back()->tensor.name = "w" + std::to_string(seed);
    matrices.back()->tensor.scale = scale;
    return matrices.back()->tensor;
  }
  Tensor vector(int n, float from, float to) {
    Tensor made = matrix(Format::kF32, 1, n, 1);
    auto* values = reinterpret_cast<float*>(matrices.back()->bytes.data());
    for (int i = 0; i < n; ++i) values[i] = from + (to - from) * static_cast<float>((i * 7919 + 13) % 101) / 100;
    return made;
  }
  Layer recurrent_layer() {
    const DeltaConfig& d = config.delta;
    Layer l;
    l.attn_norm = vector(config.d_model, 0.8f, 1.2f);
    l.delta_qkv = matrix(Format::kQ8_0, d.channels(), config.d_model);
    l.delta_gate = matrix(Format::kQ4_0, d.value_width(), config.d_model);
    l.delta_alpha = matrix(Format::kF32, d.n_v_heads, config.d_model);
    l.delta_beta = matrix(Format::kF32, d.n_v_heads, config.d_model);
    l.delta_conv = matrix(Format::kF32, d.channels(), d.conv_taps, 1);
    l.delta_decay = vector(d.n_v_heads, -2, -0.05f);
    l.delta_dt_bias = vector(d.n_v_heads, -3, 1);
    l.delta_norm = vector(d.head_dim, 0.8f, 1.2f);
    l.delta_output = matrix(Format::kQ8_0, config.d_model, d.value_width());
    return l;
  }
  Layer attention_layer() {
    Layer l;
    l.attn_norm = vector(config.d_model, 0.8f, 1.2f);
    l.attn_q = matrix(Format::kQ8_0, 2 * config.q_width(), config.d_model);
    l.attn_k = matrix(Format::kQ8_0, config.kv_width(), config.d_model);
    l.attn_v = matrix(Format::kQ8_0, config.kv_width(), config.d_model);
    l.attn_q_norm = vector(config.head_dim, 0.8f, 1.2f);
    l.attn_k_norm = vector(config.head_dim, 0.8f, 1.2f);
    l.attn_output = matrix(Format::kQ8_0, config.d_model, config.q_width());
    return l;
  }
  std::optional<Format> only;
  uint64_t seed = 0;
  std::vector<std::unique_ptr<Matrix>> matrices;
  Config config = {.architecture = "qwen35",
                   .n_layers = 4,
                   .d_model = 128,
                   .n_heads = 4,
                   .n_kv_heads = 2,
                   .head_dim = 64,
                   .d_ff = 256,
                   .n_vocab = 512,
                   .n_ctx = 512,
                   .rms_eps = 1e-6f,
                   .ropes = {{.theta = 1e6f, .n_dims = 16}},
                   .layers = {{.is_recurrent = true}, {.is_recurrent = true}, {.is_recurrent = true}, {}},
                   .delta = {.n_k_heads = 2, .n_v_heads = 4, .head_dim = 32, .conv_taps = 4, .is_tiled = true},
                   .has_gated_attention = true,
                   .glu_act = GluAct::kSilu,
                   .int8_activations = false};
  Weights weights = [this] {
    Weights w;
    w.token_embd = matrix(Format::kQ8_0, config.n_vocab, config.d_model, 1);
    for (int i = 0; i < config.n_layers; ++i) {
      Layer l = config.layer(i).is_recurrent ? recurrent_layer() : attention_layer();
      l.ffn_norm = vector(config.d_model, 0.8f, 1.2f);
      l.ffn_gate = matrix(Format::kQ8_0, config.d_ff, config.d_model);
      l.ffn_up = matrix(Format::kQ8_0, config.d_ff, config.d_model);
      l.ffn_down = matrix(Format::kQ8_0, config.d_model, config.d_ff);
      w.layers.push_back(std::move(l));
    }
    w.output_norm = vector(config.d_model, 0.8f, 1.2f);
    w.output = w.token_embd;
    return w;
  }();
};

}  // namespace tern::conform
