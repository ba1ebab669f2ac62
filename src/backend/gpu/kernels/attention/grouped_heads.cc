// How many heads a workgroup takes together, and whether that fits.
#include "backend/gpu/kernels/attention/grouped_attention.h"

namespace tern::gpu {

using namespace wgsl;

uint32_t heads_together(const HeadShape& heads) {
  const uint32_t group = heads.n_heads / heads.n_kv_heads;
  for (const uint32_t n : {7u, 6u, 5u, 4u, 3u, 2u}) {
    if (group % n == 0) return n;
  }
  return 1;
}

// Checks the workgroup memory for queries, sums, weights, places and reductions.
template <class KvWord>
bool has_grouped_attention(const AttentionConfig& c, uint32_t workgroup_bytes) {
  const bool shuffles = c.caps.subgroup > 0 && c.workgroup % c.caps.subgroup == 0;
  const uint32_t together = heads_together(c.heads), of_heads = together > 4 ? 8 : together > 2 ? 4 : 2;
  const uint32_t weights = kv_weights_per_position<KvWord>(c.heads.head_dim);
  // Reductions of the largest score, Σ weights and two statistics; without shuffles also those over a position's lanes.
  const uint32_t reductions = c.max_splits > 0 ? 2 : 4;
  const uint32_t of_reductions =
      of_heads * (shuffles ? reductions * (c.workgroup / c.caps.subgroup) : (reductions + c.rounds) * c.workgroup);
  const uint32_t values =
      together * c.heads.head_dim + 4 * c.workgroup + of_reductions + (1 + of_heads * weights) * c.chunk;
  return together > 1 && c.chunk <= c.workgroup && values * sizeof(float) <= workgroup_bytes;
}

template bool has_grouped_attention<F32>(const AttentionConfig&, uint32_t);
template bool has_grouped_attention<F16x2>(const AttentionConfig&, uint32_t);
template bool has_grouped_attention<I8x4>(const AttentionConfig&, uint32_t);

}  // namespace tern::gpu
