#include "model/fold_scales.h"

#include <cmath>

namespace tern {
namespace {

// A gain times `scale`, in memory of the weights' own.
Result<void> scale_gain(Tensor& gain, float scale, Weights& weights) {
  Scratch scratch;
  TRY(const Bytes bytes, gain.data.read_all(scratch));
  const auto n = static_cast<size_t>(gain.cols);
  auto values = std::make_unique<float[]>(n);
  format_info(gain.format).decode(bytes, {values.get(), n});
  for (float& value : std::span(values.get(), n)) value *= scale;
  gain.data = std::as_bytes(std::span<const float>(values.get(), n));
  weights.made.push_back(std::move(values));
  return {};
}

}  // namespace

Result<void> fold_scales(const Config& c, Weights& weights) {
  const float q_scale = c.attention_scale == 0 ? 1 : c.attention_scale * std::sqrt(static_cast<float>(c.head_dim));
  for (Layer& layer : weights.layers) {
    layer.attn_output.scale *= c.residual_scale;
    layer.ffn_down.scale *= c.residual_scale;
    if (q_scale != 1 && layer.attn_q_norm.is_present()) {
      TRY_STATUS(scale_gain(layer.attn_q_norm, q_scale, weights));
    } else {
      layer.attn_q.scale *= q_scale;
    }
  }
  if (c.logit_scale != 1) TRY_STATUS(scale_gain(weights.output_norm, 1 / c.logit_scale, weights));
  return {};
}

}  // namespace tern
