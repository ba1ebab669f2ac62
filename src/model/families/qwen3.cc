#include "base/format_text.h"
#include "model/families/families.h"
#include "model/source_reader.h"

namespace tern::qwen3 {

Result<Config> read_config(ModelSource& source, const std::string& architecture) {
  TRY(Config c, read_transformer_config(source, architecture));
  c.family = Family::kQwen3;
  TRY(c.glu_act, read_glu_act(source, c, GluAct::kSilu));
  c.int8_activations = false;
  return c;
}

// Llama's, and the norms of the heads.
Result<Weights> read_weights(ModelSource& source, const Config& c) {
  const TensorReader tensors(source);
  TRY(Weights w, llama::read_weights(source, c));
  for (int i = 0; i < c.n_layers; ++i) {
    const std::string blk = format_text("blk.{}.", i);
    Layer& l = w.layers[static_cast<size_t>(i)];
    TRY(l.attn_q_norm, tensors.vector(blk + "attn_q_norm.weight", c.head_dim));
    TRY(l.attn_k_norm, tensors.vector(blk + "attn_k_norm.weight", c.head_dim));
  }
  return w;
}

}  // namespace tern::qwen3
