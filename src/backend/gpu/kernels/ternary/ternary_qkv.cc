#include "backend/gpu/kernels/ternary/ternary_qkv.h"

#include <bit>

#include "backend/gpu/kernels/ternary/ternary_pairs.h"

namespace tern::gpu {

using namespace wgsl;

TernaryQkvConfig fit_to_codes(TernaryQkvConfig c, uint32_t invocations) {
  const uint32_t half = c.heads.head_dim / 2;
  const uint32_t pairs = !c.interleaved && half % kScaleGroup == 0 ? kScaleGroup : half;
  while (c.lanes > 1 && pairs * c.lanes > invocations) c.lanes /= 2;
  c.workgroup = pairs * c.lanes;
  CHECK(c.workgroup <= invocations);
  return c;
}

TernaryQkvConfig fit(TernaryQkvConfig c) {
  const uint32_t half = c.heads.head_dim / 2, most = c.pairs_per_workgroup();
  CHECK(half % 2 == 0 && most >= 2);
  uint32_t power = 2, any = 2;
  for (uint32_t pairs = 2; pairs <= most; pairs += 2) {
    if (half % pairs != 0) continue;
    any = pairs;
    if (std::has_single_bit(pairs)) power = pairs;
  }
  // Reductions are fastest over powers of two, but for heads of 100 dimensions a workgroup would then have only two
  // pairs.
  c.workgroup = (any >= 3 * power ? any : power) * c.lanes;
  return c;
}

TernaryConfig ternary_tiling(const TernaryQkvConfig& c) {
  const HeadShape& s = c.heads;
  CHECK(s.head_dim / 2 % c.pairs_per_workgroup() == 0 && c.pairs_per_workgroup() % 2 == 0);
  return {.rows = (s.n_heads + 2 * s.n_kv_heads) * s.head_dim,
          .cols = c.cols,
          .caps = c.caps,
          .lanes = c.lanes,
          .rows_per_group = 2,
          .workgroup = c.workgroup};
}

namespace {

template <class KvWord, class Activations>
void write_qkv(const TernaryQkvConfig& c, const In<"w", TernaryWeights>& w, Activations& activations,
               const WeightScales& scales, const In<"angles", Vec2<F32>>& rope, const ParamsBuffer& params,
               const Out<"q", F32>& q, const Out<"kv", KvWord>& kv, const WorkgroupId& wg, const LocalIndex& tid) {
  const HeadShape& s = c.heads;
  const uint32_t half = s.head_dim / 2;
  const uint32_t n_pairs = c.pairs_per_workgroup();
  constexpr uint32_t kValues = kv_word_values<KvWord>();
  const bool halves = !c.interleaved;
  const QkvPair pair = multiply_pair(c, w, activations, scales, wg, tid);
  const Name<U32>&head = pair.head, &first_pair = pair.first_pair;
  auto tile = shared<F32>("tile", 2 * n_pairs);
  auto pos = let("pos", row_word(params, wg.y, kRowPos));
  when(pair.dots.lane() == 0u, [&] {
    auto turns = let("turns", row_word(params, wg.y, kRowAngles) + pos);
    store_turned(c, pair, turns, rope, place_in_tile(c, pair), tile);
  });
  workgroupBarrier();
  // Value t of the tile belongs to dimension `dim` of the head.
  const auto dim_of = [&](const Name<U32>& t) {
    if (!halves) return let("dim", first_pair * 2u + t);
    auto run = let("run", t / n_pairs);
    return let("dim", first_pair + run * half + t % n_pairs);
  };
  when(
      pair.is_query,
      [&] {
        loop("t", tid, 2 * n_pairs, c.workgroup, [&](const Name<U32>& t) {
          auto dim = dim_of(t);
          q[(wg.y * s.n_heads + head) * s.head_dim + dim] = tile[t];
        });
      },
      [&] {
        auto kv_row = let("kv_row", head - s.n_heads);  // keys, then values
        auto table = let("table", row_word(params, wg.y, kRowTable));
        auto block = kv_block(params, table, pos);
        if constexpr (kHasKvScales<KvWord>) {
          CHECK(n_pairs == half || (halves && n_pairs % kScaleGroup == 0));
          auto to_row = let("to_row", kv_place(s, block, kv_row, pos) * kv_row_words<KvWord>(s.head_dim));
          const auto code_at = [&](const Name<U32>& i) {
            auto t = let("t", i * kValues);
            auto dim = dim_of(t);
            return to_row + dim / kValues;
          };
          const auto scale_at = [&](const Name<U32>& j) {
            return to_row + (s.head_dim / kValues) + first_pair / kScaleGroup + j;
          };
          const auto value = [&](Temp<U32> t) { return e(tile[std::move(t)]); };
          store_codes(value, 2 * n_pairs, tid, c.workgroup, kv, code_at, scale_at);
        } else {
          auto to_row = let("to_row", kv_place(s, block, kv_row, pos) * s.head_dim);
          loop("t", tid * kValues, 2 * n_pairs, c.workgroup * kValues, [&](const Name<U32>& t) {
            auto dim = dim_of(t);
            auto word = let("word", kv_word<KvWord>(tile, t));
            kv[(to_row + dim) / kValues] = word;
          });
        }
      });
}

}  // namespace

template <class KvWord>
TernaryQkvKernel<KvWord> ternary_qkv(const TernaryQkvConfig& c) {
  const TernaryConfig tiling = ternary_tiling(c);
  return kernel(
      "ternary_qkv", c.workgroup,
      [&](In<"w", TernaryWeights> w, In<"x", QuantizedWords> x, WeightScales scales, In<"angles", Vec2<F32>> rope,
          ParamsBuffer params, Out<"q", F32> q, Out<"kv", KvWord> kv, WorkgroupId wg, LocalIndex tid) {
        StoredActivations activations(tiling, x, wg);
        write_qkv<KvWord>(c, w, activations, scales, rope, params, q, kv, wg, tid);
      });
}

template <class KvWord>
NormedQkvKernel<KvWord> normed_qkv(const TernaryQkvConfig& c, const NormConfig& norm) {
  const TernaryConfig tiling = ternary_tiling(c);
  return kernel("normed_qkv", c.workgroup,
                [&](In<"w", TernaryWeights> w, NormX x, NormGain gain, NormParts parts, WeightScales scales,
                    In<"angles", Vec2<F32>> rope, ParamsBuffer params, Out<"q", F32> q, Out<"kv", KvWord> kv,
                    WorkgroupId wg, LocalIndex tid) {
                  NormedActivations activations(tiling, norm, x, gain, parts, wg, tid);
                  write_qkv<KvWord>(c, w, activations, scales, rope, params, q, kv, wg, tid);
                });
}

template NormedQkvKernel<F32> normed_qkv<F32>(const TernaryQkvConfig&, const NormConfig&);
template NormedQkvKernel<F16x2> normed_qkv<F16x2>(const TernaryQkvConfig&, const NormConfig&);
template NormedQkvKernel<I8x4> normed_qkv<I8x4>(const TernaryQkvConfig&, const NormConfig&);
template TernaryQkvKernel<F32> ternary_qkv<F32>(const TernaryQkvConfig&);
template TernaryQkvKernel<F16x2> ternary_qkv<F16x2>(const TernaryQkvConfig&);
template TernaryQkvKernel<I8x4> ternary_qkv<I8x4>(const TernaryQkvConfig&);

}  // namespace tern::gpu
