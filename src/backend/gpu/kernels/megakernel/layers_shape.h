// Shared by the megakernels, which compute all layers of a token in one dispatch (ternary_layers.h, ternary_rows.h,
// float_layers.h): the model's shape, the layout of the work, and the words that workgroups exchange.
//
// Workgroups run until the end of the dispatch and exchange values without a barrier between them. A word carries a
// float's upper 30 bits and a two-bit tag, the number of the layer that wrote it. Words are stored and loaded
// atomically; a reader polls a word until it has the expected tag. This relies only on each single word being coherent,
// and on all workgroups running at the same time. WebGPU does not promise the latter, so every wait is bounded: a
// workgroup whose wait times out records that in `words` and ends. The dispatch's results are then invalid, and the
// token must be computed in another way.
#pragma once

#include <algorithm>

#include "backend/gpu/kernels/kv_cache.h"

namespace tern::gpu {

struct LayersShape {
  uint32_t n_layers = 0, d_model = 0, d_ff = 0;
  uint32_t tokens = 1;       // at most; each from another sequence, and each a row of x; a power of two
  HeadShape heads = {};      // head_dim a multiple of 8
  bool interleaved = false;  // RoPE's pairs are adjacent
  uint32_t window = 0;       // positions that a token sees, its own included; 0: all
  float eps = 0;
  Activation act = Activation::kRelu2;
  Caps caps = {};  // with subgroups
  uint32_t workgroup = 512;
  uint32_t most_splits = 24;  // parts of a KV head's history, at most
  // A history is short if no invocation has more than short_rounds positions of it when each workgroup takes a single
  // query head, instead of all that share keys and values, and fewer parts of the history. 0: no history is short.
  uint32_t short_rounds = 3, most_short_splits = 8;
  // Lanes that share a value of attention's result, a power of two. Each has the same number of parts.
  uint32_t lanes_of_result = 8;
  uint32_t most_rows = 128;            // rows of x per workgroup
  uint32_t kv_heads_of_workgroup = 1;  // at most, one after the other
  uint32_t heads_at_once = 8;          // of those that share keys and values, in workgroup memory
  // Software devices run the subgroups of a workgroup one after the other, up to the next barrier. So there is a
  // barrier before each wait.
  bool serial_subgroups = false;
  // Block layout of words: a subgroup whose lanes read adjacent words has four adjacent rows on each lane after four
  // reads.
  bool words_in_quads = false;
  // Block layout of words: a subgroup whose lanes read adjacent words has 16 adjacent rows on each lane after 16 reads.
  bool words_in_units = false;

  uint32_t group_heads() const { return heads.n_heads / heads.n_kv_heads; }
  uint32_t heads_in_memory() const { return std::min(group_heads(), heads_at_once); }
  // Lanes that share a position, a power of two. Each has the same number of runs of 8 dimensions.
  uint32_t lanes_of_position() const {
    const uint32_t runs = heads.head_dim / 8;
    return std::min(runs & ~(runs - 1), caps.subgroup);
  }
  uint32_t vectors_of_lane() const { return heads.head_dim / 8 / lanes_of_position(); }
  uint32_t positions_at_once() const { return workgroup / lanes_of_position(); }  // per workgroup
  bool has_short() const {
    return tokens == 1 && short_rounds > 0 && group_heads() > 1 && kv_heads_of_workgroup == 1 &&
           heads_in_memory() == group_heads();
  }
  uint32_t value_behind() const { return heads.n_kv_heads * kBlockPositions * heads.head_dim / 8; }  // vec4s from a key
  uint32_t q_width() const { return heads.n_heads * heads.head_dim; }
  uint32_t kv_width() const { return heads.n_kv_heads * heads.head_dim; }  // of keys; the same for values
  uint32_t qkv_width() const { return q_width() + 2 * kv_width(); }

  // Layout of `words`: state kept from token to token, then the words that workgroups exchange. All are 0 at first,
  // except those that the host writes.
  static constexpr uint32_t kTag = 0;        // the last tag that was used
  static constexpr uint32_t kSpinLimit = 1;  // polls of a word before a wait times out; written by the host
  static constexpr uint32_t kFailed = 32;    // timed-out invocations since the host reset the words
  static constexpr uint32_t kToken = 33;     // for the host, which reads it together with kFailed
  // Regions of the first row of x; those of the other rows follow at multiples of row_words(). Rows that products read
  // are stored in whole blocks.
  uint32_t words_block() const { return words_in_units ? 512 : 128; }
  uint32_t in_blocks(uint32_t width) const { return (width + words_block() - 1) / words_block() * words_block(); }
  static constexpr uint32_t x_words() { return 64; }
  uint32_t qkv_words() const { return x_words() + in_blocks(d_model); }
  uint32_t part_words() const { return qkv_words() + qkv_width(); }
  uint32_t part_stride() const { return heads.head_dim + 2; }  // Σ e·v, the largest score, Σ e
  uint32_t attention_words() const { return part_words() + heads.n_heads * most_splits * part_stride(); }
  uint32_t middle_words() const { return attention_words() + in_blocks(q_width()); }  // x after attention
  uint32_t ffn_words() const { return middle_words() + in_blocks(d_model); }
  uint32_t row_words() const { return ffn_words() + in_blocks(d_ff) - x_words(); }
  // For several rows of x: what each workgroup contributes to a row's statistics, at four places of a layer.
  static constexpr uint32_t kMostWorkgroups = 1024, kStages = 4;
  uint32_t stats_words() const { return x_words() + tokens * row_words(); }
  uint32_t n_words() const { return stats_words() + (tokens > 1 ? kStages * tokens * 2 * kMostWorkgroups : 0); }

  uint32_t subgroups() const { return workgroup / caps.subgroup; }
  uint32_t sums_stride() const { return heads.head_dim + 4; }
  // Each workgroup has at least one row of everything that all workgroups read. A workgroup without a row would not
  // hold back those that it reads from. The rows of values may be fewer, if they are a separate product beside that of
  // queries and keys.
  uint32_t most_workgroups() const { return std::min({d_model, d_ff, q_width(), qkv_width(), kMostWorkgroups - 1}); }
  // Parts of a head's history. The parts are added up in order, so a different number changes the last bits of the
  // sums.
  uint32_t splits(uint32_t workgroups, uint32_t n_rows = 1) const {
    return std::max(1u, std::min(workgroups / (n_rows * workgroups_of_heads()), most_splits));
  }
  uint32_t most_of_short() const { return std::min(most_short_splits, most_splits); }
  // Parts of a short history; 0: no history is short.
  uint32_t short_splits(uint32_t workgroups) const {
    return has_short() ? std::min(workgroups / heads.n_heads, most_of_short()) : 0;
  }
  uint32_t short_positions(uint32_t workgroups) const {  // of the longest, own position included
    return short_splits(workgroups) * positions_at_once() * short_rounds;
  }
  bool is_short(uint32_t workgroups, uint32_t n_positions) const { return n_positions <= short_positions(workgroups); }
  uint32_t workgroups_of_heads() const {
    return (heads.n_kv_heads + kv_heads_of_workgroup - 1) / kv_heads_of_workgroup;
  }
  uint32_t least_workgroups() const { return std::max((d_model + most_rows - 1) / most_rows, workgroups_of_heads()); }

  bool operator==(const LayersShape&) const = default;
};

// True if the kernels support this shape and layout.
bool fits(const LayersShape& c);
// Bytes of workgroup memory for attention and the residual.
uint32_t layers_workgroup_bytes(const LayersShape& c);

}  // namespace tern::gpu
