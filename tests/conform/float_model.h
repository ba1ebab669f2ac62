// A small model with float activations and weights in many formats.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conform/matrix.h"
#include "model/model.h"

namespace tern::conform {

// One layer of Qwen3.
struct FloatModel {
  Tensor matrix(Format format, int rows, int cols) {
    matrices.push_back(std::make_unique<Matrix>(format, rows, cols, ++seed));
    matrices.back()->tensor.name = "w" + std::to_string(seed);
    matrices.back()->tensor.scale = 0.05f;
    return matrices.back()->tensor;
  }
  uint64_t seed = 0;
  std::vector<std::unique_ptr<Matrix>> matrices;
  Config config = {.architecture = "qwen3",
                   .n_layers = 1,
                   .d_model = 256,
                   .n_heads = 4,
                   .n_kv_heads = 2,
                   .head_dim = 64,
                   .d_ff = 512,
                   .n_vocab = 8192,
                   .n_ctx = 16,
                   .rms_eps = 1e-6f,
                   .ropes = {{.theta = 1e6f}},
                   .glu_act = GluAct::kSilu,
                   .int8_activations = false};
  Weights weights = [this] {
    Weights w;
    w.token_embd = matrix(Format::kQ8_0, 8192, 256);
    Layer l;
    l.attn_norm = matrix(Format::kF32, 1, 256);
    l.attn_q = matrix(Format::kQ1_0, 256, 256);
    l.attn_k = matrix(Format::kQ4_0, 128, 256);
    l.attn_v = matrix(Format::kF16, 128, 256);
    l.attn_q_norm = matrix(Format::kF32, 1, 64);
    l.attn_k_norm = matrix(Format::kF32, 1, 64);
    l.attn_output = matrix(Format::kTQ1_0, 256, 256);
    l.ffn_norm = matrix(Format::kF32, 1, 256);
    l.ffn_gate = matrix(Format::kQ2_0, 512, 256);
    l.ffn_up = matrix(Format::kQ6_K, 512, 256);
    l.ffn_down = matrix(Format::kPQ2_0, 256, 512);
    w.layers.push_back(std::move(l));
    w.output_norm = matrix(Format::kF32, 1, 256);
    w.output = w.token_embd;
    return w;
  }();
};

}  // namespace tern::conform
