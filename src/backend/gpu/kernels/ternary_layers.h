// All layers of a ternary model for one token in one dispatch, whose workgroups stay until the end.
//
// Workgroups give each other values without a barrier between them: a word carries a float's upper 30 bits and a tag of
// two bits, the number of the layer that it was written in. It is stored and loaded atomically, and whoever needs it
// loads it until the tag is the one that he waits for. So nothing is relied on but that each single word is coherent;
// and that all workgroups run at the same time, which WebGPU does not promise: every wait is bounded, and a workgroup
// that has waited in vain says so in `words` and ends. What the dispatch has then made of the token is worth nothing,
// and the token has to be computed in another way.
#pragma once

#include "backend/gpu/kernels/kv_cache.h"
#include "backend/gpu/kernels/ternary_linear.h"

namespace tern::gpu {

struct TernaryLayersConfig {
  uint32_t n_layers, d_model, d_ff;
  HeadShape heads;           // head_dim a multiple of 8, and of as many lanes as share a position
  bool interleaved = false;  // pairs of RoPE
  float eps = 0;
  Activation act = Activation::kRelu2;
  Caps caps;  // with subgroups
  uint32_t workgroup = 512;
  uint32_t qkv_lanes = 16, square_lanes = 16, glu_lanes = 8, wide_lanes = 16;  // invocations that share a row
  uint32_t most_ahead = 16;   // vec4s of weights that an invocation asks for before it waits for activations
  uint32_t most_splits = 16;  // of the history of a head that keys and values belong to; at most a subgroup's lanes
  uint32_t most_rows = 128;   // of x that a workgroup has
  uint32_t kv_heads_of_workgroup = 1;  // at most, one after the other
  // Software devices run the subgroups of a workgroup one after the other, up to the next barrier: so there is one
  // before each wait.
  bool in_turns = false;

  // Where a layer's matrices are in `w`, in vec4s: those of layer 0, and how far the next layer's are behind them.
  uint32_t qkv_at = 0, output_at = 0, gate_at = 0, up_at = 0, down_at = 0, layer_vectors = 0;

  // One behind the other, each from a multiple of `unit` vec4s on.
  void place_matrices(uint32_t unit) {
    uint32_t at = 0;
    const auto next = [&](uint32_t rows, uint32_t cols) {
      const uint32_t first = at;
      at = (at + rows * (whole_blocks(cols) / 64) + unit - 1) / unit * unit;
      return first;
    };
    qkv_at = next(qkv_width(), d_model);
    output_at = next(d_model, q_width());
    gate_at = next(d_ff, d_model);
    up_at = next(d_ff, d_model);
    down_at = next(d_model, d_ff);
    layer_vectors = at;
  }

  uint32_t group_heads() const { return heads.n_heads / heads.n_kv_heads; }
  uint32_t lanes_of_position() const { return std::min(heads.head_dim / 8, caps.subgroup); }
  uint32_t value_behind() const { return heads.n_kv_heads * kBlockPositions * heads.head_dim / 8; }  // vec4s from a key
  uint32_t q_width() const { return heads.n_heads * heads.head_dim; }
  uint32_t qkv_width() const { return (heads.n_heads + 2 * heads.n_kv_heads) * heads.head_dim; }

  // `vectors`, for each layer: the gains of the four norms in their order, then the scales of q, k, v, output, gate, up
  // and down, and one that is not used.
  static constexpr uint32_t kScales = 8;
  uint32_t qkv_gain() const { return 0; }
  uint32_t output_gain() const { return d_model; }
  uint32_t glu_gain() const { return output_gain() + q_width(); }
  uint32_t down_gain() const { return glu_gain() + d_model; }
  uint32_t scales() const { return down_gain() + d_ff; }
  uint32_t layer_values() const { return scales() + kScales; }

  // `words`: what is kept from token to token, then what workgroups tell each other. All but the host's is 0 at first.
  static constexpr uint32_t kTag = 0;       // the tag that was used last
  static constexpr uint32_t kPatience = 1;  // how often a word is looked at; the host's
  static constexpr uint32_t kFailed = 32;   // how many invocations have waited in vain, ever
  static constexpr uint32_t kToken = 33;    // for the host, which reads both at once
  uint32_t x_words() const { return 64; }
  uint32_t qkv_words() const { return x_words() + d_model; }
  uint32_t part_words() const { return qkv_words() + qkv_width(); }
  uint32_t part_stride() const { return heads.head_dim + 2; }  // Σ e·v, the greatest score, Σ e
  uint32_t attention_words() const { return part_words() + heads.n_heads * most_splits * part_stride(); }
  uint32_t middle_words() const { return attention_words() + q_width(); }  // x after attention
  uint32_t ffn_words() const { return middle_words() + d_model; }
  uint32_t n_words() const { return ffn_words() + d_ff; }

  uint32_t widest_row() const { return std::max({d_model, d_ff, q_width()}); }
  uint32_t sums_stride() const { return heads.head_dim + 4; }
  // Each has at least a row of everything: who has none would not hold those up that it reads from.
  uint32_t most_workgroups() const { return std::min({d_model, d_ff, q_width(), qkv_width(), 1023u}); }
  uint32_t least_workgroups() const {
    return std::max((d_model + most_rows - 1) / most_rows,
                    (heads.n_kv_heads + kv_heads_of_workgroup - 1) / kv_heads_of_workgroup);
  }

  bool operator==(const TernaryLayersConfig&) const = default;
};

// x: the token's row, before the first layer and after the last. kv: of all layers, one after the other; the key and
// value of the token's position are written. Grid: [n], n at least least_workgroups(), and as many as run at the same
// time.
using TernaryLayersKernel =
    wgsl::Kernel<wgsl::In<"w", TernaryWeights>, wgsl::In<"vectors", wgsl::F32>, wgsl::InOut<"x", wgsl::F32>,
                 wgsl::In<"angles", wgsl::Vec2<wgsl::F32>>, ParamsBuffer, wgsl::InOut<"kv", wgsl::Vec4<wgsl::F16x2>>,
                 wgsl::InOut<"words", wgsl::Atomic<wgsl::U32>>, wgsl::WorkgroupId, wgsl::NumWorkgroups,
                 wgsl::LocalIndex>;
TernaryLayersKernel ternary_layers(const TernaryLayersConfig& c);

// Whether there is such a kernel for the shape and layout.
bool fits(const TernaryLayersConfig& c);
uint32_t ternary_layers_workgroup_bytes(const TernaryLayersConfig& c);

}  // namespace tern::gpu
