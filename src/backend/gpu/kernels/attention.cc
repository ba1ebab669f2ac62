#include "backend/gpu/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tern::gpu {

using namespace wgsl;

namespace {

// Lower than any score, and finite: e^(kLowest − m) is 0 without an infinity in sight.
constexpr float kLowest = -3.0e38f;

// The statistics of what all invocations have added to `squares` and `largest`, as part `index` of all rows' parts.
template <ValueOf<U32> Index>
void leave_stats(const Caps& caps, const Var<F32>& squares, const Var<F32>& largest, const LocalIndex& tid,
                 uint32_t workgroup, const NextParts& parts, Index&& index) {
  auto my_squares = let("my_squares", squares);
  auto my_largest = let("my_largest", largest);
  auto all_squares = reduce_workgroup(Reduce::kSum, caps, my_squares, tid, workgroup);
  auto all_largest = reduce_workgroup(Reduce::kMax, caps, my_largest, tid, workgroup);
  when(tid == 0u, [&] { parts[std::forward<Index>(index)] = vec2f(all_squares, all_largest); });
}

}  // namespace

AttentionConfig fit(AttentionConfig c) {
  const uint32_t quads = c.heads.head_dim / 4;
  CHECK(c.heads.head_dim % 4 == 0 && quads > 0 && quads <= c.workgroup);
  while (quads % c.per_pos != 0) c.per_pos /= 2;
  // Whole subgroups, where that leaves anything: reductions are slow otherwise (heads of 96 dimensions have 24 quads).
  const uint32_t unit = std::lcm(quads, std::max(c.caps.subgroup, 1u));
  c.workgroup = unit <= c.workgroup ? c.workgroup / unit * unit : c.workgroup / quads * quads;
  c.chunk = c.workgroup / c.per_pos;
  return c;
}

// Online softmax, a chunk of positions at a time:
//   scores    `per_pos` invocations share a position, each a stride of its quads
//   weights   m' = max(m, chunk), what was summed so far shrinks by e^(m − m')
//   values    an invocation has one quad of dimensions and every `lines`-th position of the chunk
// Positions past the end are computed as the last one and get weight 0: no load waits for a branch.
template <class KvWord>
AttentionKernel<KvWord> attention(const AttentionConfig& c) {
  const HeadShape& s = c.heads;
  const uint32_t quads = s.head_dim / 4;
  const uint32_t lines = c.workgroup / quads;
  CHECK(s.head_dim % 4 == 0 && c.workgroup == c.chunk * c.per_pos && c.workgroup % quads == 0);
  CHECK(quads % c.per_pos == 0);
  const float scale = 1.0f / std::sqrt(static_cast<float>(s.head_dim));
  return kernel(c.max_splits > 0 ? "attention_split" : "attention", c.workgroup,
                [&](In<"q", Vec4<F32>> q, In<"kv", KvQuad<KvWord>> kv, ParamsBuffer params, Out<"y", F32> y,
                    NextGain next_gain, NextParts next_parts, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  auto weights = shared<F32>("weights", c.chunk);
                  auto sums = shared<Vec4<F32>>("sums", c.workgroup);
                  auto head = let("head", wg.x);
                  auto token = let("token", wg.y);
                  auto kv_head = let("kv_head", head / (s.n_heads / s.n_kv_heads));
                  auto n_pos = let("n_pos", params[kPos] + token + 1u);
                  auto k_base = let("k_base", kv_index(s, 0u, kv_head, 0u) / 4u);
                  auto v_base = let("v_base", kv_index(s, 1u, kv_head, 0u) / 4u);
                  auto q_base = let("q_base", (token * s.n_heads + head) * quads);
                  auto my_pos = let("my_pos", tid / c.per_pos);
                  auto part_of_pos = let("part_of_pos", tid % c.per_pos);
                  auto my_quad = let("my_quad", tid % quads);
                  auto line = let("line", tid / quads);
                  // This invocation's share of the query stays in registers.
                  std::vector<Name<Vec4<F32>>> my_q;
                  for (uint32_t i = 0; i < quads / c.per_pos; ++i) {
                    my_q.push_back(let("q4", q[q_base + part_of_pos + i * c.per_pos] * scale));
                  }
                  auto greatest = var("greatest", kLowest);
                  auto total = var("total", 0.0f);  // of the positions that this invocation has weighed
                  auto acc = var<Vec4<F32>>("acc");
                  auto start = c.window > 0 ? max(n_pos, c.window) - c.window + wg.z * c.chunk : wg.z * c.chunk;
                  loop("first", std::move(start), n_pos, n_wg.z * c.chunk, [&](const Name<U32>& first) {
                    auto pos = let("pos", first + my_pos);
                    auto k_row = let("k_row", k_base + min(pos, n_pos - 1u) * quads + part_of_pos);
                    auto score = var("score", 0.0f);
                    for (uint32_t i = 0; i < quads / c.per_pos; ++i) {
                      auto k4 = let("k4", kv[k_row + i * c.per_pos]);
                      score += dot(my_q[i], kv_values<KvWord>(k4));
                    }
                    auto my_score = let("my_score", score);
                    auto whole = reduce_lanes(Reduce::kSum, c.caps, my_score, tid, c.per_pos, c.workgroup);
                    auto seen = let("seen", select(kLowest, whole, pos < n_pos));
                    auto top = reduce_workgroup(Reduce::kMax, c.caps, seen, tid, c.workgroup);
                    auto new_greatest = let("new_greatest", max(greatest, top));
                    auto shrink = let("shrink", exp(greatest - new_greatest));
                    auto weight = let("weight", select(0.0f, exp(seen - new_greatest), pos < n_pos));
                    total = total * shrink;
                    when(part_of_pos == 0u, [&] {
                      weights[my_pos] = weight;
                      total += weight;
                    });
                    workgroupBarrier();
                    acc = acc * shrink;
                    for (uint32_t p = 0; p < c.chunk; p += lines) {
                      auto at_p = let("at_p", line + p);
                      const auto add = [&] {
                        auto w = let("w", weights[at_p]);
                        auto v4 = let("v4", kv[v_base + min(first + at_p, n_pos - 1u) * quads + my_quad]);
                        acc += kv_values<KvWord>(v4) * w;
                      };
                      if (p + lines <= c.chunk) {
                        add();
                      } else {
                        when(at_p < c.chunk, add);
                      }
                    }
                    greatest = new_greatest;
                    workgroupBarrier();  // before the next chunk's weights
                  });
                  auto my_total = let("my_total", total);
                  auto sum_of_weights = reduce_workgroup(Reduce::kSum, c.caps, my_total, tid, c.workgroup);
                  sums[tid] = acc;
                  workgroupBarrier();
                  auto squares = var("squares", 0.0f);
                  auto largest = var("largest", 0.0f);
                  when(line == 0u, [&] {
                    auto sum = var("sum", acc);
                    for (uint32_t i = 1; i < lines; ++i) sum += sums[tid + i * quads];
                    if (c.max_splits > 0) {
                      auto base = let("base", ((token * s.n_heads + head) * c.max_splits + wg.z) * c.partial_stride());
                      for (uint32_t i = 0; i < 4; ++i) y[base + my_quad * 4u + i] = at(sum, i);
                      when(my_quad == 0u, [&] {
                        y[base + s.head_dim] = greatest;
                        y[base + (s.head_dim + 1)] = sum_of_weights;
                      });
                      return;
                    }
                    auto result = let("result", sum * (1.0f / sum_of_weights));
                    squares = dot(result, result);
                    for (uint32_t i = 0; i < 4; ++i) {
                      y[(q_base + my_quad) * 4u + i] = at(result, i);
                      auto gain = let("gain", next_gain[head * s.head_dim + my_quad * 4u + i]);
                      largest = max(largest, abs(at(result, i) * gain));
                    }
                  });
                  if (c.max_splits > 0) return;
                  leave_stats(c.caps, squares, largest, tid, c.workgroup, next_parts, token * s.n_heads + head);
                });
}

AttentionMergeKernel attention_merge(const AttentionConfig& c) {
  const HeadShape& s = c.heads;
  constexpr uint32_t kWorkgroup = 64;
  return kernel("attention_merge", kWorkgroup,
                [&](In<"parts", F32> parts, ParamsBuffer params, Out<"y", F32> y, NextGain next_gain,
                    NextParts next_parts, WorkgroupId wg, LocalIndex tid) {
                  auto row = let("row", wg.y * s.n_heads + wg.x);
                  auto base = let("base", row * (c.max_splits * c.partial_stride()));
                  // Splits of earlier tokens that saw no position have Σ e = 0 and the lowest score.
                  auto n_pos = let("n_pos", params[kPos] + params[kNTokens]);
                  auto splits = let("splits", min((n_pos + (c.chunk - 1)) / c.chunk, c.max_splits));
                  auto greatest = var("greatest", kLowest);
                  loop("i", 0u, splits, 1u, [&](const Name<U32>& i) {
                    greatest = max(greatest, parts[base + i * c.partial_stride() + s.head_dim]);
                  });
                  auto squares = var("squares", 0.0f);
                  auto largest = var("largest", 0.0f);
                  loop("d", tid, s.head_dim, kWorkgroup, [&](const Name<U32>& d) {
                    auto sum = var("sum", 0.0f);
                    auto total = var("total", 0.0f);
                    loop("i", 0u, splits, 1u, [&](const Name<U32>& i) {
                      auto part = let("part_at", base + i * c.partial_stride());
                      auto weight = let("weight", exp(parts[part + s.head_dim] - greatest));
                      sum += weight * parts[part + d];
                      total += weight * parts[part + (s.head_dim + 1)];
                    });
                    auto result = let("result", sum / total);
                    y[row * s.head_dim + d] = result;
                    squares += result * result;
                    auto gain = let("gain", next_gain[wg.x * s.head_dim + d]);
                    largest = max(largest, abs(result * gain));
                  });
                  leave_stats(c.caps, squares, largest, tid, kWorkgroup, next_parts, row);
                });
}

template AttentionKernel<F32> attention<F32>(const AttentionConfig&);
template AttentionKernel<F16x2> attention<F16x2>(const AttentionConfig&);

}  // namespace tern::gpu
