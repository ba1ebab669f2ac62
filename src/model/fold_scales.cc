#include "model/fold_scales.h"

#include <cmath>
#include <numbers>

namespace tern {
namespace {

// Multiplies a vector by `scale`, into memory owned by `weights`. Does nothing if the vector is absent.
Result<void> scale_vector(Tensor& vector, float scale, Weights& weights) {
  if (!vector.is_present() || scale == 1) return {};
  Scratch scratch;
  TRY(const Bytes bytes, vector.data.read_all(scratch));
  const size_t n = static_cast<size_t>(vector.rows) * static_cast<size_t>(vector.cols);
  auto values = std::make_unique<float[]>(n);
  format_info(vector.format).decode(bytes, {values.get(), n});
  for (float& value : std::span(values.get(), n)) value *= scale;
  vector.data = std::as_bytes(std::span<const float>(values.get(), n));
  weights.made.push_back(std::move(values));
  return {};
}

// Scales the output of a linear layer; if a norm follows it, scales the norm's gain instead.
Result<void> scale_result(Linear& linear, Tensor& norm, float scale, Weights& weights) {
  if (norm.is_present()) return scale_vector(norm, scale, weights);
  linear.scale *= scale;
  return scale_vector(linear.bias, scale, weights);
}

}  // namespace

Result<void> fold_scales(const Config& c, Weights& weights) {
  for (int i = 0; i < c.n_layers; ++i) {
    Layer& layer = weights.layers[static_cast<size_t>(i)];
    const float root = std::sqrt(static_cast<float>(c.layer(i).head_dim));
    const float q_scale = c.attention_scale == 0 ? 1 : c.attention_scale * root;
    TRY_STATUS(scale_result(layer.attn_q, layer.attn_q_norm, q_scale, weights));
    TRY_STATUS(scale_result(layer.attn_output, layer.attn_post_norm, c.residual_scale, weights));
    if (layer.ffn_down.is_present()) {
      TRY_STATUS(scale_result(layer.ffn_down, layer.ffn_post_norm, c.residual_scale, weights));
      continue;
    }
    Tensor none;  // a norm would follow the sum, as it does beside a dense network
    for (Linear* down : {&layer.ffn_down_exps, &layer.ffn_down_shared}) {
      TRY_STATUS(scale_result(*down, none, c.residual_scale, weights));
    }
  }
  TRY_STATUS(scale_vector(weights.per_layer_norm, std::numbers::sqrt2_v<float> / 2, weights));
  return scale_vector(weights.output_norm, 1 / c.logit_scale, weights);
}

}  // namespace tern
