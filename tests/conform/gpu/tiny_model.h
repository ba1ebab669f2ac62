// Small random models of every family and format.
#pragma once

#include <array>
#include <cmath>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "conform/values.h"
#include "model/families/family.h"
#include "model/source/config.h"
#include "model/source/weights.h"
#include "quant/format.h"

namespace tern {

struct TinyShape {
  std::string name;
  LayerParts parts = {};
  bool biases = false;
  bool qkv_biases = false;
  bool input_norms = false;
  bool int8_activations = false;
  GluAct act = GluAct::kSilu;
  std::array<int, 2> windows = {0, 0};   // of the two layers
  std::vector<LayerConfig> layers = {};  // replaces the two: layers of different widths
  float softcap = 0;                     // of scores and logits
  RopePairs pairs = RopePairs::kHalves;
  int d_model = 256, n_heads = 4, n_kv_heads = 2, head_dim = 64, n_vocab = 300;
  Format format = Format::kF32;  // of the linear layers and the embedding
  struct Others {
    std::optional<Format> qk = {}, v = {}, output = {}, gate_up = {}, down = {};
  };
  std::vector<Others> others = {};  // other formats, of some matrices in the first layers
  Format head = Format::kF32;       // if the same as `format`: tied
};

// A model with random tensors and two layers, or as many as the shape has.
class TinyModel {
 public:
  explicit TinyModel(const TinyShape& shape) : shape_(shape) {
    config = {.architecture = "tiny",
              .n_layers = 2,
              .d_model = shape.d_model,
              .n_heads = shape.n_heads,
              .n_kv_heads = shape.n_kv_heads,
              .head_dim = shape.head_dim,
              .d_ff = 512,
              .n_vocab = shape.n_vocab,
              .n_ctx = 64,
              .rms_eps = 1e-5f,
              .ropes = {{.theta = 10000, .pairs = shape.pairs}, {.theta = 500, .pairs = shape.pairs}},
              .layers = {{.window = shape.windows[0], .rope = shape.windows[0] > 0}, {.window = shape.windows[1]}},
              .glu_act = shape.act,
              .int8_activations = shape.int8_activations,
              .attention_softcap = shape.softcap,
              .logit_softcap = shape.softcap};
    if (!shape.layers.empty()) config.layers = shape.layers;
    config.n_layers = static_cast<int>(config.layers.size());
    const Config& c = config;
    const Format embedding = shape.int8_activations ? Format::kF16 : shape.format;
    weights.token_embd = matrix("token_embd.weight", c.n_vocab, c.d_model, embedding);
    for (int i = 0; i < c.n_layers; ++i) weights.layers.push_back(layer(i));
    weights.output_norm = gain("output_norm.weight", c.d_model);
    weights.output = weights.token_embd;
    if (shape.head != shape.format) weights.output = matrix("output.weight", c.n_vocab, c.d_model, shape.head);
  }

  Config config;
  Weights weights;

 private:
  Layer layer(int i) {
    const Config& c = config;
    const std::string blk = "blk." + std::to_string(i) + ".";
    const int q_width = c.q_width(i), kv_width = c.kv_width(i), d_ff = c.layer(i).d_ff;
    const Format f = shape_.format;
    const auto at = static_cast<size_t>(i);
    const TinyShape::Others others = at < shape_.others.size() ? shape_.others[at] : TinyShape::Others{};
    const LayerParts& parts = shape_.parts;
    Layer l;
    l.attn_norm = gain(blk + "attn_norm.weight", c.d_model);
    l.attn_q = linear(blk + "attn_q", q_width, c.d_model, others.qk.value_or(f));
    l.attn_k = linear(blk + "attn_k", kv_width, c.d_model, others.qk.value_or(f));
    l.attn_v = linear(blk + "attn_v", kv_width, c.d_model, others.v.value_or(f));
    l.attn_output = linear(blk + "attn_output", c.d_model, q_width, others.output.value_or(f));
    l.ffn_norm = gain(blk + "ffn_norm.weight", c.d_model);
    l.ffn_gate = linear(blk + "ffn_gate", d_ff, c.d_model, others.gate_up.value_or(f));
    l.ffn_up = linear(blk + "ffn_up", d_ff, c.d_model, others.gate_up.value_or(f));
    l.ffn_down = linear(blk + "ffn_down", c.d_model, d_ff, others.down.value_or(f));
    if (parts.head_norms) l.attn_q_norm = gain(blk + "attn_q_norm.weight", c.head_dim);
    if (parts.head_norms) l.attn_k_norm = gain(blk + "attn_k_norm.weight", c.head_dim);
    if (parts.sub_norms) l.attn_sub_norm = gain(blk + "attn_sub_norm.weight", q_width);
    if (parts.sub_norms) l.ffn_sub_norm = gain(blk + "ffn_sub_norm.weight", d_ff);
    if (parts.sinks) l.attn_sinks = gain(blk + "attn_sinks.weight", c.layer(i).n_heads);
    if (parts.post_norms) l.attn_post_norm = gain(blk + "post_attention_norm.weight", c.d_model);
    if (parts.post_norms) l.ffn_post_norm = gain(blk + "post_ffw_norm.weight", c.d_model);
    return l;
  }

  Linear linear(const std::string& name, int rows, int cols, Format format) {
    Linear l = matrix(name + ".weight", rows, cols, format);
    const bool is_qkv = name.contains("attn_q") || name.contains("attn_k") || name.contains("attn_v");
    if (shape_.biases || (shape_.qkv_biases && is_qkv)) l.bias = gain(name + ".bias", rows);
    if (shape_.input_norms) l.input_norm = gain(name + "_norm_in.weight", cols);
    return l;
  }

  // Random weights whose products with normed rows are of magnitude 1. Scales differ between rows and groups where the
  // format has such scales.
  Tensor matrix(const std::string& name, int rows, int cols, Format format) {
    bytes_.emplace_back(tensor_bytes(format, rows, cols));
    const bool is_i2s = format == Format::kI2_S;
    const float size = 1.5f / std::sqrt(static_cast<float>(cols));
    std::vector<float> row(static_cast<size_t>(cols));
    for (int r = 0; r < rows; ++r) {
      float of_group = size;
      for (size_t i = 0; i < row.size(); ++i) {
        if (i % 16 == 0) of_group = size * static_cast<float>(scales_.integer(8, 24)) / 16;
        row[i] = format_info(format).is_ternary ? static_cast<float>(random_.integer(-1, 1)) * (is_i2s ? 1 : size)
                                                : static_cast<float>(random_.integer(-1000, 1000)) * 1e-3f * of_group;
      }
      const uint64_t stride = row_bytes(format, cols);
      format_info(format).encode(row, MutableBytes(bytes_.back()).subspan(static_cast<uint64_t>(r) * stride, stride));
    }
    return {.name = name,
            .format = format,
            .rows = rows,
            .cols = cols,
            .data = bytes_.back(),
            .scale = is_i2s ? size : 1.0f};
  }
  Tensor gain(const std::string& name, int cols) {
    bytes_.emplace_back(static_cast<size_t>(cols) * 4);
    auto* values = reinterpret_cast<float*>(bytes_.back().data());
    for (int i = 0; i < cols; ++i) values[i] = static_cast<float>(random_.integer(500, 1500)) * 1e-3f;
    return {.name = name, .rows = 1, .cols = cols, .data = bytes_.back()};
  }

  TinyShape shape_;
  conform::Values random_{77}, scales_{78};
  std::deque<std::vector<std::byte>> bytes_;
};

}  // namespace tern
