#include "backend/gpu/record/steps/ternary_recorder.h"

#include "backend/gpu/kernels/ternary/norm_fused.h"
#include "backend/gpu/kernels/ternary/ternary_matmul.h"
#include "backend/gpu/record/steps/native_parts.h"
#include "base/bytes.h"

namespace tern::gpu {

TernaryRecorder::TernaryRecorder(Recording& recording, NormRecorder& norms)
    : r_(recording), norms_(norms), layers_(recording), batches_(native_parts().batch_recorder(recording, layers_)) {
  layers_.set_most_few(most_in_columns());
}

int TernaryRecorder::most_in_columns() const {
  constexpr int kNone = kMatmulTokens - 1;
  if (r_.layouts().most_in_columns <= kNone) return kNone;
  const auto fits = [&](const TernaryConfig& one) {
    return layers_.fitting_columns(one, r_.layouts().columns_of_ternary) >=
           std::min(4u, r_.layouts().columns_of_ternary);
  };
  bool all_in_batches = true;
  const auto has = [&](const auto& s, const TernaryConfig& one) {
    if (!s.norm.gain || batches_->has(s)) return true;
    all_in_batches = false;
    return fits(one);
  };
  for (const Step& step : r_.context().plan.steps) {
    if (const auto* s = std::get_if<step::TernaryLinearAdd>(&step.body)) {
      if (!has(*s, layers_.linear_config(*s->w, Store::kAdd))) return kNone;
    }
    if (const auto* glu = std::get_if<step::TernaryGlu>(&step.body)) {
      if (!has(*glu, layers_.glu_config(*glu))) return kNone;
    }
    if (const auto* qkv = std::get_if<step::TernaryQkv>(&step.body)) {
      if (!has(*qkv, ternary_tiling(layers_.qkv_config(*qkv)))) return kNone;
    }
  }
  return all_in_batches ? r_.layouts().most_in_batches : r_.layouts().most_in_columns;
}

Result<void> TernaryRecorder::record(const step::TernaryLinear& s) {
  TRY_STATUS(linear_few(s.in, *s.w, s.out, Store::kSet));
  return linear_many(s.in, *s.w, s.out, Store::kSet);
}

Result<void> TernaryRecorder::linear_few(SlotId in, const Tensor& w, SlotId out, Store store) {
  TRY(const auto views, layers_.linear_views(w));
  const TernaryConfig config = layers_.linear_config(w, store);
  return r_.dispatch(r_.traced(ternary_matvec, config), layers_.per_rows(config), views.w, r_.work().int8_quads(in),
                     views.scale, r_.work().floats(out));
}

Result<void> TernaryRecorder::linear_many(SlotId in, const Tensor& w, SlotId out, Store store, const When& when) {
  if (!r_.has_matmuls()) return {};
  TRY(const auto views, layers_.linear_views(w));
  const auto use = [&](const TracedKernel<TernaryMatmulKernel>& kernel, const auto& tiles, const When& when_used) {
    return r_.dispatch(kernel, per_tile(tiles, tiles.rows, when_used), views.w, r_.work().int8_quads(in), views.scale,
                       r_.params(), r_.work().floats(out));
  };
  auto on_matrices = layers_.matrix_configs(w, static_cast<uint32_t>(w.rows), 1, when);
  for (auto& [tiles, when_used] : on_matrices) {
    tiles.store = store;
    TRY_STATUS(use(r_.traced(ternary_matmul_matrix, tiles), tiles, when_used));
  }
  if (!on_matrices.empty()) return {};
  const TernaryMatmulConfig tiles{
      .rows = static_cast<uint32_t>(w.rows), .cols = static_cast<uint32_t>(w.cols), .store = store, .caps = r_.caps()};
  return use(r_.traced(ternary_matmul, tiles), tiles, when);
}

Result<void> TernaryRecorder::record(const step::TernaryLinearAdd& s) {
  TRY(const SlotId in, norms_.int8_input(s.in, s.norm, layers_.many_normed()));
  const bool norms = norms_.norms_on_read(s.in, s.norm);
  TRY_STATUS(norms ? normed_linear(s) : linear_few(in, *s.w, s.x, Store::kAdd));
  return linear_many(in, *s.w, s.x, Store::kAdd, norms ? layers_.many_normed() : kManyTokens);
}

Result<void> TernaryRecorder::normed_linear(const step::TernaryLinearAdd& s) {
  TRY(const auto views, layers_.linear_views(*s.w));
  const TernaryConfig config = layers_.linear_config(*s.w, Store::kAdd);
  Extent extent = layers_.per_rows(config);
  TRY(const auto norm, norms_.norm_views(s.in, s.norm));
  TRY(const auto next, norms_.next_views(s.next, extent.grid.x));
  TRY(int last, batches_->record(s, config, norm, next));
  last = std::min(last, layers_.most_few());
  extent.when.max_tokens = std::min(extent.when.max_tokens, last);
  for (const InColumns& several : layers_.in_columns(config, last)) {
    TRY_STATUS(r_.dispatch(r_.traced(normed_matvec_add_columns, several.layout, norm.config, several.columns),
                           several.extent, views.w, norm.x, norm.gain, norm.parts, views.scale, r_.work().floats(s.x),
                           next.gain, next.parts));
    extent.when.max_tokens = 1;
  }
  return r_.dispatch(r_.traced(normed_matvec_add, config, norm.config), extent, views.w, norm.x, norm.gain, norm.parts,
                     views.scale, r_.work().floats(s.x), next.gain, next.parts);
}

Result<void> TernaryRecorder::record(const step::TernaryGlu& s) {
  TRY(const SlotId in, norms_.int8_input(s.in, s.norm, layers_.many_normed()));
  const bool norms = norms_.norms_on_read(s.in, s.norm);
  TRY_STATUS(glu_few(in, s));
  return glu_many(in, s, norms ? layers_.many_normed() : kManyTokens);
}

Result<void> TernaryRecorder::glu_few(SlotId in, const step::TernaryGlu& s) {
  TRY(const auto views, layers_.glu_views(s));
  TernaryConfig config = layers_.glu_config(s);
  config.act = activation(s.act);
  Extent extent = layers_.per_rows(config);
  if (!norms_.norms_on_read(s.in, s.norm)) {
    return r_.dispatch(r_.traced(ternary_glu, config), extent, views.gate, views.up, r_.work().int8_quads(in),
                       views.scale, r_.work().floats(s.out));
  }
  TRY(const auto norm, norms_.norm_views(s.in, s.norm));
  TRY(const auto next, norms_.next_views(s.next, extent.grid.x));
  TRY(int last, batches_->record(s, config, norm, next));
  last = std::min(last, layers_.most_few());
  extent.when.max_tokens = std::min(extent.when.max_tokens, last);
  for (const InColumns& several : layers_.in_columns(config, last)) {
    TRY_STATUS(r_.dispatch(r_.traced(normed_glu_columns, several.layout, norm.config, several.columns), several.extent,
                           views.gate, views.up, norm.x, norm.gain, norm.parts, views.scale, r_.work().floats(s.out),
                           next.gain, next.parts));
    extent.when.max_tokens = 1;
  }
  return r_.dispatch(r_.traced(normed_glu, config, norm.config), extent, views.gate, views.up, norm.x, norm.gain,
                     norm.parts, views.scale, r_.work().floats(s.out), next.gain, next.parts);
}

Result<void> TernaryRecorder::glu_many(SlotId in, const step::TernaryGlu& s, const When& when) {
  if (!r_.has_matmuls()) return {};
  TRY(const auto views, layers_.glu_views(s));
  const auto use = [&](const TracedKernel<TernaryGluMatmulKernel>& kernel, const auto& tiles, const When& when_used) {
    return r_.dispatch(kernel, per_tile(tiles, tiles.rows, when_used), views.gate, views.up, r_.work().int8_quads(in),
                       views.scale, r_.params(), r_.work().floats(s.out));
  };
  auto on_matrices = layers_.matrix_configs(*s.w_gate, static_cast<uint32_t>(s.w_gate->rows), 2, when);
  for (auto& [tiles, when_used] : on_matrices) {
    tiles.act = activation(s.act);
    TRY_STATUS(use(r_.traced(ternary_glu_matmul_matrix, tiles), tiles, when_used));
  }
  if (!on_matrices.empty()) return {};
  const TernaryMatmulConfig tiles{.rows = static_cast<uint32_t>(s.w_gate->rows),
                                  .cols = static_cast<uint32_t>(s.w_gate->cols),
                                  .act = activation(s.act),
                                  .caps = r_.caps(),
                                  .tile_tokens = 32};
  return use(r_.traced(ternary_glu_matmul, tiles), tiles, when);
}

}  // namespace tern::gpu
