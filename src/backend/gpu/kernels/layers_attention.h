// Attention of ternary_layers: a workgroup has heads of keys and values, and a part of the positions; then the parts of
// all become one.
#pragma once

#include "backend/gpu/kernels/layers_exchange.h"

namespace tern::gpu::layers {

using Cache = InOut<"kv", Vec4<F16x2>>;

class LayersAttention {
 public:
  LayersAttention(const TernaryLayersConfig& c, const In<"angles", Vec2<F32>>& angles, const ParamsBuffer& params,
                  const Cache& kv, const Exchange& exchange, const LayerBuiltins& b);

  struct Loaded {
    Name<U32> at;
    std::vector<Name<Vec4<F16x2>>> k, v;
  };
  // The first positions of each head that the workgroup has, asked for before it is known what they are compared with.
  std::vector<Loaded> load_positions(const Name<U32>& layer) const;
  // From the words of the three projections to the parts of the history.
  void attend(const Name<U32>& layer, const std::vector<Loaded>& newest, const Name<U32>& tag) const;
  // From the parts to the result.
  void merge(const Name<U32>& tag) const;

 private:
  struct Here;
  Name<U32> splits() const;
  Here look_around(uint32_t nth) const;
  Name<U32> key_at(const Here& here, const Name<U32>& p) const;
  Loaded load_position(const Name<U32>& layer, const Name<U32>& at) const;
  void attend_with(const Here& here, const Name<U32>& layer, const Loaded& newest, const Name<U32>& tag) const;

  // What attention has to know that is the same in all layers.
  struct Here {
    Name<U32> splits, kv_head, split;
    Name<Bool> is_used;                   // whether there is a head for this workgroup
    Name<U32> pos, table, first, end;     // the token's, its blocks, and the workgroup's part of the positions
    Name<U32> lane, group;                // of a position, and of the workgroup
    Name<U32> newest, newest_at;          // the position that this invocation sees first
    std::vector<Name<Vec2<F32>>> angles;  // of the pairs that it turns
    Name<U32> layer_vectors;              // of the cache
  };

  TernaryLayersConfig c_;
  In<"angles", Vec2<F32>> angles_;
  ParamsBuffer params_;
  Cache kv_;
  const Exchange& exchange_;
  LayerBuiltins b_;
  Shared<F32> turned_, sums_;
  std::vector<Here> here_;  // of each of the heads that it has
};

}  // namespace tern::gpu::layers
