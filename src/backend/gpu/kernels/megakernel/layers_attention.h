// Attention in the megakernels: each workgroup processes KV heads for a part of the positions; then the parts are
// combined.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "backend/gpu/kernels/megakernel/mailbox.h"

namespace tern::gpu::layers {

using Cache = InOut<"kv", Vec4<F16x2>>;

using Vectors = In<"vectors", F32>;

// RMS norms of the query and key heads, and the offsets of their gains in a layer's part of `vectors`.
struct HeadNorms {
  Vectors vectors;
  uint32_t layer_values, q_gain, k_gain;
  float eps;
};

// True if head norms are supported for this shape.
bool can_norm_heads(const LayersShape& c);
uint32_t head_norms_bytes(const LayersShape& c);  // of workgroup memory

class LayersAttention {
 public:
  LayersAttention(const LayersShape& c, const In<"angles", Vec2<F32>>& angles, const ParamsBuffer& params,
                  const Cache& kv, const Mailbox& mailbox, const LayerBuiltins& b,
                  const std::optional<HeadNorms>& norms = {});

  struct Loaded {
    Name<U32> at;
    std::vector<Name<Vec4<F16x2>>> k, v;
  };
  // Loads the first positions of each head of the workgroup, before the queries they are compared with have arrived.
  std::vector<Loaded> load_positions(const Name<U32>& layer) const;
  // Reads the words of the three projections and publishes the parts of the history.
  void attend(const Name<U32>& layer, const std::vector<Loaded>& newest, const Name<U32>& tag) const;
  // Combines the parts into the result.
  void merge(const Name<U32>& tag) const;

  // The same for several rows of x: the number of rows, and the number of parts of each row's history.
  const Name<U32>& n_rows() const { return n_rows_; }
  Name<U32> splits() const;
  void attend_rows(const Name<U32>& layer, const Name<U32>& tag) const;
  // Workgroup memory that only attention uses, between one barrier and the next.
  const Shared<F32>& idle_memory() const { return sums_; }
  static uint32_t idle_values(const LayersShape& c) { return c.subgroups() * c.heads_in_memory() * c.sums_stride(); }

 private:
  struct Here;
  struct Pair;
  struct HeadSums;
  Here look_around(uint32_t nth) const;
  void give_all_heads(Here& here) const;
  Here look_around_row(const Name<U32>& nth) const;
  void find_positions(Here& here, const std::function<Temp<U32>()>& row) const;
  static Name<U32> in_row(const Here& here, const Name<U32>& place);
  Name<U32> key_at(const Here& here, const Name<U32>& p) const;
  Loaded load_position(const Name<U32>& layer_vectors, const Name<U32>& layer, const Name<U32>& at) const;
  void take_heads(const Here& here, const Name<U32>& layer, const Name<U32>& tag) const;
  std::vector<Name<F32>> norm_factors(const Here& here, const std::vector<Pair>& pairs, const Name<U32>& n_pairs) const;
  void attend_with(const Here& here, const Name<U32>& layer, const Loaded& newest, const Name<U32>& tag) const;
  HeadSums new_sums() const;
  void see_positions(const Here& here, uint32_t heads, const Name<U32>& layer, const Loaded& newest,
                     const HeadSums& of_heads) const;
  using Queries = std::vector<std::vector<Name<Vec4<F32>>>>;  // [head][2 · vectors_of_lane()]
  // is_first: of_heads still has the initial values from new_sums().
  void see(const Here& here, const Name<U32>& p, const Loaded& loaded, const Queries& q, const HeadSums& of_heads,
           bool is_first) const;
  std::vector<Name<Vec4<F32>>> quads_of(const Here& here, uint32_t slot, uint32_t vector) const;
  void add_up_lanes(const Here& here, uint32_t slot, uint32_t head, const HeadSums& of_heads) const;
  void tell_part(const Here& here, uint32_t from, const Name<U32>& n_heads, const Name<U32>& n_used,
                 const Name<U32>& tag) const;

  // What attention needs to know that is the same in all layers.
  struct Here {
    Name<U32> splits, kv_head, split;
    Name<U32> first_head, n_heads;        // query heads: all that share keys and values, or one of them
    std::optional<Name<Bool>> is_short;   // whether the history is short; unset: never
    std::optional<Name<U32>> row_words;   // distance of the row's words from those of the first row; unset: first row
    Name<Bool> is_used;                   // whether there is a head for this workgroup
    Name<U32> pos, table, first, end;     // the token's position, its blocks, and the workgroup's part of the positions
    Name<U32> lane, group;                // lane within a position, group within the workgroup
    Name<U32> newest, newest_at;          // the position that this invocation sees first
    std::vector<Name<Vec2<F32>>> angles;  // of the pairs that it rotates
    Name<U32> layer_vectors;              // vec4s of the cache per layer
  };

  // An invocation's sums, for each query head that shares the keys and values.
  struct HeadSums {
    std::vector<Var<F32>> greatest, total;  // largest score, and Σ e
    std::vector<Var<Vec4<F32>>> acc;        // Σ e·v, [head][2 · vectors_of_lane()]
  };

  // Two values of a head that RoPE rotates together.
  struct Pair {
    Name<U32> index, slot, a_at, b_at;  // index among all pairs; which head; where in the head
    Name<Bool> is_query;
    Name<F32> a, b;                // as the projections computed them
    Name<F32> turned_a, turned_b;  // without the norm's factor
  };

  LayersShape c_;
  In<"angles", Vec2<F32>> angles_;
  ParamsBuffer params_;
  Cache kv_;
  const Mailbox& mailbox_;
  LayerBuiltins b_;
  std::optional<HeadNorms> norms_;
  Shared<F32> turned_, sums_, squares_;
  Name<U32> n_rows_;        // if there may be several
  std::vector<Here> here_;  // one for each head of the workgroup, if there is a single row
};

}  // namespace tern::gpu::layers
