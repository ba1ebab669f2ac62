#include "backend/gpu/kernels/attention.h"

#include <cmath>

namespace tern::gpu {

using namespace wgsl;

namespace {

// Lower than any score, and finite: e^(kLowest − m) is 0 without an infinity in sight.
constexpr float kLowest = -3.0e38f;

}  // namespace

AttentionConfig fit(AttentionConfig c) {
  const uint32_t quads = c.heads.head_dim / 4;
  CHECK(c.heads.head_dim % 4 == 0 && quads > 0 && quads <= c.workgroup);
  while (quads % c.per_pos != 0) c.per_pos /= 2;
  c.workgroup = c.workgroup / quads * quads;
  c.chunk = c.workgroup / c.per_pos;
  return c;
}

// Online softmax, a chunk of positions at a time:
//   scores    `per_pos` invocations share a position, each a stride of its quads
//   weights   m' = max(m, chunk), what was summed so far shrinks by e^(m − m')
//   values    an invocation has one quad of dimensions and every `lines`-th position
template <class KvWord>
AttentionKernel<KvWord> attention(const AttentionConfig& c) {
  const HeadShape& s = c.heads;
  const uint32_t quads = s.head_dim / 4;
  const uint32_t per_pos = c.per_pos;
  const uint32_t lines = c.workgroup / quads;
  CHECK(s.head_dim % 4 == 0 && c.workgroup == c.chunk * per_pos && c.workgroup % quads == 0 && quads % per_pos == 0);
  const float scale = 1.0f / std::sqrt(static_cast<float>(s.head_dim));
  return kernel(c.max_splits > 0 ? "attention_split" : "attention", c.workgroup,
                [&](In<"q", Vec4<F32>> q, In<"kv", KvQuad<KvWord>> kv, ParamsBuffer params, Out<"y", F32> y,
                    WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  auto scores = shared<F32>("scores", c.chunk);
                  auto sums = shared<Vec4<F32>>("sums", c.workgroup);
                  auto head = let("head", wg.x);
                  auto token = let("token", wg.y);
                  auto kv_head = let("kv_head", head / (s.n_heads / s.n_kv_heads));
                  auto n_pos = let("n_pos", params[kPos] + token + 1u);
                  auto k_base = let("k_base", kv_index(s, 0u, kv_head, 0u) / 4u);
                  auto v_base = let("v_base", kv_index(s, 1u, kv_head, 0u) / 4u);
                  auto q_base = let("q_base", (token * s.n_heads + head) * quads);
                  auto my_pos = let("my_pos", tid / per_pos);
                  auto part_of_pos = let("part_of_pos", tid % per_pos);
                  auto my_quad = let("my_quad", tid % quads);
                  auto line = let("line", tid / quads);
                  // This invocation's share of the query stays in registers.
                  std::vector<Name<Vec4<F32>>> my_q;
                  for (uint32_t i = 0; i < quads / per_pos; ++i) {
                    my_q.push_back(let("q4", q[q_base + part_of_pos + i * per_pos] * scale));
                  }
                  auto greatest = var("greatest", kLowest);
                  auto total = var("total", 0.0f);
                  auto acc = var<Vec4<F32>>("acc");
                  loop("first", wg.z * c.chunk, n_pos, n_wg.z * c.chunk, [&](const Name<U32>& first) {
                    auto pos = let("pos", first + my_pos);
                    auto score = var("score", 0.0f);
                    when(pos < n_pos, [&] {
                      for (uint32_t i = 0; i < quads / per_pos; ++i) {
                        auto k4 = let("k4", kv[k_base + pos * quads + part_of_pos + i * per_pos]);
                        score += dot(my_q[i], kv_values<KvWord>(k4));
                      }
                    });
                    auto my_score = let("my_score", score);
                    auto whole = reduce_lanes(Reduce::kSum, c.caps, my_score, tid, per_pos, c.workgroup);
                    when(part_of_pos == 0u, [&] { scores[my_pos] = select(kLowest, whole, pos < n_pos); });
                    workgroupBarrier();
                    auto in_chunk = let("in_chunk", min(n_pos - first, c.chunk));
                    auto top = var("top", greatest);
                    loop("p", 0u, in_chunk, 1u, [&](const Name<U32>& p) { top = max(top, scores[p]); });
                    auto new_greatest = let("new_greatest", top);
                    auto shrink = let("shrink", exp(greatest - new_greatest));
                    total = total * shrink;
                    acc = acc * shrink;
                    // Each line sums its own positions; lines are added up at the end.
                    loop("p", line, in_chunk, lines, [&](const Name<U32>& p) {
                      auto weight = let("weight", exp(scores[p] - new_greatest));
                      auto v4 = let("v4", kv[v_base + (first + p) * quads + my_quad]);
                      total += weight;
                      acc += kv_values<KvWord>(v4) * weight;
                    });
                    greatest = new_greatest;
                    workgroupBarrier();  // before the next chunk's scores
                  });
                  // All lines have the same `greatest`, so their sums add up.
                  auto totals = shared<F32>("totals", lines);
                  sums[tid] = acc;
                  when(my_quad == 0u, [&] { totals[line] = total; });
                  workgroupBarrier();
                  when(line == 0u, [&] {
                    auto sum = var("sum", acc);
                    auto weights = var("weights", total);
                    for (uint32_t i = 1; i < lines; ++i) {
                      sum += sums[tid + i * quads];
                      weights += totals[i];
                    }
                    if (c.max_splits == 0) {
                      auto result = let("result", sum * (1.0f / weights));
                      for (uint32_t i = 0; i < 4; ++i) y[(q_base + my_quad) * 4u + i] = at(result, i);
                      return;
                    }
                    auto base = let("base", ((token * s.n_heads + head) * c.max_splits + wg.z) * c.partial_stride());
                    auto result = let("result", sum);
                    for (uint32_t i = 0; i < 4; ++i) y[base + my_quad * 4u + i] = at(result, i);
                    when(my_quad == 0u, [&] {
                      y[base + s.head_dim] = greatest;
                      y[base + (s.head_dim + 1)] = weights;
                    });
                  });
                });
}

AttentionMergeKernel attention_merge(const AttentionConfig& c) {
  const HeadShape& s = c.heads;
  const uint32_t workgroup = std::min(s.head_dim, 256u);
  return kernel("attention_merge", workgroup,
                [&](In<"parts", F32> parts, ParamsBuffer params, Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  auto row = let("row", wg.y * s.n_heads + wg.x);
                  auto base = let("base", row * (c.max_splits * c.partial_stride()));
                  // As many as the last token of the batch needs: the splits of earlier tokens that saw no position
                  // have Σ e = 0 and the lowest score.
                  auto n_pos = let("n_pos", params[kPos] + params[kNTokens]);
                  auto splits = let("splits", min((n_pos + (c.chunk - 1)) / c.chunk, c.max_splits));
                  auto greatest = var("greatest", kLowest);
                  loop("i", 0u, splits, 1u, [&](const Name<U32>& i) {
                    greatest = max(greatest, parts[base + i * c.partial_stride() + s.head_dim]);
                  });
                  loop("d", tid, s.head_dim, workgroup, [&](const Name<U32>& d) {
                    auto sum = var("sum", 0.0f);
                    auto total = var("total", 0.0f);
                    loop("i", 0u, splits, 1u, [&](const Name<U32>& i) {
                      auto part = let("part", base + i * c.partial_stride());
                      auto weight = let("weight", exp(parts[part + s.head_dim] - greatest));
                      sum += weight * parts[part + d];
                      total += weight * parts[part + (s.head_dim + 1)];
                    });
                    y[row * s.head_dim + d] = sum / total;
                  });
                });
}

template AttentionKernel<F32> attention<F32>(const AttentionConfig&);
template AttentionKernel<F16x2> attention<F16x2>(const AttentionConfig&);

}  // namespace tern::gpu
