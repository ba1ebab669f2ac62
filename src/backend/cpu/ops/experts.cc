// The choice of experts, and the sum of their results: route, mix_experts. Their matrices: linear/.
#include <algorithm>
#include <cmath>

#include "backend/cpu/ops/ops.h"

namespace tern::cpu {
namespace {

// The numbers of the n_used greatest scores, in descending order, of equal ones the first. A NaN is as good as any
// score: the result is NaN, and is found in the logits.
void choose(const float* scores, size_t n_experts, size_t n_used, float* out) {
  for (size_t i = 0; i < n_used; ++i) {
    const auto is_taken = [&](size_t e) { return std::find(out, out + i, static_cast<float>(e)) != out + i; };
    size_t best = n_experts;
    for (size_t e = 0; e < n_experts; ++e) {
      if (best != n_experts && !(scores[e] > scores[best])) continue;
      if (!is_taken(e)) best = e;
    }
    out[i] = static_cast<float>(best);
  }
}

}  // namespace

void route(const ops::Route& op, WorkQueue& queue) {
  const auto n_experts = static_cast<size_t>(op.experts.n), n_used = static_cast<size_t>(op.experts.n_used);
  queue.for_ranges(op.n, 1, [&](int begin, int end) {
    for (auto r = static_cast<size_t>(begin); r < static_cast<size_t>(end); ++r) {
      const float* const scores = op.in + r * n_experts;
      float *const out = op.out + r * 2 * n_used, *const weights = out + n_used;
      choose(scores, n_experts, n_used, out);
      const float most = scores[static_cast<size_t>(out[0])];
      for (size_t i = 0; i < n_used; ++i) weights[i] = std::exp(scores[static_cast<size_t>(out[i])] - most);
      double sum = 0;  // of up to a thousand values
      for (size_t i = 0; i < (op.experts.weighs_chosen ? n_used : n_experts); ++i) {
        sum += op.experts.weighs_chosen ? weights[i] : std::exp(scores[i] - most);
      }
      for (size_t i = 0; i < n_used; ++i) {
        weights[i] = static_cast<float>(weights[i] / sum);
        if (op.expert_scale) weights[i] *= op.expert_scale[static_cast<size_t>(out[i])];
      }
    }
  });
}

void mix_experts(const ops::MixExperts& op, WorkQueue& queue) {
  constexpr int kColumns = 64;  // of a unit
  const auto width = static_cast<size_t>(op.width), n_used = static_cast<size_t>(op.chosen.n_used);
  const int per_row = (op.width + kColumns - 1) / kColumns;
  queue.for_ranges(op.chosen.n * per_row, 1, [&](int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const int r = unit / per_row;
      const auto row = static_cast<size_t>(r), first = static_cast<size_t>(unit % per_row) * kColumns;
      const size_t n = std::min<size_t>(kColumns, width - first);
      float* const out = op.out + row * width + first;
      std::fill_n(out, n, 0.0f);
      for (size_t i = 0; i < n_used; ++i) {
        const float weight = op.chosen.weight(r, static_cast<int>(i));
        const float* const in = op.in + (row * n_used + i) * width + first;
        for (size_t c = 0; c < n; ++c) out[c] += weight * in[c];
      }
      if (!op.shared) continue;
      const float weight = 1 / (1 + std::exp(-op.gate[row]));
      const float* const in = op.shared + row * width + first;
      for (size_t c = 0; c < n; ++c) out[c] += weight * in[c];
    }
  });
}

}  // namespace tern::cpu
