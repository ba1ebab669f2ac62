// A problem of attention with what the reference makes of it, and how far off a kernel may be.
#pragma once

#include <algorithm>
#include <cmath>
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
    kv.append(k.data(), v.data(), static_cast<int>(last_pos + 1), 0);  // beyond it: poison
    q = random(size_t{n} * s.n_heads * s.head_dim, seed + 2, q_factor);
    expect_of_reference();
  }

  // Again, where keys, values or queries have been changed.
  void expect_of_reference() {
    expected.resize(q.size());
    kv.attention(q.data(), static_cast<int>(n), static_cast<int>(s.n_heads), static_cast<int>(pos),
                 static_cast<int>(window), expected.data(), softcap);
    values = kv.floats();
  }

  // With S = the greatest Σ|q·k|/√d and A = Σ weight·|v|: a score is off by a rounding per term of S (head_dim + 4 of
  // them), and the greatest one is subtracted from it, so twice that goes into the exponent, and in WGSL an exponential
  // of x is off by 3 + 2|x| ulp with |x| ≤ 2S. A weight appears above and below the line, so all of it counts twice.
  // Then a rounding per position and product in both sums. `halves`: queries and weights were rounded to 11 bits, small
  // weights to multiples of 2^-24 where the greatest is at least 1; and codes of keys and values, times their scale.
  double bound(size_t at, bool halves) const {
    const size_t d = s.head_dim, row = at / d, token = row / s.n_heads, head = row % s.n_heads;
    const size_t n_pos = pos + token + 1, kv_head = head / (s.n_heads / s.n_kv_heads);
    double greatest = -1e30, greatest_sum = 0, total = 0, weighted = 0, greatest_value = 0;
    std::vector<double> scores(n_pos);
    const size_t first = window > 0 && n_pos > window ? n_pos - window : 0;
    for (size_t p = first; p < n_pos; ++p) {
      double magnitudes = 0;
      for (size_t i = 0; i < d; ++i) {
        const double term = static_cast<double>(q[row * d + i]) * values[kv.row(0, kv_head, p) * d + i] / std::sqrt(d);
        scores[p] += term;
        magnitudes += std::abs(term);
      }
      if (softcap > 0) scores[p] = softcap * std::tanh(scores[p] / softcap);
      greatest = std::max(greatest, scores[p]);
      greatest_sum = std::max(greatest_sum, magnitudes);
    }
    for (size_t p = first; p < n_pos; ++p) {
      const double weight = std::exp(scores[p] - greatest);
      total += weight;
      const double value = std::abs(values[kv.row(1, kv_head, p) * d + at % d]);
      weighted += weight * value;
      greatest_value = std::max(greatest_value, value);
    }
    const double cap_error = softcap * (2 * (3 + 2 * 20) + 12) * kUlp;  // an exponential of at most 20
    const double exponent = 2 * (greatest_sum * static_cast<double>(d + 4) * kUlp + cap_error);
    const double exponential = (3 + 2 * 2 * greatest_sum) * 2 * kUlp;
    const double exact =
        weighted / total * (2 * (exponent + exponential) + (2 * static_cast<double>(n_pos) + 16) * kUlp);
    if (!halves) return exact;
    const double roundings = kv.type == KvType::kQ8_0 ? 2 : 1;
    const double of_halves = 2 * greatest_sum * roundings * 0x1p-11 + 2 * roundings * 0x1p-11;
    return exact + 1.05 * weighted / total * of_halves + 0x1p-25 * static_cast<double>(n_pos) * greatest_value;
  }
  void expect(std::span<const float> y, const char* how, bool halves = false) const {
    for (size_t i = 0; i < y.size(); ++i) {
      if (std::abs(y[i] - expected[i]) <= 1e-7) continue;  // `bound` takes a while
      ASSERT_NEAR(y[i], expected[i], bound(i, halves))
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

// What is left for the norm that follows: Σ y² and the greatest |y·gain| of every head.
struct HeadStats {
  explicit HeadStats(const AttentionProblem& p)
      : s(p.s),
        gain(random(size_t{s.n_heads} * s.head_dim, p.pos + 7)),
        parts(poisoned<float>(size_t{2} * p.n * s.n_heads)) {}
  // Sums of positive terms: a rounding for each, and one for each product.
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
