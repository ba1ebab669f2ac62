#include "backend/gpu/kernels/experts.h"

#include <vector>

#include "base/bytes.h"

namespace tern::gpu {

using namespace wgsl;

RouteKernel route(const RouteConfig& c) {
  return kernel("route", c.workgroup,
                [&](In<"scores", F32> scores, In<"expert_scale", F32> expert_scale, Out<"chosen", F32> chosen,
                    WorkgroupId wg, LocalIndex tid) {
                  auto first = let("first", wg.y * c.n_experts);
                  auto out = let("out_at", wg.y * (2 * c.n_used));
                  const uint32_t quads = ceil_div(c.n_experts, 4u);
                  auto keys = shared<Vec4<U32>>("keys", quads);
                  auto best = shared<F32>("best", c.n_used);
                  auto factors = shared<F32>("factors", c.has_scale ? c.n_used : 1);
                  const auto key_at = [&](const Name<U32>& i) {
                    auto score = let("score", scores[first + i]);
                    return let("key", key_of(select(score, 0.0f, score == 0.0f)));  // −0 is no less than 0
                  };
                  loop("quad", tid, quads, c.workgroup, [&](const Name<U32>& quad) {
                    std::vector<Name<U32>> four;
                    for (uint32_t k = 0; k < 4; ++k) {
                      auto i = let("i_of_quad", quad * 4u + k);
                      auto key = key_at(let("i_or_last", min(i, c.n_experts - 1)));
                      four.push_back(let("key_or_0", select(0u, key, i < c.n_experts)));
                    }
                    keys[quad] = vec4u(four[0], four[1], four[2], four[3]);
                  });
                  workgroupBarrier();
                  loop("i", tid, c.n_experts, c.workgroup, [&](const Name<U32>& i) {
                    auto mine = key_at(i);
                    auto before = var("before", 0u);
                    loop("quad", 0u, quads, 1u, [&](const Name<U32>& quad) {
                      auto others = let("others", keys[quad]);
                      for (uint32_t k = 0; k < 4; ++k) {
                        auto other = let("other", at(others, k));
                        before += select(0u, 1u, other > mine || (other == mine && quad * 4u + k < i));
                      }
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
  return kernel(c.store == Store::kAdd ? "mix_experts_add" : "mix_experts", kElementwiseWorkgroup,
                [&](In<"x", F32> x, In<"chosen", F32> chosen, In<"shared_x", F32> shared_x, In<"gate", F32> gate,
                    InOut<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
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
                    if (c.store == Store::kAdd) {
                      y[at] += sum;
                    } else {
                      y[at] = sum;
                    }
                  });
                });
}

}  // namespace tern::gpu
