// Choices of experts, their tiles, and what the reference computes with the experts' matrices.
#pragma once

#include <cmath>

#include "backend/gpu/kernels/expert_tiles.h"
#include "conform/gpu/float_data.h"

namespace tern::conform {

inline constexpr int kExperts = 7, kMost = 200;
inline constexpr int kNumbers[] = {1, 7, 33, kMost};

// The choices of kMost tokens, as rows of `chosen`.
struct Choices {
  int n_used;
  std::vector<float> rows;

  int expert(int choice) const {
    return static_cast<int>(rows[static_cast<size_t>(choice / n_used * 2 * n_used + choice % n_used)]);
  }
  std::vector<float> of(int n_tokens) const { return {rows.begin(), rows.begin() + n_tokens * 2 * n_used}; }
};
// Three of the experts but the last, more often the first ones; or always the same one.
inline Choices several_each() {
  Choices c{.n_used = 3, .rows = {}};
  for (int token = 0; token < kMost; ++token) {
    const int first = token % 5 == 0 ? token / 5 : 0;
    for (int i = 0; i < c.n_used; ++i) c.rows.push_back(static_cast<float>((first + 2 * i) % (kExperts - 1)));
    for (int i = 0; i < c.n_used; ++i) c.rows.push_back(1);
  }
  return c;
}
inline Choices one_for_all() {
  Choices c{.n_used = 1, .rows = {}};
  for (int token = 0; token < kMost; ++token) c.rows.insert(c.rows.end(), {2.0f, 1.0f});
  return c;
}

struct TileList {
  uint32_t factors_at = 0;
  std::vector<uint32_t> words;
};
inline TileList tile_list(GpuBench& bench, const Choices& choices, int n, uint32_t tokens, uint32_t workgroup = 64) {
  const uint64_t n_choices = static_cast<uint64_t>(n) * static_cast<uint64_t>(choices.n_used);
  TileList list{.factors_at = static_cast<uint32_t>(gpu::expert_tiles_bytes(n_choices, kExperts, tokens) / 4),
                .words = {}};
  list.words = poisoned<uint32_t>(list.factors_at + n_choices);
  const gpu::ExpertTilesConfig c{.n_experts = kExperts,
                                 .n_used = static_cast<uint32_t>(choices.n_used),
                                 .tokens = tokens,
                                 .factors_at = list.factors_at,
                                 .caps = bench.caps(),
                                 .workgroup = workgroup};
  bench.run(gpu::expert_tiles(c), {.x = kExperts}, in<wgsl::F32>(choices.of(n)),
            in<wgsl::U32>(batch_params(3, static_cast<uint32_t>(n))), out<wgsl::U32>(list.words));
  return list;
}

// The matrices of experts, and what the reference computes with them.
class ExpertProblem {
 public:
  ExpertProblem(const Choices& choices, Format format, int cols, uint64_t seed, bool has_bias)
      : choices_(choices),
        w_(format, kExperts * kRows, cols, seed),
        up_(format, kExperts * kRows, cols, seed + 1),
        biases_(random(static_cast<size_t>(2 * kExperts * kRows), seed + 2)),
        x_(random(static_cast<size_t>(kMost * choices.n_used * cols), seed + 3)),
        has_bias_(has_bias) {
    w_.tensor.n_experts = up_.tensor.n_experts = kExperts;
  }
  static constexpr int kRows = 70;

  int cols() const { return w_.tensor.cols; }
  int n_choices(int n) const { return n * choices_.n_used; }
  const Choices& choices() const { return choices_; }
  const Tensor& w() const { return w_.tensor; }
  const Tensor& up() const { return up_.tensor; }
  const std::vector<float>& biases() const { return biases_; }
  std::vector<float> x(int n_rows) const { return {x_.begin(), x_.begin() + n_rows * cols()}; }

  template <class Linear>
  gpu::OfExperts<Linear> config(Linear linear, bool own_input) const {
    linear.coding = gpu::coding_of(w_.tensor), linear.up_coding = gpu::coding_of(up_.tensor);
    linear.act = has_bias_ ? gpu::Activation::kSwigluOai : gpu::Activation::kSilu;
    return {.linear = linear,
            .n_used = static_cast<uint32_t>(choices_.n_used),
            .has_bias = has_bias_,
            .own_input = own_input,
            .limit = own_input ? 0 : limit()};
  }

  // With x normed by the reference. Returns the gain.
  std::vector<float> norm_x(uint64_t seed) {
    const auto gain = random(static_cast<size_t>(cols()), seed);
    const auto before = x_;
    ref::rms_norm({before.data(), gain.data(), kEps, static_cast<int>(x_.size()) / cols(), cols(), x_.data()});
    return gain;
  }

  // error(terms, x): of a sum with these terms and row of activations.
  template <class Error>
  void expect_linear(const std::vector<float>& y, int n, const Error& error) const {
    std::vector<float> expected(y.size());
    ref::expert_linear({.in = {.x = x_.data()},
                        .chosen = chosen(n),
                        .w = &w_.tensor,
                        .bias = has_bias_ ? biases_.data() : nullptr,
                        .out = expected.data()});
    const auto errors = errors_of(w_.tensor, n, true, expected, error);
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], errors[i]) << name(n) << i;
  }

  // SiLU and its kin change by at most 1.1 times the change of a gate, and have an exponential, off by 3 + 4 |gate|
  // ulp, a sum and a division. Bounds make no error greater.
  template <class Error>
  void expect_glu(const std::vector<float>& y, int n, const Error& error) const {
    std::vector<float> expected(y.size()), gates(y.size()), ups(y.size());
    const float* const up_bias = biases_.data() + kExperts * kRows;
    ref::expert_glu({.in = {.x = x_.data()},
                     .chosen = chosen(n),
                     .w_gate = &w_.tensor,
                     .w_up = &up_.tensor,
                     .gate_bias = has_bias_ ? biases_.data() : nullptr,
                     .up_bias = has_bias_ ? up_bias : nullptr,
                     .limit = limit(),
                     .act = has_bias_ ? GluAct::kSwigluOai : GluAct::kSilu,
                     .out = expected.data()});
    std::vector<float> each;  // a row of x for each choice
    for (int choice = 0; choice < n_choices(n); ++choice) {
      const auto row = x_.begin() + choice / choices_.n_used * cols();
      each.insert(each.end(), row, row + cols());
    }
    const float* const bias = has_bias_ ? biases_.data() : nullptr;
    ref::expert_linear({{.x = each.data()}, chosen(n), &w_.tensor, bias, gates.data()});
    ref::expert_linear({{.x = each.data()}, chosen(n), &up_.tensor, has_bias_ ? up_bias : nullptr, ups.data()});
    const auto g_errors = errors_of(w_.tensor, n, false, gates, error),
               u_errors = errors_of(up_.tensor, n, false, ups, error);
    for (size_t i = 0; i < y.size(); ++i) {
      const double g = std::abs(gates[i]), u = std::abs(ups[i]) + (has_bias_ ? 1 : 0);
      const double own = (2 * (3 + 4 * g) + 8) * kUlp;
      ASSERT_NEAR(y[i], expected[i], 1.1 * g_errors[i] * (u + u_errors[i]) + g * u_errors[i] + own * g * u)
          << name(n) << i;
    }
  }

 private:
  float limit() const { return has_bias_ ? 1.5f : 0; }
  ops::Chosen chosen(int n) const { return {choices_.rows.data(), n, choices_.n_used}; }
  std::string name(int n) const {
    return std::string(format_info(w_.tensor.format).name) + ", " + std::to_string(n) + " tokens, at ";
  }
  template <class Error>
  std::vector<double> errors_of(const Tensor& w, int n, bool own_input, const std::vector<float>& sums,
                                const Error& error) const {
    std::vector<double> errors;
    std::vector<std::vector<double>> weights;
    for (int row = 0; row < w.rows; ++row) weights.push_back(weight_magnitudes(w, row));
    for (int choice = 0; choice < n_choices(n); ++choice) {
      const auto x = std::span(x_).subspan(
          static_cast<size_t>((own_input ? choice : choice / choices_.n_used) * cols()), static_cast<size_t>(cols()));
      for (int row = 0; row < kRows; ++row) {
        const auto& of_row = weights[static_cast<size_t>(choices_.expert(choice) * kRows + row)];
        double terms = 0;
        for (size_t i = 0; i < x.size(); ++i) terms += std::abs(of_row[i] * x[i]);
        errors.push_back(error(terms, x) + 2 * kUlp * std::abs(sums[errors.size()]));
      }
    }
    return errors;
  }

  Choices choices_;
  WeightMatrix w_, up_;
  std::vector<float> biases_, x_;
  bool has_bias_;
};

}  // namespace tern::conform
