#include <algorithm>

#include "base/format_text.h"
#include "model/families/families.h"
#include "model/source_reader.h"
#include "quant/tq1_0.h"
#include "quant/tq2_0.h"

namespace tern::llama {
namespace {

// Whether all blocks that are not all zero have one scale, given where in a block it lies.
Result<bool> has_one_scale(const StoredBytes& blocks, size_t block_bytes, size_t scale_at) {
  constexpr size_t kBlocksAtOnce = 16384;
  std::optional<uint16_t> scale;
  Scratch scratch;
  for (uint64_t first = 0; first < blocks.size(); first += kBlocksAtOnce * block_bytes) {
    TRY(const Bytes piece,
        blocks.read(first, std::min<uint64_t>(kBlocksAtOnce * block_bytes, blocks.size() - first), scratch));
    for (size_t at = 0; at + block_bytes <= piece.size(); at += block_bytes) {
      const auto d = load<uint16_t>(piece.data() + at + scale_at);
      if (d == 0) continue;
      if (scale && d != *scale) return false;
      scale = d;
    }
  }
  return true;
}

// No key of a file says that its linear layers are BitLinear. I2_S is used for nothing else. TQ1_0 and TQ2_0 also hold
// ordinary models quantised to three values, whose blocks have scales of their own; a BitLinear matrix has one.
Result<bool> find_int8_activations(ModelSource& source) {
  TRY(const auto w, source.find_tensor("blk.0.attn_q.weight"));
  if (!w || !w->format) return false;
  switch (*w->format) {
    case Format::kI2_S:
      return true;
    case Format::kTQ1_0:
      return has_one_scale(w->data, sizeof(Tq1_0Block), offsetof(Tq1_0Block, d));
    case Format::kTQ2_0:
      return has_one_scale(w->data, sizeof(Tq2_0Block), offsetof(Tq2_0Block, d));
    default:
      return false;
  }
}

}  // namespace

Result<Config> read_config(ModelSource& source, const std::string& architecture) {
  TRY(Config c, read_transformer_config(source, architecture));
  c.family = Family::kLlama;
  TRY(c.glu_act, read_glu_act(source, c, GluAct::kSilu));
  TRY(c.int8_activations, find_int8_activations(source));
  return c;
}

Result<Weights> read_weights(ModelSource& source, const Config& c) {
  const TensorReader tensors(source);
  TRY(Weights w, read_outer_weights(source, c));
  for (int i = 0; i < c.n_layers; ++i) {
    const std::string blk = format_text("blk.{}.", i);
    Layer l;
    TRY(l.attn_norm, tensors.vector(blk + "attn_norm.weight", c.d_model));
    TRY(l.attn_q, tensors.linear(blk + "attn_q", c.q_width(), c.d_model, c.int8_activations));
    TRY(l.attn_k, tensors.linear(blk + "attn_k", c.kv_width(), c.d_model, c.int8_activations));
    TRY(l.attn_v, tensors.linear(blk + "attn_v", c.kv_width(), c.d_model, c.int8_activations));
    TRY(l.attn_output, tensors.linear(blk + "attn_output", c.d_model, c.q_width(), c.int8_activations));
    TRY(l.ffn_norm, tensors.vector(blk + "ffn_norm.weight", c.d_model));
    TRY(l.ffn_gate, tensors.linear(blk + "ffn_gate", c.d_ff, c.d_model, c.int8_activations));
    TRY(l.ffn_up, tensors.linear(blk + "ffn_up", c.d_ff, c.d_model, c.int8_activations));
    TRY(l.ffn_down, tensors.linear(blk + "ffn_down", c.d_model, c.d_ff, c.int8_activations));
    w.layers.push_back(std::move(l));
  }
  return w;
}

}  // namespace tern::llama
