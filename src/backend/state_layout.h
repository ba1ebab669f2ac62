// The state of a sequence's recurrent layers in host memory: one region of floats.
//
// A layer's part is: the matrices S of the delta rule, [n_v_heads, head_dim of k, head_dim of v]; the last conv_taps −
// 1 inputs of the convolution, [conv_taps − 1, channels], the oldest first; and what tokens that are pending add, each
// with its input of the convolution [channels], its normed keys k [n_k_heads, head_dim], the values δ that are written
// [n_v_heads, head_dim], and the decay of S [n_v_heads]: S = decay · S + k δᵀ. There are two sets of pending tokens, so
// that a pass can read one and write the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/source/config.h"

namespace tern {

// The most tokens of one sequence that may be pending: those of a pass that checks draft tokens.
inline constexpr int kMostPending = 16;

// Where the parts of one layer's state lie, in floats from the start of the region.
struct StateLayer {
  size_t matrices = 0, columns = 0;
  size_t n_kept = 0;       // without pending tokens; 0: not a recurrent layer. Layers follow each other without gaps
  size_t all_pending = 0;  // the sets of pending tokens
  size_t per_pending = 0;  // from a pending token to the next
  size_t inputs = 0, keys = 0, deltas = 0, decays = 0;  // from the start of a pending token

  size_t pending(int set, int token) const {
    return all_pending + static_cast<size_t>(set * kMostPending + token) * per_pending;
  }
};

class StateLayout {
 public:
  explicit StateLayout(const Config& config) : layers_(static_cast<size_t>(config.n_layers)) {
    const DeltaConfig& d = config.delta;
    const auto size = [](int n) { return static_cast<size_t>(n); };
    for (int i = 0; i < config.n_layers; ++i) {
      if (!config.layer(i).is_recurrent) continue;
      StateLayer& layer = layers_[size(i)];
      layer.matrices = n_floats_;
      layer.columns = layer.matrices + size(d.value_width()) * size(d.head_dim);
      n_floats_ = layer.columns + size(d.conv_taps - 1) * size(d.channels());
      layer.n_kept = n_floats_ - layer.matrices;
    }
    n_kept_floats_ = n_floats_;
    for (int i = 0; i < config.n_layers; ++i) {
      if (!config.layer(i).is_recurrent) continue;
      StateLayer& layer = layers_[size(i)];
      layer.all_pending = n_floats_;
      layer.keys = size(d.channels());
      layer.deltas = layer.keys + size(d.key_width());
      layer.decays = layer.deltas + size(d.value_width());
      layer.per_pending = layer.decays + size(d.n_v_heads);
      n_floats_ += layer.per_pending * size(2 * kMostPending);
    }
  }

  const StateLayer& layer(int i) const { return layers_[static_cast<size_t>(i)]; }
  // Bytes of the region; 0: no layer is recurrent.
  uint64_t bytes() const { return n_floats_ * sizeof(float); }
  // Bytes at its start that describe a sequence without pending tokens. A copy of them continues the sequence.
  uint64_t kept_bytes() const { return n_kept_floats_ * sizeof(float); }

 private:
  std::vector<StateLayer> layers_;
  size_t n_floats_ = 0, n_kept_floats_ = 0;
};

}  // namespace tern
