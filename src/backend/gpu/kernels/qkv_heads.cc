#include "backend/gpu/kernels/qkv_heads.h"

namespace tern::gpu {

using namespace wgsl;

template <class KvWord>
QkvHeadsKernel<KvWord> qkv_heads(const QkvHeadsConfig& c) {
  constexpr uint32_t kValues = kv_word_values<KvWord>();
  const HeadShape& s = c.heads;
  const uint32_t half = s.head_dim / 2;
  const bool halves = !c.interleaved;
  CHECK(s.head_dim % 4 == 0);
  return kernel(
      "qkv_heads", c.workgroup,
      [&](In<"qkv", F32> qkv, In<"q_gain", F32> q_gain, In<"k_gain", F32> k_gain, In<"angles", Vec2<F32>> rope,
          ParamsBuffer params, Out<"q", F32> q, Out<"kv", KvWord> kv, WorkgroupId wg, LocalIndex tid) {
        auto tile = shared<F32>("tile", s.head_dim);
        auto head = let("head", wg.x);
        auto is_query = let("is_query", head < s.n_heads);
        auto is_turned = let("is_turned", head < s.n_heads + s.n_kv_heads);  // values are neither normed nor turned
        auto from = let("from_row", (wg.y * (s.n_heads + 2 * s.n_kv_heads) + head) * s.head_dim);
        auto pos = let("pos", params[kPos] + wg.y);
        Name<F32> factor;
        if (c.normed) {
          auto squares = var("squares", 0.0f);
          loop("i", tid, s.head_dim, c.workgroup, [&](const Name<U32>& i) {
            auto v = let("v", qkv[from + i]);
            squares += v * v;
          });
          auto mine = let("mine", squares);
          auto total = reduce_workgroup(Reduce::kSum, c.caps, mine, tid, c.workgroup);
          factor = let("factor", 1.0f / sqrt(total / static_cast<float>(s.head_dim) + c.eps));
        }
        const auto value = [&](const Name<U32>& i) {
          auto v = let("v", qkv[from + i]);
          if (!c.normed) return v;
          auto gain = let("gain", select(k_gain[i], q_gain[i], is_query));
          return let("normed", select(v, v * factor * gain, is_turned));
        };
        loop("pair", tid, half, c.workgroup, [&](const Name<U32>& pair) {
          auto at_a = let("at_a", halves ? e(pair) : pair * 2u);
          auto at_b = let("at_b", at_a + (halves ? half : 1u));
          auto a = value(at_a);
          auto b = value(at_b);
          auto turn = let("turn", rope[pos * half + pair]);
          auto angle = let("angle", select(vec2f(1.0f, 0.0f), turn, is_turned));
          tile[at_a] = a * at(angle, 0) - b * at(angle, 1);
          tile[at_b] = b * at(angle, 0) + a * at(angle, 1);
        });
        workgroupBarrier();
        when(
            is_query,
            [&] {
              loop("t", tid, s.head_dim, c.workgroup,
                   [&](const Name<U32>& t) { q[(wg.y * s.n_heads + head) * s.head_dim + t] = tile[t]; });
            },
            [&] {
              auto kv_row = let("kv_row", head - s.n_heads);  // keys, then values
              loop("t", tid * kValues, s.head_dim, c.workgroup * kValues, [&](const Name<U32>& t) {
                auto word = let("word", kv_word<KvWord>(tile, t));
                kv[((kv_row * s.n_ctx + pos) * s.head_dim + t) / kValues] = word;
              });
            });
      });
}

template QkvHeadsKernel<F32> qkv_heads<F32>(const QkvHeadsConfig&);
template QkvHeadsKernel<F16x2> qkv_heads<F16x2>(const QkvHeadsConfig&);

}  // namespace tern::gpu
