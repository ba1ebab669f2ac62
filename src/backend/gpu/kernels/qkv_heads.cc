#include "backend/gpu/kernels/qkv_heads.h"

#include "base/bytes.h"

namespace tern::gpu {

using namespace wgsl;

namespace {
constexpr uint32_t kHeadsWorkgroup = 64;
}  // namespace

uint32_t qkv_heads_workgroups(const HeadsConfig& c) { return ceil_div(c.rows(), kHeadsWorkgroup / c.team()); }

template <class KvWord>
QkvHeadsKernel<KvWord> qkv_heads(const HeadsConfig& c) {
  constexpr uint32_t kValues = kv_word_values<KvWord>();
  const HeadShape& s = c.shape;
  const uint32_t teams = kHeadsWorkgroup / c.team();
  return kernel(
      "qkv_heads", kHeadsWorkgroup,
      [&](QkvRows qkv, QueryGain q_gain, KeyGain k_gain, RopeAngles angles, ParamsBuffer params, Out<"q", F32> q,
          Out<"kv", KvWord> kv, WorkgroupId wg, LocalIndex tid) {
        const HeadTeams heads(c, teams, tid, kHeadsWorkgroup);
        auto token = let("token", wg.y);
        auto row = let("row", wg.x * teams + heads.team());
        auto pos = let("pos", row_word(params, token, kRowPos));
        auto turns = let("turns", row_word(params, token, kRowAngles) + pos);
        auto is_used = let("is_used", row < c.rows());
        heads.take({qkv, q_gain, k_gain, angles}, token, row, turns, is_used);
        when(is_used, [&] {
          const HeadValues values = heads.values(heads.team());
          when(
              row < s.n_heads,
              [&] {
                auto to_row = let("to_row", (token * s.n_heads + row) * s.head_dim);
                loop("t", heads.lane(), s.head_dim, c.team(), [&](const Name<U32>& t) { q[to_row + t] = values[t]; });
              },
              [&] {
                auto kv_row = let("kv_row", row - s.n_heads);  // keys, then values
                auto table = let("table", row_word(params, token, kRowTable));
                auto block = kv_block(params, table, pos);
                if constexpr (kHasKvScales<KvWord>) {
                  auto to_row = let("to_row", kv_place(s, block, kv_row, pos) * kv_row_words<KvWord>(s.head_dim));
                  const auto value = [&](Temp<U32> t) { return values[std::move(t)]; };
                  store_code_row(value, s.head_dim, heads.lane(), c.team(), kv, to_row);
                } else {
                  auto to_row = let("to_row", kv_place(s, block, kv_row, pos) * s.head_dim);
                  loop("t", heads.lane() * kValues, s.head_dim, c.team() * kValues, [&](const Name<U32>& t) {
                    auto word = let("word", kv_word<KvWord>(values, t));
                    kv[(to_row + t) / kValues] = word;
                  });
                }
              });
        });
      });
}

template QkvHeadsKernel<F32> qkv_heads<F32>(const HeadsConfig&);
template QkvHeadsKernel<F16x2> qkv_heads<F16x2>(const HeadsConfig&);
template QkvHeadsKernel<I8x4> qkv_heads<I8x4>(const HeadsConfig&);

}  // namespace tern::gpu
