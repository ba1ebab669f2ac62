// Mixtures of experts: route, expert_glu, expert_linear and mix_experts.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/ref/ops.h"
#include "backend/ref/weight_rows.h"

namespace tern::ref {

void route(const ops::Route& op) {
  const auto n_experts = static_cast<size_t>(op.experts.n), n_used = static_cast<size_t>(op.experts.n_used);
  for (size_t r = 0; r < static_cast<size_t>(op.n); ++r) {
    const float* const scores = op.in + r * n_experts;
    float* const out = op.out + r * 2 * n_used;
    std::vector<bool> is_taken(n_experts);
    for (size_t i = 0; i < n_used; ++i) {
      size_t best = n_experts;
      for (size_t e = 0; e < n_experts; ++e) {
        if (!is_taken[e] && (best == n_experts || scores[e] > scores[best])) best = e;
      }
      is_taken[best] = true;
      out[i] = static_cast<float>(best);
    }
    const auto score = [&](size_t i) { return static_cast<double>(scores[static_cast<size_t>(out[i])]); };
    double sum = 0;
    for (size_t i = 0; i < (op.experts.weighs_chosen ? n_used : n_experts); ++i) {
      sum += std::exp((op.experts.weighs_chosen ? score(i) : static_cast<double>(scores[i])) - score(0));
    }
    for (size_t i = 0; i < n_used; ++i) {
      const double factor = op.expert_scale ? op.expert_scale[static_cast<size_t>(out[i])] : 1;
      out[n_used + i] = static_cast<float>(std::exp(score(i) - score(0)) / sum * factor);
    }
  }
}

namespace {

// Row `row` of the product of expert `e` with x, and its bias.
double product(const Tensor& w, int e, int row, const float* bias, std::span<const double> x) {
  const int at = e * w.expert_rows() + row;
  const std::vector<float> weights = weight_row(w, at);
  double dot = 0;
  for (size_t i = 0; i < x.size(); ++i) dot += static_cast<double>(weights[i]) * x[i];
  return dot * w.scale + (bias ? static_cast<double>(bias[at]) : 0);
}

}  // namespace

void expert_glu(const ops::ExpertGlu& op) {
  const int rows = op.w_gate->expert_rows(), n_used = op.chosen.n_used;
  const double limit = op.limit > 0 ? op.limit : INFINITY;
  for (int r = 0; r < op.chosen.n; ++r) {
    const std::vector<double> x = input_row(op.in, r, static_cast<size_t>(op.w_gate->cols));
    for (int i = 0; i < n_used; ++i) {
      for (int row = 0; row < rows; ++row) {
        const int e = op.chosen.expert(r, i);
        const auto gate = static_cast<float>(std::min(product(*op.w_gate, e, row, op.gate_bias, x), limit));
        const auto up = static_cast<float>(std::clamp(product(*op.w_up, e, row, op.up_bias, x), -limit, limit));
        glu_mul({&gate, &up, op.act, 1, op.out + (static_cast<size_t>(r) * n_used + i) * rows + row});
      }
    }
  }
}

void expert_linear(const ops::ExpertLinear& op) {
  const int rows = op.w->expert_rows(), n_used = op.chosen.n_used;
  for (int r = 0; r < op.chosen.n; ++r) {
    for (int i = 0; i < n_used; ++i) {
      const std::vector<double> x = input_row(op.in, r * n_used + i, static_cast<size_t>(op.w->cols));
      float* const out = op.out + (static_cast<size_t>(r) * n_used + i) * rows;
      for (int row = 0; row < rows; ++row) {
        out[row] = static_cast<float>(product(*op.w, op.chosen.expert(r, i), row, op.bias, x));
      }
    }
  }
}

void mix_experts(const ops::MixExperts& op) {
  const auto width = static_cast<size_t>(op.width);
  for (int r = 0; r < op.chosen.n; ++r) {
    const auto at = static_cast<size_t>(r);
    for (size_t c = 0; c < width; ++c) {
      double sum = 0;
      for (int i = 0; i < op.chosen.n_used; ++i) {
        const size_t each = at * static_cast<size_t>(op.chosen.n_used) + static_cast<size_t>(i);
        sum += static_cast<double>(op.chosen.weight(r, i)) * op.in[each * width + c];
      }
      if (op.shared) sum += op.shared[at * width + c] / (1 + std::exp(-static_cast<double>(op.gate[at])));
      op.out[at * width + c] = static_cast<float>(sum);
    }
  }
}

}  // namespace tern::ref
