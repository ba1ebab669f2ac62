// A model's tensors as views of its file's bytes, with the file's names.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files/byte_source.h"
#include "model/source/config.h"
#include "quant/format.h"

namespace tern {

// A [rows, cols] matrix; a vector has one row. The matrices of a layer's experts are one tensor: their rows follow one
// another.
struct Tensor {
  std::string name;
  Format format = Format::kF32;
  int rows = 0;       // n_out
  int cols = 0;       // n_in
  int n_experts = 0;  // matrices in `rows`; 0: one, which is of no mixture
  // tensor_bytes(format, rows, cols) bytes. Backends on the host need them in memory.
  StoredBytes data;
  // Multiplies the values that Format decodes to: I2_S's own scale, and blk.N.*.scale if the file has one.
  float scale = 1.0f;
  // Only inside the CPU backend: `data` is not in the file's layout but in that of backend/cpu/linear/interleave.h or,
  // for TQ1_0, backend/cpu/linear/base3.h.
  bool is_rearranged = false;
  // The matrix was rotated (Rotation): its input is rotated first, with these signs; in an embedding table, its rows
  // are rotated back. Null: it was not.
  const Tensor* rotation = nullptr;

  bool is_present() const { return !name.empty(); }
  int expert_rows() const { return rows / n_experts; }
  // The bytes of `data` that a token reads if it uses n_used of the experts.
  uint64_t bytes_per_token(int n_used) const {
    if (n_experts == 0) return data.size();
    return data.size() / static_cast<uint64_t>(n_experts) * static_cast<uint64_t>(n_used);
  }
};

// The matrix of a linear layer and its other tensors: y = W · norm(x) + bias.
struct Linear : Tensor {
  Linear() = default;
  Linear(Tensor matrix) : Tensor(std::move(matrix)) {}  // NOLINT(*-explicit-*): most have only a matrix
  Tensor input_norm;                                    // [cols]; only in the BitNet embedding models
  Tensor bias;                                          // [rows], F32
};

// Tensors that the family lacks have no name. The tensors that are present decide what the layer computes.
struct Layer {
  Tensor attn_norm;       // [d_model]
  Linear attn_q;          // [q_width, d_model]
  Linear attn_k;          // [kv_width, d_model]
  Linear attn_v;          // [kv_width, d_model]
  Tensor attn_q_norm;     // [head_dim], shared by all heads; Qwen3, Gemma 3
  Tensor attn_k_norm;     // [head_dim]
  Tensor attn_sinks;      // [n_heads], scores that have no value; gpt-oss
  Tensor attn_v_norm;     // [head_dim], all 1 and in no file; Gemma 4
  Tensor attn_sub_norm;   // [q_width], of attention's output; BitNet
  Linear attn_output;     // [d_model, q_width]
  Tensor attn_post_norm;  // [d_model], before attention's output is added to the residual stream; Gemma
  // These belong to recurrent layers, which have no attn_q, attn_k, attn_v and attn_output (DeltaConfig has the
  // widths).
  Linear delta_qkv;      // [channels, d_model]
  Linear delta_gate;     // [value_width, d_model]
  Linear delta_alpha;    // [n_v_heads, d_model], how fast the state decays
  Linear delta_beta;     // [n_v_heads, d_model], how much of a token is written
  Tensor delta_conv;     // [channels, conv_taps]
  Tensor delta_decay;    // [n_v_heads], negative
  Tensor delta_dt_bias;  // [n_v_heads]
  Tensor delta_norm;     // [head_dim]
  Linear delta_output;   // [d_model, value_width]
  Tensor ffn_norm;       // [d_model]
  Linear ffn_gate;       // [d_ff, d_model]
  Linear ffn_up;         // [d_ff, d_model]
  Tensor ffn_sub_norm;   // [d_ff]; BitNet
  Linear ffn_down;       // [d_model, d_ff]
  Tensor ffn_post_norm;  // [d_model]; Gemma
  // What the layer takes from the token itself, at its end; Gemma 4.
  Linear input_gate;       // [per_layer_width, d_model]
  Linear input_proj;       // [d_model, per_layer_width]
  Tensor input_post_norm;  // [d_model]
  float output_scale = 1;  // multiplies the residual stream after the layer

  // These belong to mixtures, which have ffn_gate, ffn_up and ffn_down only if the dense network computes beside the
  // experts (ExpertConfig has the widths).
  Linear ffn_router;       // [n, d_model]
  Linear ffn_gate_exps;    // n matrices [d_ff, d_model]; a bias is [n, d_ff]
  Linear ffn_up_exps;      // likewise
  Linear ffn_down_exps;    // n matrices [d_model, d_ff]
  Linear ffn_gate_shared;  // [d_ff_shared, d_model]
  Linear ffn_up_shared;    // likewise
  Linear ffn_down_shared;  // [d_model, d_ff_shared]
  Linear ffn_shared_gate;  // [1, d_model], how much of the shared network's output is used
  // And these to mixtures beside a dense network; Gemma 4. All but the last are gains, [d_model].
  Tensor ffn_router_norm;    // of the router's input
  Tensor ffn_experts_norm;   // of the experts' input
  Tensor ffn_experts_post;   // of their result
  Tensor ffn_dense_post;     // of the dense network's result
  Tensor ffn_experts_scale;  // [n], multiplies the experts' weights

  template <class L>
  static auto linears_of(L& l) {
    return std::array{&l.attn_q,        &l.attn_k,          &l.attn_v,        &l.delta_qkv,       &l.delta_gate,
                      &l.delta_alpha,   &l.delta_beta,      &l.attn_output,   &l.delta_output,    &l.ffn_gate,
                      &l.ffn_up,        &l.ffn_down,        &l.ffn_router,    &l.ffn_gate_exps,   &l.ffn_up_exps,
                      &l.ffn_down_exps, &l.ffn_gate_shared, &l.ffn_up_shared, &l.ffn_down_shared, &l.ffn_shared_gate,
                      &l.input_gate,    &l.input_proj};
  }

  // The linear layers in order of computation, and all tensors that are present.
  auto linears() const { return linears_of(*this); }
  auto linears() { return linears_of(*this); }
  std::vector<const Tensor*> tensors() const;
};

struct Weights {
  Tensor token_embd;  // [n_vocab, d_model]
  // The inputs of all layers, side by side, from a token's row and from its embedding; Gemma 4.
  Tensor per_layer_embd;  // [n_vocab, n_layers · per_layer_width]
  Linear per_layer_proj;  // [n_layers · per_layer_width, d_model]
  Tensor per_layer_norm;  // [per_layer_width]
  std::vector<Layer> layers;
  Tensor output_norm;                          // [d_model]
  Tensor output;                               // [n_vocab, d_model]; the embedding itself if tied
  std::vector<std::unique_ptr<Tensor>> signs;  // of rotations, [width] each
  std::vector<std::unique_ptr<float[]>> made;  // owns the data of tensors above that are in no file
  // These belong to a block that predicts (PredictionBlock): norms of the next token's embedding and of the hidden row,
  // [d_model], and the matrices that multiply them, [d_model, d_model].
  Tensor next_norm, hidden_norm;
  Linear next_proj, hidden_proj;
  std::vector<std::unique_ptr<ByteSource>> parts;  // owns the data of those matrices

  // Read to decode one token: all matrices and norms, but only n_used of each layer's experts, and one row of the
  // embedding.
  uint64_t bytes_per_token(int n_used) const;
  uint64_t n_params() const;
};

// A layer behind the last one that proposes draft tokens (Qwen3.5). From the last norm's output after a token, and from
// the next token, it predicts the token after that. Its embedding and head are the model's.
struct PredictionBlock {
  Config config;  // with this layer alone
  Weights weights;
};

}  // namespace tern
