#include "backend/gpu/kernels/head/argmax.h"

#include "backend/gpu/kernels/head/feed_back.h"
#include "backend/gpu/kernels/head/greatest.h"

namespace tern::gpu {

using namespace wgsl;
using namespace greatest;

namespace {

Name<U32> token_of(const Name<U32>& winner) { return let("token", select(winner, 0u, winner == kNone)); }

// Makes the winner the row's next token and advances the row by one position.
void advance(const ArgmaxConfig& c, const Name<U32>& winner, const Out<"tokens", U32>& tokens,
             const Out<"ids", U32>& ids, const InOut<"params", U32>& params, const WorkgroupId& wg) {
  auto token = token_of(winner);
  feed_back(token, place_in_ring(params, wg, c.ring), tokens, ids, params, wg);
}

ArgmaxNextKernel serial_next(const ArgmaxConfig& c) {
  return kernel("argmax_next", 1,
                [&](In<"values", F32> values, In<"indices", U32> indices, Out<"tokens", U32> tokens,
                    Out<"ids", U32> ids, InOut<"params", U32> params, WorkgroupId wg, LocalIndex) {
                  const Greatest mine;
                  loop("i", 0u, c.parts, 1u, [&](const Name<U32>& i) {
                    auto other = let("other", values[wg.y * c.parts + i]);
                    auto at_i = let("at_i", indices[wg.y * c.parts + i]);
                    mine.see(other, at_i);
                  });
                  auto winner = let("winner", mine.index);
                  advance(c, winner, tokens, ids, params, wg);
                });
}

}  // namespace

ArgmaxPartsKernel argmax_parts(const ArgmaxConfig& c) {
  CHECK(!c.serial || c.parts % c.workgroup == 0);
  const uint32_t size = (c.n + c.parts - 1) / c.parts;
  return kernel("argmax_parts", c.workgroup,
                [&](In<"logits", F32> logits, Out<"values", F32> values, Out<"indices", U32> indices,
                    InOut<"params", U32> params, WorkgroupId wg, LocalIndex tid) {
                  begin_step(params, wg, tid);
                  const Greatest mine;
                  const auto see = [&](const Name<U32>& i) { mine.see(let("logit", logits[wg.y * c.n + i]), i); };
                  if (c.serial) {  // an invocation has a part of its own
                    auto part = let("part", wg.x * c.workgroup + tid);
                    auto last = let("last", min(part * size + size, c.n));
                    auto to = let("to", wg.y * c.parts + part);
                    loop("i", part * size, last, 1u, see);
                    values[to] = mine.value;
                    indices[to] = mine.index;
                    return;
                  }
                  auto last = let("last", min(wg.x * size + size, c.n));
                  loop("i", wg.x * size + tid, last, c.workgroup, see);
                  const Best best = best_of_workgroup(mine, tid, c.workgroup);
                  when(tid == 0u, [&] {
                    auto to = let("to", wg.y * c.parts + wg.x);
                    values[to] = best.values[0u];
                    indices[to] = best.indices[0u];
                  });
                });
}

ArgmaxEmbedKernel argmax_embed(const ArgmaxEmbedConfig& c) {
  return kernel("argmax_embed", c.workgroup,
                [&](In<"values", F32> values, In<"indices", U32> indices, Out<"tokens", U32> tokens,
                    Out<"ids", U32> ids, InOut<"params", U32> params, In<"table", WeightUnits> table,
                    In<"scales", U32> scales, Out<"y", Vec4<F32>> y, WorkgroupId wg, LocalIndex tid) {
                  if (c.begins_step) begin_step(params, wg, tid);
                  const Greatest mine;
                  loop("i", tid, c.parts, c.workgroup, [&](const Name<U32>& i) {
                    auto other = let("other", values[i]);
                    auto at_i = let("at_i", indices[i]);
                    mine.see(other, at_i);
                  });
                  const Best best = best_of_workgroup(mine, tid, c.workgroup);
                  auto token = token_of(let("winner", best.indices[0u]));
                  when(tid == 0u,
                       [&] { feed_back(token, place_in_ring(params, wg, c.ring), tokens, ids, params, wg); });
                  embed_row(c.embed, table, scales, token, y, let("first_quad", e(0u)), tid, c.workgroup);
                });
}

ArgmaxNextKernel argmax_next(const ArgmaxConfig& c) {
  if (c.serial) return serial_next(c);
  CHECK((c.parts & (c.parts - 1)) == 0);
  return kernel("argmax_next", c.parts,
                [&](In<"values", F32> values, In<"indices", U32> indices, Out<"tokens", U32> tokens,
                    Out<"ids", U32> ids, InOut<"params", U32> params, WorkgroupId wg, LocalIndex tid) {
                  auto best = shared<F32>("best", c.parts);
                  auto best_at = shared<U32>("best_at", c.parts);
                  best[tid] = values[wg.y * c.parts + tid];
                  best_at[tid] = indices[wg.y * c.parts + tid];
                  reduce_greatest(best, best_at, tid, c.parts);
                  when(tid == 0u, [&] {
                    auto winner = let("winner", best_at[0u]);
                    advance(c, winner, tokens, ids, params, wg);
                  });
                });
}

}  // namespace tern::gpu
