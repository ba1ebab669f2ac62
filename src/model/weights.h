// The tensors of a model, as views of its file's bytes, named as in the file.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_source.h"
#include "quant/format.h"

namespace tern {

// A [rows, cols] matrix, or a vector with rows = 1.
struct Tensor {
  std::string name;
  Format format = Format::kF32;
  int rows = 0;  // n_out
  int cols = 0;  // n_in
  // tensor_bytes(format, rows, cols), which backends on the host need in memory.
  StoredBytes data;
  // Multiplies what Format's decode gives: I2_S's own scale, and blk.N.*.scale where the file has one.
  float scale = 1.0f;
  // Only inside the CPU backend: `data` are not rows as in the file, but as backend/cpu/interleave.h or, of TQ1_0,
  // backend/cpu/base3.h makes them.
  bool is_rearranged = false;

  bool is_present() const { return !name.empty(); }
};

// The matrix of a linear layer, with what belongs to it: y = W · norm(x) + bias.
struct Linear : Tensor {
  Linear() = default;
  Linear(Tensor matrix) : Tensor(std::move(matrix)) {}  // NOLINT(*-explicit-*): most have nothing else
  Tensor input_norm;                                    // [cols]; the BitNet embedding models
  Tensor bias;                                          // [rows], F32
};

// A family that has no such tensor leaves it without a name. What a layer computes follows from those it has.
struct Layer {
  Tensor attn_norm;       // [d_model]
  Linear attn_q;          // [q_width, d_model]
  Linear attn_k;          // [kv_width, d_model]
  Linear attn_v;          // [kv_width, d_model]
  Tensor attn_q_norm;     // [head_dim], each head's; Qwen3, Gemma 3
  Tensor attn_k_norm;     // [head_dim]
  Tensor attn_sub_norm;   // [q_width], of the heads' results; BitNet
  Linear attn_output;     // [d_model, q_width]
  Tensor attn_post_norm;  // [d_model], of what attention adds to the residual stream; Gemma
  Tensor ffn_norm;        // [d_model]
  Linear ffn_gate;        // [d_ff, d_model]
  Linear ffn_up;          // [d_ff, d_model]
  Tensor ffn_sub_norm;    // [d_ff]; BitNet
  Linear ffn_down;        // [d_model, d_ff]
  Tensor ffn_post_norm;   // [d_model]; Gemma

  // Of those above, as they come in a layer's work: the linear layers, and all tensors that there are.
  std::array<const Linear*, 7> linears() const {
    return {&attn_q, &attn_k, &attn_v, &attn_output, &ffn_gate, &ffn_up, &ffn_down};
  }
  std::vector<const Tensor*> tensors() const;
};

struct Weights {
  Tensor token_embd;  // [n_vocab, d_model]
  std::vector<Layer> layers;
  Tensor output_norm;                          // [d_model]
  Tensor output;                               // [n_vocab, d_model]; the embedding itself where they are tied
  std::vector<std::unique_ptr<float[]>> made;  // what views of the tensors above point to, where no file has it

  uint64_t bytes_per_token() const;  // read to decode one token: all matrices and norms, one row of the embedding
  uint64_t n_params() const;
};

}  // namespace tern
