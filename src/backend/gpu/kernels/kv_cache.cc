#include "backend/gpu/kernels/kv_cache.h"

namespace tern::gpu {

using namespace wgsl;

template <class KvWord>
KvAppendKernel<KvWord> kv_append(const KvAppendConfig& c) {
  constexpr uint32_t kValues = kv_word_values<KvWord>();
  const HeadShape& s = c.heads;
  CHECK(s.head_dim % 4 == 0);
  return kernel(
      "kv_append", c.workgroup,
      [&](In<"k", F32> k, In<"v", F32> v, ParamsBuffer params, Out<"kv", KvWord> kv, WorkgroupId wg, LocalIndex tid) {
        auto side = let("side", wg.x / s.n_kv_heads);
        auto head = let("head", wg.x % s.n_kv_heads);
        auto from_row = let("from_row", (wg.y * s.n_kv_heads + head) * s.head_dim);
        auto pos = let("pos", params[kPos] + wg.y);
        auto to_row = let("to_row", kv_index(s, side, head, pos) / kValues);
        loop("i", tid, s.head_dim / kValues, c.workgroup, [&](const Name<U32>& i) {
          auto first = let("first", from_row + i * kValues);
          when(
              side == 0u, [&] { kv[to_row + i] = kv_word<KvWord>(k, first); },
              [&] { kv[to_row + i] = kv_word<KvWord>(v, first); });
        });
      });
}

template KvAppendKernel<F32> kv_append<F32>(const KvAppendConfig&);
template KvAppendKernel<F16x2> kv_append<F16x2>(const KvAppendConfig&);

}  // namespace tern::gpu
