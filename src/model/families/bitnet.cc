#include "base/format_text.h"
#include "model/families/families.h"
#include "model/source_reader.h"

namespace tern::bitnet {
namespace {

// 1bitLLM's models (bitnet_b1_58-large, -3B) and Microsoft's share the architecture's names, not the activation. Where
// a file does not say, the vocabulary does: Llama 2's 32,002 tokens against Llama 3's.
GluAct usual_glu_act(const Config& c) {
  constexpr int k1bitLlmVocab = 32002;
  return c.architecture == "bitnet" && c.n_vocab == k1bitLlmVocab ? GluAct::kSilu : GluAct::kRelu2;
}

}  // namespace

Result<Config> read_config(ModelSource& source, const std::string& architecture) {
  TRY(Config c, read_transformer_config(source, architecture));
  c.family = Family::kBitnet;
  c.int8_activations = true;
  TRY(c.glu_act, read_glu_act(source, c, usual_glu_act(c)));
  return c;
}

Result<Weights> read_weights(ModelSource& source, const Config& c) {
  const TensorReader tensors(source);
  TRY(Weights w, read_outer_weights(source, c));
  for (int i = 0; i < c.n_layers; ++i) {
    const std::string blk = format_text("blk.{}.", i);
    Layer l;
    TRY(l.attn_norm, tensors.vector(blk + "attn_norm.weight", c.d_model));
    TRY(l.attn_q, tensors.linear(blk + "attn_q", c.q_width(), c.d_model, true));
    TRY(l.attn_k, tensors.linear(blk + "attn_k", c.kv_width(), c.d_model, true));
    TRY(l.attn_v, tensors.linear(blk + "attn_v", c.kv_width(), c.d_model, true));
    TRY(l.attn_sub_norm, tensors.vector(blk + "attn_sub_norm.weight", c.q_width()));
    TRY(l.attn_output, tensors.linear(blk + "attn_output", c.d_model, c.q_width(), true));
    TRY(l.ffn_norm, tensors.vector(blk + "ffn_norm.weight", c.d_model));
    TRY(l.ffn_gate, tensors.linear(blk + "ffn_gate", c.d_ff, c.d_model, true));
    TRY(l.ffn_up, tensors.linear(blk + "ffn_up", c.d_ff, c.d_model, true));
    TRY(l.ffn_sub_norm, tensors.vector(blk + "ffn_sub_norm.weight", c.d_ff));
    TRY(l.ffn_down, tensors.linear(blk + "ffn_down", c.d_model, c.d_ff, true));
    w.layers.push_back(std::move(l));
  }
  return w;
}

}  // namespace tern::bitnet
