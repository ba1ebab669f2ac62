#include "backend/gpu/record/steps/qkv_recorder.h"

#include "backend/gpu/record/kv_word.h"

namespace tern::gpu {

Result<void> QkvRecorder::record(const step::TernaryQkv& s) {
  TRY(const SlotId in, norms_.int8_input(s.in, s.norm, ternary_.layers().many_normed()));
  if (r_.layouts().serial) {
    return in_steps(
        in, s, [&](SlotId x, const Tensor& w, SlotId out) { return ternary_.linear_few(x, w, out, Store::kSet); }, {});
  }
  TRY_STATUS(with_kv_word(r_.store().type(), [&]<class KvWord>() { return qkv_as<KvWord>(in, s); }));
  if (!r_.has_matmuls()) return {};
  const When many = norms_.norms_on_read(s.in, s.norm) ? ternary_.layers().many_normed() : kManyTokens;
  TRY(const bool is_recorded, on_matrices(in, s, many));
  if (is_recorded) return {};
  return in_steps(
      in, s, [&](SlotId x, const Tensor& w, SlotId out) { return ternary_.linear_many(x, w, out, Store::kSet, many); },
      many);
}

template <class KvWord>
Result<void> QkvRecorder::qkv_as(SlotId in, const step::TernaryQkv& s) {
  TRY(const auto views, ternary_.layers().qkv_views(s));
  const auto& [w, scale, turns] = views;
  const TernaryQkvConfig config = ternary_.layers().qkv_config(s);
  Extent extent{.grid = {.x = config.workgroups()}, .axis = Axis::kY, .when = kFewTokens};
  const View<KvWord> kv{r_.store().layer(s.layer)};
  if (!norms_.norms_on_read(s.in, s.norm)) {
    return r_.dispatch(r_.traced(ternary_qkv<KvWord>, config), extent, w, r_.work().int8_quads(in), scale, turns,
                       r_.params(), r_.work().floats(s.q), kv);
  }
  TRY(const auto norm, norms_.norm_views(s.in, s.norm));
  TRY(int last, ternary_.batches().record(s, ternary_tiling(config), norm));
  last = std::min(last, ternary_.layers().most_few());
  extent.when.max_tokens = std::min(extent.when.max_tokens, last);
  for (const InColumns& several : ternary_.layers().in_columns(ternary_tiling(config), last)) {
    Extent of_several = several.extent;
    of_several.grid = extent.grid;
    TRY_STATUS(r_.dispatch(r_.traced(normed_qkv_columns<KvWord>, config, norm.config, several.columns), of_several, w,
                           norm.x, norm.gain, norm.parts, scale, turns, r_.params(), r_.work().floats(s.q), kv));
    extent.when.max_tokens = 1;
  }
  return r_.dispatch(r_.traced(normed_qkv<KvWord>, config, norm.config), extent, w, norm.x, norm.gain, norm.parts,
                     scale, turns, r_.params(), r_.work().floats(s.q), kv);
}

Result<bool> QkvRecorder::on_matrices(SlotId in, const step::TernaryQkv& s, const When& when) {
  const HeadsConfig config{
      .shape = head_shape(s), .interleaved = s.pairs == RopePairs::kInterleaved, .caps = r_.caps()};
  const uint32_t dim = config.shape.head_dim;
  auto on_matrices = ternary_.layers().matrix_configs(*s.wq, config.rows() * dim, 1, when);
  if (on_matrices.empty()) return false;
  TRY(const auto views, ternary_.layers().qkv_views(s));
  TRY(const Buffer* buffer, r_.work().qkv_rows());
  const View<wgsl::F32> rows{{buffer, 0, 0}}, unused = r_.unused_gain();
  for (auto& [tiles, when_used] : on_matrices) {
    tiles.rows_of_a = config.shape.n_heads * dim, tiles.rows_of_b = config.shape.n_kv_heads * dim;
    TRY_STATUS(r_.dispatch(r_.traced(ternary_matmul_matrix, tiles), per_tile(tiles, tiles.rows, when_used), views.w,
                           r_.work().int8_quads(in), views.scale, r_.params(), rows));
  }
  TRY_STATUS(with_kv_word(r_.store().type(), [&]<class KvWord>() {
    return r_.dispatch(r_.traced(qkv_heads<KvWord>, config),
                       {.grid = {.x = qkv_heads_workgroups(config)}, .axis = Axis::kY, .when = when}, rows, unused,
                       unused, views.angles, r_.params(), r_.work().floats(s.q),
                       View<KvWord>{r_.store().layer(s.layer)});
  }));
  return true;
}

Result<void> QkvRecorder::in_steps(SlotId in, const step::TernaryQkv& s, const LinearRecorder& linear,
                                   const When& when) {
  TRY_STATUS(linear(in, *s.wq, s.q));
  TRY_STATUS(linear(in, *s.wk, s.k));
  TRY_STATUS(linear(in, *s.wv, s.v));
  TRY_STATUS(heads_.rope({s.q, s.n_heads, s.head_dim, s.rope, s.pairs}, when));
  TRY_STATUS(heads_.rope({s.k, s.n_kv_heads, s.head_dim, s.rope, s.pairs}, when));
  return heads_.append({s.k, s.v, s.layer, s.n_kv_heads, s.head_dim}, when);
}

}  // namespace tern::gpu
