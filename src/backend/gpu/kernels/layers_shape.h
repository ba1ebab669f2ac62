// What the kernels that compute all layers of a token in one dispatch have in common (ternary_layers.h,
// ternary_rows.h, float_layers.h): the model's shape, how work is laid out, and the words between workgroups.
//
// Workgroups, which stay until the end, give each other values without a barrier between them: a word carries a float's
// upper 30 bits and a tag of two bits, the number of the layer that it was written in. It is stored and loaded
// atomically, and whoever needs it loads it until the tag is the one that he waits for. So nothing is relied on but
// that each single word is coherent; and that all workgroups run at the same time, which WebGPU does not promise: every
// wait is bounded, and a workgroup that has waited in vain says so in `words` and ends. What the dispatch has then made
// of the token is worth nothing, and the token has to be computed in another way.
#pragma once

#include <algorithm>

#include "backend/gpu/kernels/kv_cache.h"

namespace tern::gpu {

struct LayersShape {
  uint32_t n_layers = 0, d_model = 0, d_ff = 0;
  uint32_t tokens = 1;       // at most, each of another sequence, and each a row of x; a power of two
  HeadShape heads = {};      // head_dim a multiple of 8
  bool interleaved = false;  // pairs of RoPE
  uint32_t window = 0;       // positions that a token sees, its own included; 0: all
  float eps = 0;
  Activation act = Activation::kRelu2;
  Caps caps = {};  // with subgroups
  uint32_t workgroup = 512;
  uint32_t most_splits = 24;  // of the history of a head that keys and values belong to
  // While an invocation would see no more positions of a history than short_rounds, a workgroup has one query head
  // instead of all that share keys and values, and parts are fewer. 0: none is so short.
  uint32_t short_rounds = 3, most_short_splits = 8;
  // Lanes, a power of two, that share a value of attention's result, each with as many parts as the others.
  uint32_t lanes_of_result = 8;
  uint32_t most_rows = 128;            // of x that a workgroup has
  uint32_t kv_heads_of_workgroup = 1;  // at most, one after the other
  uint32_t heads_at_once = 8;          // of those that share keys and values, in workgroup memory
  // Software devices run the subgroups of a workgroup one after the other, up to the next barrier: so there is one
  // before each wait.
  bool in_turns = false;
  // The words of a block lie so that a subgroup whose lanes read neighbouring words has four neighbouring rows on each
  // lane after four reads.
  bool words_in_quads = false;
  // The words of a block lie so that a subgroup whose lanes read neighbouring words has 16 neighbouring rows on each
  // lane after 16 reads.
  bool words_in_units = false;

  uint32_t group_heads() const { return heads.n_heads / heads.n_kv_heads; }
  uint32_t heads_in_memory() const { return std::min(group_heads(), heads_at_once); }
  // Lanes that share a position, a power of two: each has as many runs of 8 dimensions as the others.
  uint32_t lanes_of_position() const {
    const uint32_t runs = heads.head_dim / 8;
    return std::min(runs & ~(runs - 1), caps.subgroup);
  }
  uint32_t vectors_of_lane() const { return heads.head_dim / 8 / lanes_of_position(); }
  uint32_t positions_at_once() const { return workgroup / lanes_of_position(); }  // that a workgroup sees
  bool has_short() const {
    return tokens == 1 && short_rounds > 0 && group_heads() > 1 && kv_heads_of_workgroup == 1 &&
           heads_in_memory() == group_heads();
  }
  uint32_t value_behind() const { return heads.n_kv_heads * kBlockPositions * heads.head_dim / 8; }  // vec4s from a key
  uint32_t q_width() const { return heads.n_heads * heads.head_dim; }
  uint32_t kv_width() const { return heads.n_kv_heads * heads.head_dim; }  // of keys, and of values
  uint32_t qkv_width() const { return q_width() + 2 * kv_width(); }

  // `words`: what is kept from token to token, then what workgroups tell each other. All but the host's is 0 at first.
  static constexpr uint32_t kTag = 0;       // the tag that was used last
  static constexpr uint32_t kPatience = 1;  // how often a word is looked at; the host's
  static constexpr uint32_t kFailed = 32;   // how many invocations have waited in vain, ever
  static constexpr uint32_t kToken = 33;    // for the host, which reads both at once
  // Rows that are multiplied with are in whole blocks. Those of the first row of x; the others' lie row_words() apart.
  uint32_t words_block() const { return words_in_units ? 512 : 128; }
  uint32_t in_blocks(uint32_t width) const { return (width + words_block() - 1) / words_block() * words_block(); }
  static constexpr uint32_t x_words() { return 64; }
  uint32_t qkv_words() const { return x_words() + in_blocks(d_model); }
  uint32_t part_words() const { return qkv_words() + qkv_width(); }
  uint32_t part_stride() const { return heads.head_dim + 2; }  // Σ e·v, the greatest score, Σ e
  uint32_t attention_words() const { return part_words() + heads.n_heads * most_splits * part_stride(); }
  uint32_t middle_words() const { return attention_words() + in_blocks(q_width()); }  // x after attention
  uint32_t ffn_words() const { return middle_words() + in_blocks(d_model); }
  uint32_t row_words() const { return ffn_words() + in_blocks(d_ff) - x_words(); }
  // Of several rows, what each workgroup adds to a row's statistics, in each of four places of a layer.
  static constexpr uint32_t kMostWorkgroups = 1024, kStages = 4;
  uint32_t stats_words() const { return x_words() + tokens * row_words(); }
  uint32_t n_words() const { return stats_words() + (tokens > 1 ? kStages * tokens * 2 * kMostWorkgroups : 0); }

  uint32_t subgroups() const { return workgroup / caps.subgroup; }
  uint32_t sums_stride() const { return heads.head_dim + 4; }
  // Each has at least a row of everything that all of them read: who has none would not hold those up that it reads
  // from. Values may be fewer, where they are a product of their own beside that of queries and keys.
  uint32_t most_workgroups() const { return std::min({d_model, d_ff, q_width(), qkv_width(), kMostWorkgroups - 1}); }
  // Parts of a head's history, which are added up in their order: with another number sums differ in their last bits.
  uint32_t splits(uint32_t workgroups, uint32_t n_rows = 1) const {
    return std::max(1u, std::min(workgroups / (n_rows * workgroups_of_heads()), most_splits));
  }
  uint32_t most_of_short() const { return std::min(most_short_splits, most_splits); }
  // Of a short history; 0: none is one.
  uint32_t short_splits(uint32_t workgroups) const {
    return has_short() ? std::min(workgroups / heads.n_heads, most_of_short()) : 0;
  }
  uint32_t short_positions(uint32_t workgroups) const {  // of the longest, the token's own included
    return short_splits(workgroups) * positions_at_once() * short_rounds;
  }
  bool is_short(uint32_t workgroups, uint32_t n_positions) const { return n_positions <= short_positions(workgroups); }
  uint32_t workgroups_of_heads() const {
    return (heads.n_kv_heads + kv_heads_of_workgroup - 1) / kv_heads_of_workgroup;
  }
  uint32_t least_workgroups() const { return std::max((d_model + most_rows - 1) / most_rows, workgroups_of_heads()); }

  bool operator==(const LayersShape&) const = default;
};

// Whether there are such kernels for the shape and layout.
bool fits(const LayersShape& c);
// What attention and the residual take of workgroup memory.
uint32_t layers_workgroup_bytes(const LayersShape& c);

}  // namespace tern::gpu
