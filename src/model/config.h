// The shape of a model: everything that decides which steps run, and nothing about where the weights are.
#pragma once

#include <cstdint>
#include <string>

namespace tern {

// RoPE rotates pairs of dimensions: i with i + head_dim/2, or 2i with 2i + 1.
enum class RopePairs { kHalves, kInterleaved };

struct Config {
  std::string architecture;  // as in the file
  int n_layers = 0;
  int d_model = 0;     // width of the residual stream
  int n_heads = 0;     // query heads
  int n_kv_heads = 0;  // key and value heads; n_heads is a multiple
  int head_dim = 0;
  int d_ff = 0;  // width of the feed-forward layer
  int n_vocab = 0;
  int n_ctx = 0;  // trained context
  float rms_eps = 0;
  float rope_theta = 0;
  RopePairs rope_pairs = RopePairs::kHalves;

  int q_width() const { return n_heads * head_dim; }
  int kv_width() const { return n_kv_heads * head_dim; }
};

}  // namespace tern
