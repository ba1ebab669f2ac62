#include "backend/gpu/kernels/argmax.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

// Below every logit; where there are only NaNs and −∞ to choose from, the token is 0.
constexpr float kLowest = -3.4e38f;

// Reduces (value, index) over the workgroup; the winner is in entry 0 of both arrays afterwards.
void reduce_greatest(const Shared<F32>& values, const Shared<U32>& indices, const LocalIndex& tid, uint32_t workgroup) {
  for (uint32_t s = workgroup / 2; s > 0; s /= 2) {
    workgroupBarrier();
    when(tid < s, [&] {
      auto a = let("a", values[tid]);
      auto b = let("b", values[tid + s]);
      auto at_a = let("at_a", indices[tid]);
      auto at_b = let("at_b", indices[tid + s]);
      when(b > a || (b == a && at_b < at_a), [&] {
        values[tid] = b;
        indices[tid] = at_b;
      });
    });
  }
  workgroupBarrier();
}

}  // namespace

ArgmaxPartsKernel argmax_parts(const ArgmaxConfig& c) {
  const uint32_t size = (c.n + c.parts - 1) / c.parts;
  return kernel("argmax_parts", c.workgroup,
                [&](In<"logits", F32> logits, Out<"values", F32> values, Out<"indices", U32> indices, WorkgroupId wg,
                    LocalIndex tid) {
                  auto best = shared<F32>("best", c.workgroup);
                  auto best_at = shared<U32>("best_at", c.workgroup);
                  auto value = var("value", kLowest);
                  auto index = var("index", 0xFFFFFFFFu);
                  auto last = let("last", min(wg.x * size + size, c.n));
                  loop("i", wg.x * size + tid, last, c.workgroup, [&](const Name<U32>& i) {
                    auto logit = let("logit", logits[i]);
                    when(logit > value || (logit == value && i < index), [&] {
                      value = logit;
                      index = i;
                    });
                  });
                  best[tid] = value;
                  best_at[tid] = index;
                  reduce_greatest(best, best_at, tid, c.workgroup);
                  when(tid == 0u, [&] {
                    values[wg.x] = best[0u];
                    indices[wg.x] = best_at[0u];
                  });
                });
}

ArgmaxNextKernel argmax_next(const ArgmaxConfig& c) {
  CHECK((c.parts & (c.parts - 1)) == 0);
  return kernel("argmax_next", c.parts,
                [&](In<"values", F32> values, In<"indices", U32> indices, Out<"tokens", U32> tokens,
                    Out<"ids", U32> ids, InOut<"params", U32> params, LocalIndex tid) {
                  auto best = shared<F32>("best", c.parts);
                  auto best_at = shared<U32>("best_at", c.parts);
                  best[tid] = values[tid];
                  best_at[tid] = indices[tid];
                  reduce_greatest(best, best_at, tid, c.parts);
                  when(tid == 0u, [&] {
                    auto winner = let("winner", best_at[0u]);
                    auto token = let("token", select(winner, 0u, winner == 0xFFFFFFFFu));
                    auto step = let("step_now", params[kStep]);
                    tokens[0u] = token;
                    ids[step % c.ring] = token;
                    params[kStep] = step + 1u;
                    params[kPos] += 1u;
                  });
                });
}

}  // namespace tern::gpu
