// The shapes that `tern synth` knows.
#pragma once

#include <span>
#include <string_view>

namespace tern {

// A model of the BitNet b1.58 family. Every width is a multiple of 128, so that ternary rows are whole I2_S blocks.
struct SynthShape {
  std::string_view name;
  std::string_view description;
  int n_vocab;
  int d_model;
  int n_layers;
  int n_heads;
  int n_kv_heads;
  int d_ff;
  int n_ctx;
  float rope_theta;
  float rms_eps;

  int head_dim() const { return d_model / n_heads; }
  int kv_width() const { return n_kv_heads * head_dim(); }
};

std::span<const SynthShape> synth_shapes();

// nullptr where there is none.
const SynthShape* find_synth_shape(std::string_view name);

}  // namespace tern
