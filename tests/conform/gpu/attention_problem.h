// An attention problem with the reference's results, and the error bounds of a kernel.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "conform/gpu/gpu_bench.h"
#include "conform/gpu/kv_data.h"

namespace tern::conform {

struct AttentionProblem {
  AttentionProblem(const gpu::HeadShape& shape, KvType type, uint32_t last_pos, uint32_t tokens, uint64_t seed,
                   float q_factor = 0.3f, uint32_t seen = 0, float cap = 0)
      : s(shape), n(tokens), pos(last_pos + 1 - tokens), window(seen), softcap(cap), kv(shape, type, kManyPositions) {
    const size_t count = size_t{last_pos + 1} * s.n_kv_heads * s.head_dim;
    const auto k = random(count, seed), v = random(count, seed + 1);
    kv.append(k.data(), v.data(), static_cast<int>(last_pos + 1), 0);  // later positions stay poisoned
    q = random(size_t{n} * s.n_heads * s.head_dim, seed + 2, q_factor);
    expect_of_reference();
  }

  // Computes the expected results again after keys, values or queries were changed.
  void expect_of_reference() {
    expected.resize(q.size());
    kv.attention(q.data(), static_cast<int>(n), static_cast<int>(s.n_heads), static_cast<int>(pos),
                 static_cast<int>(window), expected.data(), softcap);
    values = kv.floats();
  }

  // Let S = the largest Σ|q·k|/√d and A = Σ weight·|v|. A score is off by a rounding per term of S (head_dim + 4 of
  // them). The largest score is subtracted from it, so twice that goes into the exponent. In WGSL, an exponential of x
  // is off by 3 + 2|x| ulp, with |x| ≤ 2S. Weights appear above and below the fraction line, so all of it counts twice.
  // Each of the two sums adds a rounding per position and product. `halves`: queries and weights are rounded to 11
  // bits, small weights to multiples of 2^-24 (the largest weight is at least 1), and KV codes times their scale are
  // rounded, too.
  struct RowBounds {
    size_t row;
    bool halves;
    std::vector<double> weights;  // of each position; the largest is 1
    double greatest_sum = 0;      // S
    double total = 0;
  };
  RowBounds bounds_of(size_t row, bool halves) const {
    const size_t d = s.head_dim, token = row / s.n_heads, head = row % s.n_heads, n_pos = pos + token + 1;
    RowBounds bounds{.row = row, .halves = halves, .weights = std::vector<double>(n_pos)};
    std::vector<double>& scores = bounds.weights;
    const double root = std::sqrt(d);
    double greatest = -1e30;
    for (size_t p = first_of(n_pos); p < n_pos; ++p) {
      const float *key = &values[kv.row(0, head / (s.n_heads / s.n_kv_heads), p) * d], *query = &q[row * d];
      double score = 0, magnitudes = 0;
      for (size_t i = 0; i < d; ++i) {
        const double term = static_cast<double>(query[i]) * key[i] / root;
        score += term;
        magnitudes += term < 0 ? -term : term;
      }
      scores[p] = softcap > 0 ? softcap * std::tanh(score / softcap) : score;
      greatest = std::max(greatest, scores[p]);
      bounds.greatest_sum = std::max(bounds.greatest_sum, magnitudes);
    }
    for (size_t p = first_of(n_pos); p < n_pos; ++p) {
      bounds.weights[p] = std::exp(scores[p] - greatest);
      bounds.total += bounds.weights[p];
    }
    return bounds;
  }
  double bound(const RowBounds& of, size_t at) const {
    const size_t d = s.head_dim, n_pos = of.weights.size(), kv_head = of.row % s.n_heads / (s.n_heads / s.n_kv_heads);
    double weighted = 0, greatest_value = 0;
    for (size_t p = first_of(n_pos); p < n_pos; ++p) {
      const double value = std::abs(values[kv.row(1, kv_head, p) * d + at % d]);
      weighted += of.weights[p] * value;
      greatest_value = std::max(greatest_value, value);
    }
    const double cap_error = softcap * (2 * (3 + 2 * 20) + 12) * kUlp;  // an exponential of at most 20
    const double exponent = 2 * (of.greatest_sum * static_cast<double>(d + 4) * kUlp + cap_error);
    const double exponential = (3 + 2 * 2 * of.greatest_sum) * 2 * kUlp;
    const double exact =
        weighted / of.total * (2 * (exponent + exponential) + (2 * static_cast<double>(n_pos) + 16) * kUlp);
    if (!of.halves) return exact;
    const double roundings = kv.type == KvType::kQ8_0 ? 2 : 1;
    const double of_halves = 2 * of.greatest_sum * roundings * 0x1p-11 + 2 * roundings * 0x1p-11;
    return exact + 1.05 * weighted / of.total * of_halves + 0x1p-25 * static_cast<double>(n_pos) * greatest_value;
  }
  size_t first_of(size_t n_pos) const { return window > 0 && n_pos > window ? n_pos - window : 0; }

  void expect(std::span<const float> y, const char* how, bool halves = false) const {
    std::optional<RowBounds> bounds;  // computed only when needed: they are slow
    for (size_t i = 0; i < y.size(); ++i) {
      if (std::abs(y[i] - expected[i]) <= 1e-7) continue;
      if (const size_t row = i / s.head_dim; !bounds || bounds->row != row) bounds = bounds_of(row, halves);
      ASSERT_NEAR(y[i], expected[i], bound(*bounds, i))
          << how << ", " << n << " tokens from " << pos << ", head_dim " << s.head_dim << ", at " << i;
    }
  }
  std::vector<uint32_t> params() const { return kv.params(pos, n); }

  gpu::HeadShape s;
  uint32_t n, pos, window;
  float softcap;
  KvData kv;
  std::vector<float> q, expected, values;
};

// Statistics for the norm that follows: Σ y² and the largest |y·gain| of every head.
struct HeadStats {
  explicit HeadStats(const AttentionProblem& p)
      : s(p.s),
        gain(random(size_t{s.n_heads} * s.head_dim, p.pos + 7)),
        parts(poisoned<float>(size_t{2} * p.n * s.n_heads)) {}
  // Sums of positive terms: one rounding per addition and one per product.
  void expect(const std::vector<float>& y) const {
    const size_t d = s.head_dim;
    for (size_t row = 0; row < parts.size() / 2; ++row) {
      double squares = 0, largest = 0;
      for (size_t i = row * d; i < (row + 1) * d; ++i) {
        squares += static_cast<double>(y[i]) * y[i];
        largest = std::max(largest, std::abs(static_cast<double>(y[i]) * gain[i % gain.size()]));
      }
      ASSERT_NEAR(parts[2 * row], squares, squares * static_cast<double>(d + 1) * kUlp) << "row " << row;
      ASSERT_NEAR(parts[2 * row + 1], largest, largest * kUlp) << "row " << row;
    }
  }
  gpu::HeadShape s;
  std::vector<float> gain, parts;
};

}  // namespace tern::conform
