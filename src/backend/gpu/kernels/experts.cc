#include "backend/gpu/kernels/experts.h"

namespace tern::gpu {

using namespace wgsl;

RouteKernel route(const RouteConfig& c) {
  return kernel("route", c.workgroup,
                [&](In<"scores", F32> scores, In<"expert_scale", F32> expert_scale, Out<"chosen", F32> chosen,
                    WorkgroupId wg, LocalIndex tid) {
                  auto first = let("first", wg.y * c.n_experts);
                  auto out = let("out_at", wg.y * (2 * c.n_used));
                  auto keys = shared<U32>("keys", c.n_experts);  // sorted like the scores, and NaN like some number
                  auto best = shared<F32>("best", c.n_used);
                  auto factors = shared<F32>("factors", c.has_scale ? c.n_used : 1);
                  loop("i", tid, c.n_experts, c.workgroup, [&](const Name<U32>& i) {
                    auto score = let("score", scores[first + i]);
                    keys[i] = key_of(select(score, 0.0f, score == 0.0f));  // −0 is no less than 0
                  });
                  workgroupBarrier();
                  loop("i", tid, c.n_experts, c.workgroup, [&](const Name<U32>& i) {
                    auto mine = let("mine", keys[i]);
                    auto before = var("before", 0u);
                    loop("j", 0u, c.n_experts, 1u, [&](const Name<U32>& j) {
                      auto other = let("other", keys[j]);
                      when(other > mine || (other == mine && j < i), [&] { before += 1u; });
                    });
                    auto place = let("place", before);
                    when(place < c.n_used, [&] {
                      chosen[out + place] = call<F32>("f32", i);
                      best[place] = scores[first + i];
                      if (c.has_scale) factors[place] = expert_scale[i];
                    });
                  });
                  workgroupBarrier();
                  when(tid < c.n_used, [&] {
                    auto most = let("most", best[0u]);
                    auto sum = var("sum", 0.0f);
                    loop("j", 0u, c.weighs_chosen ? c.n_used : c.n_experts, 1u, [&](const Name<U32>& j) {
                      sum += exp((c.weighs_chosen ? e(best[j]) : e(scores[first + j])) - most);
                    });
                    auto weight = let("weight", exp(best[tid] - most) / sum);
                    chosen[out + c.n_used + tid] = c.has_scale ? e(weight * factors[tid]) : e(weight);
                  });
                });
}

MixExpertsKernel mix_experts(const MixConfig& c) {
  return kernel("mix_experts", kElementwiseWorkgroup,
                [&](In<"x", F32> x, In<"chosen", F32> chosen, In<"shared_x", F32> shared_x, In<"gate", F32> gate,
                    Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  for_column(c.width, wg, tid, [&](const Name<U32>& column) {
                    auto sum = var("sum", 0.0f);
                    for (uint32_t i = 0; i < c.n_used; ++i) {
                      auto weight = let("weight", chosen[wg.y * (2 * c.n_used) + c.n_used + i]);
                      sum += weight * x[(wg.y * c.n_used + i) * c.width + column];
                    }
                    auto at = let("at", wg.y * c.width + column);
                    if (c.has_shared) {
                      auto g = let("g", gate[wg.y]);
                      sum += shared_x[at] / (1.0f + exp(-g));
                    }
                    y[at] = sum;
                  });
                });
}

}  // namespace tern::gpu
