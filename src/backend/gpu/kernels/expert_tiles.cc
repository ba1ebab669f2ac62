#include "backend/gpu/kernels/expert_tiles.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

// The sum of `mine` over all invocations before this one.
Name<U32> sum_before(const Name<U32>& mine, const LocalIndex& tid, uint32_t workgroup) {
  auto sums = shared<U32>("sums", 2 * workgroup);
  sums[tid] = mine;
  uint32_t from = 0;
  for (uint32_t step = 1; step < workgroup; step *= 2) {
    workgroupBarrier();
    auto sum = let("sum", sums[tid + from]);
    auto other = let("other", sums[max(tid, step) - step + from]);
    from = workgroup - from;
    sums[tid + from] = sum + select(0u, other, tid >= step);
  }
  return let("sum_before", sums[tid + from] - mine);
}

}  // namespace

ExpertTilesKernel expert_tiles(const ExpertTilesConfig& c) {
  return kernel(
      "expert_tiles", c.workgroup,
      [&](In<"chosen", F32> chosen, ParamsBuffer params, Out<"tiles", U32> tiles, WorkgroupId wg, LocalIndex tid) {
        auto counts = shared<Atomic<U32>>("counts", c.n_experts);
        loop("i", tid, c.n_experts, c.workgroup, [&](const Name<U32>& i) { atomicStore(counts[i], 0u); });
        workgroupBarrier();
        auto n = let("n", params[kNTokens] * c.n_used);
        const auto expert_of = [&](const Name<U32>& choice) {
          return let("expert", call<U32>("u32", chosen[choice / c.n_used * (2 * c.n_used) + choice % c.n_used]));
        };
        auto n_mine = var("n_mine", 0u);
        loop("choice", tid, n, c.workgroup, [&](const Name<U32>& choice) {
          auto expert = expert_of(choice);
          atomicAdd(counts[expert], 1u);
          n_mine += select(0u, 1u, expert == wg.x);
        });
        workgroupBarrier();
        auto n_before = var("n_before", 0u);  // tiles
        loop("i", tid, wg.x, c.workgroup, [&](const Name<U32>& i) {
          auto count = atomicLoad(counts[i]);
          n_before += (count + (c.tokens - 1)) / c.tokens;
        });
        auto mine_before = let("mine_before", n_before);
        auto first = reduce_workgroup(Reduce::kSum, c.caps, mine_before, tid, c.workgroup);
        auto count = atomicLoad(counts[wg.x]);
        auto n_tiles = let("n_tiles", (count + (c.tokens - 1)) / c.tokens);
        auto mine = let("mine", n_mine);
        auto at = var("at", sum_before(mine, tid, c.workgroup));
        constexpr uint32_t kHeads = kExpertTilesHead + kExpertTileHead;
        const auto put = [&](const Name<U32>& i, const auto& choice) {
          tiles[(first + i / c.tokens) * (kExpertTileHead + c.tokens) + i % c.tokens + kHeads] = choice;
        };
        loop("choice", tid, n, c.workgroup, [&](const Name<U32>& choice) {
          auto expert = expert_of(choice);
          when(expert == wg.x, [&] {
            put(let("place", at), choice);
            at += 1u;
          });
        });
        loop("place", tid + count, n_tiles * c.tokens, c.workgroup, [&](const Name<U32>& place) { put(place, 0u); });
        loop("tile", tid, n_tiles, c.workgroup, [&](const Name<U32>& tile) {
          auto head = let("head", (first + tile) * (kExpertTileHead + c.tokens) + kExpertTilesHead);
          tiles[head] = wg.x;
          tiles[head + 1u] = min(count - tile * c.tokens, c.tokens);
        });
        when(tid == 0u && wg.x == c.n_experts - 1, [&] {
          tiles[0u] = first + n_tiles;
          tiles[1u] = c.factors_at;
        });
      });
}

}  // namespace tern::gpu
