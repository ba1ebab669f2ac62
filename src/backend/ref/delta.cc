// The ops of recurrent layers, the gate of attention, and rotations: causal_conv, delta_rule, gated_norm, split_heads,
// sigmoid_mul, rotate.
#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "backend/ref/ops.h"

namespace tern::ref {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

float* floats_of(const ops::StateRows& rows) { return reinterpret_cast<float*>(rows.state); }

size_t size(int n) { return static_cast<size_t>(n); }

// Where confirmed token i lies, and where row i is left pending.
float* confirmed(const auto& op, const ops::StateRows& rows, int i) {
  return floats_of(rows) + op.state.pending(rows.confirmed_set, i);
}
float* left_pending(const auto& op, const ops::StateRows& rows, int i) {
  return floats_of(rows) + op.state.pending(1 - rows.confirmed_set, i);
}

// Moves the inputs of confirmed pending tokens into the columns.
void confirm_inputs(const ops::CausalConv& op, const ops::StateRows& rows) {
  const size_t channels = size(op.channels), n_columns = size(op.n_taps - 1);
  float* const columns = floats_of(rows) + op.state.columns;
  if (rows.is_new) std::fill_n(columns, n_columns * channels, 0.0f);
  for (int i = 0; i < rows.n_confirmed; ++i) {
    std::copy(columns + channels, columns + n_columns * channels, columns);
    std::copy_n(confirmed(op, rows, i) + op.state.inputs, channels, columns + (n_columns - 1) * channels);
  }
}

// [n, head_dim] divided by their lengths.
std::vector<float> normed(const float* x, int head_dim, double factor) {
  double squares = 0;
  for (int i = 0; i < head_dim; ++i) squares += static_cast<double>(x[i]) * x[i];
  std::vector<float> out(size(head_dim));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(x[i] * factor / std::sqrt(squares + 1e-6));
  return out;
}

// One head of values, over the rows of one sequence.
class DeltaHead {
 public:
  DeltaHead(const ops::DeltaRule& op, const ops::StateRows& rows, int head)
      : op_(op),
        rows_(rows),
        head_(head),
        dim_(op.shape.head_dim),
        key_head_(op.shape.is_tiled ? head % op.shape.n_k_heads : head / (op.shape.n_v_heads / op.shape.n_k_heads)),
        kept_(floats_of(rows) + op.state.matrices + size(head * dim_) * size(dim_)) {}

  void run() {
    const size_t n = size(dim_) * size(dim_);
    if (rows_.is_new) std::fill_n(kept_, n, 0.0f);
    for (int i = 0; i < rows_.n_confirmed; ++i) {
      const float* const pending = confirmed(op_, rows_, i);
      add(kept_, pending + op_.state.keys + size(key_head_ * dim_), pending + op_.state.deltas + size(head_ * dim_),
          pending[op_.state.decays + size(head_)]);
    }
    std::vector<float> copy;
    if (rows_.is_check) copy.assign(kept_, kept_ + n);
    for (int i = 0; i < rows_.n; ++i) step(i, rows_.is_check ? copy.data() : kept_);
  }

 private:
  // S = decay · S + k δᵀ.
  void add(float* s, const float* k, const float* delta, float decay) const {
    for (int i = 0; i < dim_; ++i) {
      for (int j = 0; j < dim_; ++j) {
        float& value = s[i * dim_ + j];
        value = static_cast<float>(static_cast<double>(decay) * value + static_cast<double>(k[i]) * delta[j]);
      }
    }
  }

  void step(int row, float* s) const {
    const DeltaConfig& shape = op_.shape;
    const size_t at = size(rows_.first + row);
    const float* const in = op_.in + at * size(shape.channels());
    const auto q = normed(in + key_head_ * dim_, dim_, 1 / std::sqrt(dim_));
    const auto k = normed(in + shape.key_width() + key_head_ * dim_, dim_, 1);
    const float* const v = in + 2 * shape.key_width() + head_ * dim_;
    const size_t of_head = at * size(shape.n_v_heads) + size(head_);
    const double beta = sigmoid(op_.beta[of_head]);
    const double dt = static_cast<double>(op_.alpha[of_head]) + op_.dt_bias[head_];
    const double softplus = dt > 20 ? dt : std::log1p(std::exp(dt));
    const auto decay = static_cast<float>(std::exp(op_.decay[head_] * softplus));
    std::vector<float> delta(size(dim_));
    for (int j = 0; j < dim_; ++j) {
      double sum = 0;
      for (int i = 0; i < dim_; ++i) sum += static_cast<double>(s[i * dim_ + j]) * k[size(i)];
      delta[size(j)] = static_cast<float>(beta * (v[j] - decay * sum));
    }
    add(s, k.data(), delta.data(), decay);
    float* const out = op_.out + (at * size(shape.n_v_heads) + size(head_)) * size(dim_);
    for (int j = 0; j < dim_; ++j) {
      double sum = 0;
      for (int i = 0; i < dim_; ++i) sum += static_cast<double>(s[i * dim_ + j]) * q[size(i)];
      out[j] = static_cast<float>(sum);
    }
    if (!rows_.is_check) return;
    float* const pending = left_pending(op_, rows_, row);
    std::ranges::copy(k, pending + op_.state.keys + size(key_head_ * dim_));
    std::ranges::copy(delta, pending + op_.state.deltas + size(head_ * dim_));
    pending[op_.state.decays + size(head_)] = decay;
  }

  const ops::DeltaRule& op_;
  const ops::StateRows& rows_;
  int head_, dim_, key_head_;
  float* kept_;
};

}  // namespace

void causal_conv(const ops::CausalConv& op) {
  const size_t channels = size(op.channels), n_columns = size(op.n_taps - 1);
  for (const ops::StateRows& rows : op.rows) {
    confirm_inputs(op, rows);
    float* const columns = floats_of(rows) + op.state.columns;
    std::vector<float> inputs(columns, columns + n_columns * channels);
    const float* const in = op.in + size(rows.first) * channels;
    inputs.insert(inputs.end(), in, in + size(rows.n) * channels);
    for (size_t row = 0; row < size(rows.n); ++row) {
      for (size_t c = 0; c < channels; ++c) {
        double sum = 0;
        for (size_t j = 0; j < size(op.n_taps); ++j) {
          sum += static_cast<double>(op.taps[c * size(op.n_taps) + j]) * inputs[(row + j) * channels + c];
        }
        op.out[(size(rows.first) + row) * channels + c] = static_cast<float>(sum * sigmoid(sum));
      }
    }
    if (!rows.is_check) {
      std::copy(inputs.end() - static_cast<ptrdiff_t>(n_columns * channels), inputs.end(), columns);
      continue;
    }
    for (int row = 0; row < rows.n; ++row) {
      std::copy_n(in + size(row) * channels, channels, left_pending(op, rows, row) + op.state.inputs);
    }
  }
}

void delta_rule(const ops::DeltaRule& op) {
  for (const ops::StateRows& rows : op.rows) {
    for (int head = 0; head < op.shape.n_v_heads; ++head) DeltaHead(op, rows, head).run();
  }
}

void gated_norm(const ops::GatedNorm& op) {
  rms_norm({op.in, op.gain, op.eps, op.n, op.head_dim, op.out});
  for (size_t i = 0; i < size(op.n) * size(op.head_dim); ++i) {
    op.out[i] = static_cast<float>(op.out[i] * (op.gate[i] * sigmoid(op.gate[i])));
  }
}

// By the definition: each value is a sum over its block.
void rotate(const ops::Rotate& op) {
  const double norm = 1 / std::sqrt(op.block);
  std::vector<double> block(size(op.block));
  for (int row = 0; row < op.n; ++row) {
    const float* const in = op.in + size(row) * size(op.width);
    float* const out = op.out + size(row) * size(op.width);
    for (int first = 0; first < op.width; first += op.block) {
      for (int c = 0; c < op.block; ++c) {
        const double value = in[op.source(first + c)];
        block[size(c)] = op.is_inverse ? value : value * op.signs[first + c];
      }
      for (int r = 0; r < op.block; ++r) {
        double sum = 0;
        for (int c = 0; c < op.block; ++c)
          sum += std::popcount(static_cast<unsigned>(r & c)) % 2 == 0 ? block[size(c)] : -block[size(c)];
        out[first + r] = static_cast<float>(sum * norm * (op.is_inverse ? op.signs[first + r] : 1));
      }
    }
  }
}

void split_heads(const ops::SplitHeads& op) {
  const size_t dim = size(op.head_dim);
  for (size_t head = 0; head < size(op.n) * size(op.n_heads); ++head) {
    std::copy_n(op.in + 2 * head * dim, dim, op.q + head * dim);
    std::copy_n(op.in + (2 * head + 1) * dim, dim, op.gate + head * dim);
  }
}

void sigmoid_mul(const ops::SigmoidMul& op) {
  for (size_t i = 0; i < op.count; ++i) op.x[i] = static_cast<float>(op.x[i] * sigmoid(op.gate[i]));
}

}  // namespace tern::ref
