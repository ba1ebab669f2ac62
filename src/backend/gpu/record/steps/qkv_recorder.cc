#include "backend/gpu/record/steps/qkv_recorder.h"

#include "backend/gpu/record/kv_word.h"

namespace tern::gpu {

Result<void> QkvRecorder::record(const step::TernaryQkv& s) {
  const TernaryLayers& layers = ternary_.layers();
  TRY(const SlotId in, norms_.int8_input(s.in, s.norm, normed_apart(layers.most_few())));
  if (norms_.norms_on_read(s.in, s.norm)) {
    return with_kv_word(r_.store().type(), [&]<class KvWord>() { return normed_qkv_as<KvWord>(in, s); });
  }
  for (const auto& phase : layers.phases()) {
    TRY_STATUS(phase.name == TernaryPhase::kTiles ? many(in, s, phase.when) : few(in, s, phase.when));
  }
  return {};
}

Result<void> QkvRecorder::few(SlotId in, const step::TernaryQkv& s, const When& when) {
  if (r_.layouts().serial) {
    return in_steps(
        in, s, [&](SlotId x, const Tensor& w, SlotId out) { return ternary_.linear_few(x, w, out, Store::kSet, when); },
        when);
  }
  TRY(const auto views, ternary_.layers().qkv_views(s));
  const TernaryQkvConfig config = ternary_.layers().qkv_config(s);
  const Extent extent{.grid = {.x = config.workgroups()}, .axis = Axis::kY, .when = when};
  return with_kv_word(r_.store().type(), [&]<class KvWord>() {
    return r_.dispatch(r_.traced(ternary_qkv<KvWord>, config), extent, views.w, r_.work().int8_quads(in), views.scale,
                       views.angles, r_.params(), r_.work().floats(s.q), View<KvWord>{r_.store().layer(s.layer)});
  });
}

Result<void> QkvRecorder::many(SlotId in, const step::TernaryQkv& s, const When& when) {
  TRY(const bool is_recorded, on_matrices(in, s, when));
  if (is_recorded) return {};
  return in_steps(
      in, s, [&](SlotId x, const Tensor& w, SlotId out) { return ternary_.linear_many(x, w, out, Store::kSet, when); },
      when);
}

template <class KvWord>
Result<void> QkvRecorder::normed_qkv_as(SlotId in, const step::TernaryQkv& s) {
  const TernaryLayers& layers = ternary_.layers();
  TRY(const auto views, layers.qkv_views(s));
  const auto& [w, scale, turns] = views;
  const TernaryQkvConfig config = layers.qkv_config(s);
  const TernaryConfig tiling = ternary_tiling(config);
  const View<KvWord> kv{r_.store().layer(s.layer)};
  TRY(const auto norm, norms_.norm_views(s.in, s.norm));
  const auto phases = layers.normed_phases(tiling, ternary_.batches().has(s, layers.most_few()));
  TRY_STATUS(ternary_.batches().record(s, tiling, norm, phases));
  for (const auto& phase : phases) {
    Extent extent{
        .grid = {.x = config.workgroups()}, .axis = Axis::kY, .rows_per_workgroup = phase.at_once, .when = phase.when};
    if (phase.name == TernaryPhase::kColumns) {
      const ColumnsConfig columns = layers.in_columns(tiling, phase).columns;
      TRY_STATUS(r_.dispatch(r_.traced(normed_qkv_columns<KvWord>, config, norm.config, columns), extent, w, norm.x,
                             norm.gain, norm.parts, scale, turns, r_.params(), r_.work().floats(s.q), kv));
    } else if (phase.name == TernaryPhase::kOneToken) {
      TRY_STATUS(r_.dispatch(r_.traced(normed_qkv<KvWord>, config, norm.config), extent, w, norm.x, norm.gain,
                             norm.parts, scale, turns, r_.params(), r_.work().floats(s.q), kv));
    } else if (phase.name == TernaryPhase::kTiles) {
      TRY_STATUS(many(in, s, phase.when));
    }
  }
  return {};
}

Result<bool> QkvRecorder::on_matrices(SlotId in, const step::TernaryQkv& s, const When& when) {
  if (!wgsl::kHasMatrixKernels) return false;
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
