#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/kv_layout.h"
#include "backend/ref/ops.h"
#include "base/half.h"

namespace tern::ref {
namespace {

// The value at `at` of a block's side (kv_layout.h); q8_0 multiplies it by the scale at `scale_at`.
double load_value(const ops::KvLayer& layer, const std::byte* side, size_t at, size_t scale_at) {
  if (layer.type == KvType::kF32) return reinterpret_cast<const float*>(side)[at];
  if (layer.type == KvType::kF16) return f16_to_f32(reinterpret_cast<const uint16_t*>(side)[at]);
  const auto* scales = reinterpret_cast<const uint16_t*>(side + kv_scale_offset(layer));
  return static_cast<double>(reinterpret_cast<const int8_t*>(side)[at]) * f16_to_f32(scales[scale_at]);
}

// softmax(q·Kᵀ/√d)·V over positions [first, end) of the row's sequence for one query head.
void attend(const ops::KvLayer& layer, const ops::KvRow& row, const float* q, double softcap, const float* sink,
            int kv_head, int first, int end, float* out) {
  const int d = layer.head_dim;
  std::vector<double> weights(static_cast<size_t>(end - first));
  for (int pos = first; pos < end; ++pos) {
    const std::byte* const keys = kv_block_of(row, pos) + layer.k_offset;
    double dot = 0;
    for (int i = 0; i < d; ++i) {
      dot += q[i] * load_value(layer, keys, kv_key_at(layer, kv_head, pos, i), kv_key_scale_at(layer, kv_head, pos, i));
    }
    const double score = dot / std::sqrt(static_cast<double>(d));
    weights[static_cast<size_t>(pos - first)] = softcap > 0 ? softcap * std::tanh(score / softcap) : score;
  }
  const double largest = *std::ranges::max_element(weights);
  double total = 0;
  for (double& weight : weights) total += weight = std::exp(weight - largest);
  if (sink) total += std::exp(*sink - largest);
  for (int i = 0; i < d; ++i) {
    double sum = 0;
    for (int pos = first; pos < end; ++pos) {
      const std::byte* const values = kv_block_of(row, pos) + layer.v_offset;
      sum += weights[static_cast<size_t>(pos - first)] *
             load_value(layer, values, kv_value_at(layer, kv_head, pos, i), kv_value_scale_at(layer, kv_head, pos, i));
    }
    out[i] = static_cast<float>(sum / total);
  }
}

}  // namespace

void attention(const ops::Attention& op) {
  const int d = op.cache.head_dim;
  const int group = op.n_heads / op.cache.n_kv_heads;
  size_t at = 0;
  for (const ops::KvRow& row : op.rows) {
    const int end = row.pos + 1;
    const int first = op.window > 0 ? std::max(0, end - op.window) : 0;
    for (int h = 0; h < op.n_heads; ++h, at += static_cast<size_t>(d)) {
      attend(op.cache, row, op.q + at, op.softcap, op.sinks ? op.sinks + h : nullptr, h / group, first, end,
             op.out + at);
    }
  }
}

}  // namespace tern::ref
