#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/kv_layout.h"
#include "backend/ref/ops.h"
#include "base/half.h"

namespace tern::ref {
namespace {

double load_value(const void* base, KvType type, size_t index) {
  return type == KvType::kF16 ? f16_to_f32(static_cast<const uint16_t*>(base)[index])
                              : static_cast<const float*>(base)[index];
}

// softmax(q·Kᵀ/√d)·V over positions [first, end) for one query head.
void attend(const ops::KvLayer& cache, const float* q, double softcap, int kv_head, int first, int end, float* out) {
  const int d = cache.head_dim;
  std::vector<double> weights(static_cast<size_t>(end - first));
  for (int pos = first; pos < end; ++pos) {
    const size_t at = kv_offset(cache, kv_head, pos);
    double dot = 0;
    for (int i = 0; i < d; ++i) dot += q[i] * load_value(cache.k, cache.type, at + static_cast<size_t>(i));
    const double score = dot / std::sqrt(static_cast<double>(d));
    weights[static_cast<size_t>(pos - first)] = softcap > 0 ? softcap * std::tanh(score / softcap) : score;
  }
  const double largest = *std::ranges::max_element(weights);
  double total = 0;
  for (double& weight : weights) total += weight = std::exp(weight - largest);
  for (int i = 0; i < d; ++i) {
    double sum = 0;
    for (int pos = first; pos < end; ++pos) {
      sum += weights[static_cast<size_t>(pos - first)] *
             load_value(cache.v, cache.type, kv_offset(cache, kv_head, pos) + static_cast<size_t>(i));
    }
    out[i] = static_cast<float>(sum / total);
  }
}

}  // namespace

void attention(const ops::Attention& op) {
  const int d = op.cache.head_dim;
  const int group = op.n_heads / op.cache.n_kv_heads;
  for (int r = 0; r < op.n; ++r) {
    for (int h = 0; h < op.n_heads; ++h) {
      const size_t at =
          (static_cast<size_t>(r) * static_cast<size_t>(op.n_heads) + static_cast<size_t>(h)) * static_cast<size_t>(d);
      const int end = op.first_pos + r + 1;
      const int first = op.window > 0 ? std::max(0, end - op.window) : 0;
      attend(op.cache, op.q + at, op.softcap, h / group, first, end, op.out + at);
    }
  }
}

}  // namespace tern::ref
