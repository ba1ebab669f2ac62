// The model with recurrent layers (delta_model.h), but with mixtures of experts and a shared network in all layers, as
// in Qwen3.6.
#pragma once

#include "conform/delta_model.h"

namespace tern::conform {

struct ExpertModel : DeltaModel {
  // `has_biases`: with biases and bounds, but without a shared network, as in gpt-oss.
  explicit ExpertModel(std::optional<Format> only_format = {}, bool has_biases = false) : DeltaModel(only_format) {
    config.experts = {.n = 6,
                      .n_used = 2,
                      .d_ff = 64,
                      .d_ff_shared = has_biases ? 0 : 96,
                      .weighs_chosen = !has_biases,
                      .limit = has_biases ? 1.5f : 0};
    for (Layer& l : weights.layers) put_experts(l, has_biases);
  }

 private:
  Linear experts(Format format, int rows, int cols, bool has_bias) {
    Linear w = matrix(format, config.experts.n * rows, cols);
    w.n_experts = config.experts.n;
    if (has_bias) {
      w.bias = vector(config.experts.n * rows, -0.5f, 0.5f);
      w.bias.rows = config.experts.n;
      w.bias.cols = rows;
    }
    return w;
  }

  void put_experts(Layer& l, bool has_biases) {
    const ExpertConfig& e = config.experts;
    const int width = config.d_model;
    l.ffn_gate = l.ffn_up = l.ffn_down = {};
    l.ffn_router = matrix(Format::kF32, e.n, width);
    l.ffn_gate_exps = experts(Format::kQ4_0, e.d_ff, width, has_biases);
    l.ffn_up_exps = experts(Format::kQ4_0, e.d_ff, width, has_biases);
    l.ffn_down_exps = experts(Format::kQ8_0, width, e.d_ff, has_biases);
    if (has_biases) return;
    l.ffn_gate_shared = matrix(Format::kQ8_0, e.d_ff_shared, width);
    l.ffn_up_shared = matrix(Format::kQ8_0, e.d_ff_shared, width);
    l.ffn_down_shared = matrix(Format::kQ8_0, width, e.d_ff_shared);
    l.ffn_shared_gate = vector(width, -0.1f, 0.1f);
  }
};

}  // namespace tern::conform
