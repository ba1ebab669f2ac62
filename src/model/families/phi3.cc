#include "base/format_text.h"
#include "model/families/families.h"
#include "model/source_reader.h"

namespace tern::phi3 {

// A sliding window (2,047 positions in Phi-3-mini-4k) is part of the model's definition, although llama.cpp and MLC
// leave it out: up to that many tokens both are one.
Result<Config> read_config(ModelSource& source, const std::string& architecture) {
  TRY(Config c, read_transformer_config(source, architecture));
  c.family = Family::kLlama;
  TRY(c.glu_act, read_glu_act(source, c, GluAct::kSilu));
  c.int8_activations = false;
  TRY(const auto window, source.get_int(architecture + ".attention.sliding_window"));
  if (window && *window > 0 && *window < c.n_ctx) c.window = static_cast<int>(*window);
  return c;
}

Result<Weights> read_weights(ModelSource& source, const Config& c) {
  const TensorReader tensors(source);
  TRY(Weights w, read_outer_weights(source, c));
  for (int i = 0; i < c.n_layers; ++i) {
    const std::string blk = format_text("blk.{}.", i);
    Layer l;
    TRY(l.attn_norm, tensors.vector(blk + "attn_norm.weight", c.d_model));
    TRY(const Tensor qkv, tensors.linear(blk + "attn_qkv", c.q_width() + 2 * c.kv_width(), c.d_model, false));
    l.attn_q = rows_of(qkv, blk + "attn_q.weight", 0, c.q_width());
    l.attn_k = rows_of(qkv, blk + "attn_k.weight", c.q_width(), c.kv_width());
    l.attn_v = rows_of(qkv, blk + "attn_v.weight", c.q_width() + c.kv_width(), c.kv_width());
    TRY(l.attn_output, tensors.linear(blk + "attn_output", c.d_model, c.q_width(), false));
    TRY(l.ffn_norm, tensors.vector(blk + "ffn_norm.weight", c.d_model));
    TRY(const Tensor gate_up, tensors.linear(blk + "ffn_up", 2 * c.d_ff, c.d_model, false));
    l.ffn_gate = rows_of(gate_up, blk + "ffn_gate.weight", 0, c.d_ff);
    l.ffn_up = rows_of(gate_up, blk + "ffn_up.weight", c.d_ff, c.d_ff);
    TRY(l.ffn_down, tensors.linear(blk + "ffn_down", c.d_model, c.d_ff, false));
    w.layers.push_back(std::move(l));
  }
  return w;
}

}  // namespace tern::phi3
