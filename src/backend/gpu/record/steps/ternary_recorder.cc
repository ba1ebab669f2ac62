#include "backend/gpu/record/steps/ternary_recorder.h"

#include "backend/gpu/kernels/ternary/norm_fused.h"
#include "backend/gpu/kernels/ternary/ternary_matmul.h"
#include "backend/gpu/record/steps/native_parts.h"
#include "base/bytes.h"

namespace tern::gpu {

TernaryRecorder::TernaryRecorder(Recording& recording, NormRecorder& norms)
    : r_(recording), norms_(norms), layers_(recording), batches_(native_parts().batch_recorder(recording, layers_)) {
  layers_.set_most_few(most_few());
}

int TernaryRecorder::most_few() const {
  const Layouts& l = r_.layouts();
  bool fit = true, in_batches = true;
  const auto look_at = [&](const auto& s, const TernaryConfig& one) {
    if (!s.norm.gain || batches_->has(s, INT_MAX)) return;
    in_batches = false;
    fit = fit && layers_.fitting_columns(one, l.columns_of_ternary) >= std::min(4u, l.columns_of_ternary);
  };
  for (const Step& step : r_.context().plan.steps) {
    if (const auto* s = std::get_if<step::TernaryLinearAdd>(&step.body)) {
      look_at(*s, layers_.linear_config(*s->w, Store::kAdd));
    } else if (const auto* glu = std::get_if<step::TernaryGlu>(&step.body)) {
      look_at(*glu, layers_.glu_config(*glu));
    } else if (const auto* qkv = std::get_if<step::TernaryQkv>(&step.body)) {
      look_at(*qkv, ternary_tiling(layers_.qkv_config(*qkv)));
    }
  }
  return most_few_tokens(l, fit, in_batches);
}

Result<void> TernaryRecorder::record(const step::TernaryLinear& s) { return linear(s.in, *s.w, s.out, Store::kSet); }

Result<void> TernaryRecorder::linear(SlotId in, const Tensor& w, SlotId out, Store store) {
  for (const auto& phase : layers_.phases()) {
    TRY_STATUS(phase.name == TernaryPhase::kTiles ? linear_many(in, w, out, store, phase.when)
                                                  : linear_few(in, w, out, store, phase.when));
  }
  return {};
}

Result<void> TernaryRecorder::linear_few(SlotId in, const Tensor& w, SlotId out, Store store, const When& when) {
  TRY(const auto views, layers_.linear_views(w));
  const TernaryConfig config = layers_.linear_config(w, store);
  return r_.dispatch(r_.traced(ternary_matvec, config), layers_.per_rows(config, when), views.w,
                     r_.work().int8_quads(in), views.scale, r_.work().floats(out));
}

Result<void> TernaryRecorder::linear_many(SlotId in, const Tensor& w, SlotId out, Store store, const When& when) {
  TRY(const auto views, layers_.linear_views(w));
  const auto use = [&](const TracedKernel<TernaryMatmulKernel>& kernel, const auto& tiles, const When& when_used) {
    return r_.dispatch(kernel, per_tile(tiles, tiles.rows, when_used), views.w, r_.work().int8_quads(in), views.scale,
                       r_.params(), r_.work().floats(out));
  };
  if constexpr (wgsl::kHasMatrixKernels) {
    auto on_matrices = layers_.matrix_configs(w, static_cast<uint32_t>(w.rows), 1, when);
    for (auto& [tiles, when_used] : on_matrices) {
      tiles.store = store;
      TRY_STATUS(use(r_.traced(ternary_matmul_matrix, tiles), tiles, when_used));
    }
    if (!on_matrices.empty()) return {};
  }
  const TernaryMatmulConfig tiles{
      .rows = static_cast<uint32_t>(w.rows), .cols = static_cast<uint32_t>(w.cols), .store = store, .caps = r_.caps()};
  return use(r_.traced(ternary_matmul, tiles), tiles, when);
}

Result<void> TernaryRecorder::record(const step::TernaryLinearAdd& s) {
  TRY(const SlotId in, norms_.int8_input(s.in, s.norm, normed_apart(layers_.most_few())));
  return norms_.norms_on_read(s.in, s.norm) ? normed_linear(in, s) : linear(in, *s.w, s.x, Store::kAdd);
}

// `use` dispatches a kernel with the views of the layer, `tiles` records its phase kTiles.
template <class K, class Step>
Result<void> TernaryRecorder::normed(const Step& s, const NormedKernels<K>& kernels, const TernaryConfig& one,
                                     const auto& use, const auto& tiles) {
  TRY(const NormViews norm, norms_.norm_views(s.in, s.norm));
  TRY(const NextViews next, norms_.next_views(s.next, one.workgroups()));
  const auto phases = layers_.normed_phases(one, batches_->has(s, layers_.most_few()));
  TRY_STATUS(batches_->record(s, one, norm, next, phases));
  for (const auto& phase : phases) {
    if (phase.name == TernaryPhase::kColumns) {
      const InColumns several = layers_.in_columns(one, phase);
      TRY_STATUS(
          use(r_.traced(kernels.columns, several.layout, norm.config, several.columns), several.extent, norm, next));
    } else if (phase.name == TernaryPhase::kOneToken) {
      TRY_STATUS(use(r_.traced(kernels.one, one, norm.config), layers_.per_rows(one, phase.when), norm, next));
    } else if (phase.name == TernaryPhase::kTiles) {
      TRY_STATUS(tiles(phase.when));
    }
  }
  return {};
}

Result<void> TernaryRecorder::normed_linear(SlotId in, const step::TernaryLinearAdd& s) {
  TRY(const auto views, layers_.linear_views(*s.w));
  const auto use = [&](const auto& kernel, const Extent& extent, const NormViews& norm, const NextViews& next) {
    return r_.dispatch(kernel, extent, views.w, norm.x, norm.gain, norm.parts, views.scale, r_.work().floats(s.x),
                       next.gain, next.parts);
  };
  return normed<NormedMatvecAddKernel>(s, {normed_matvec_add, normed_matvec_add_columns},
                                       layers_.linear_config(*s.w, Store::kAdd), use,
                                       [&](const When& when) { return linear_many(in, *s.w, s.x, Store::kAdd, when); });
}

Result<void> TernaryRecorder::record(const step::TernaryGlu& s) {
  TRY(const SlotId in, norms_.int8_input(s.in, s.norm, normed_apart(layers_.most_few())));
  if (norms_.norms_on_read(s.in, s.norm)) return normed_glu(in, s);
  for (const auto& phase : layers_.phases()) {
    TRY_STATUS(phase.name == TernaryPhase::kTiles ? glu_many(in, s, phase.when) : glu_few(in, s, phase.when));
  }
  return {};
}

Result<void> TernaryRecorder::glu_few(SlotId in, const step::TernaryGlu& s, const When& when) {
  TRY(const auto views, layers_.glu_views(s));
  const TernaryConfig config = layers_.glu_config(s);
  return r_.dispatch(r_.traced(ternary_glu, config), layers_.per_rows(config, when), views.gate, views.up,
                     r_.work().int8_quads(in), views.scale, r_.work().floats(s.out));
}

Result<void> TernaryRecorder::normed_glu(SlotId in, const step::TernaryGlu& s) {
  TRY(const auto views, layers_.glu_views(s));
  const auto use = [&](const auto& kernel, const Extent& extent, const NormViews& norm, const NextViews& next) {
    return r_.dispatch(kernel, extent, views.gate, views.up, norm.x, norm.gain, norm.parts, views.scale,
                       r_.work().floats(s.out), next.gain, next.parts);
  };
  return normed<NormedGluKernel>(s, {gpu::normed_glu, normed_glu_columns}, layers_.glu_config(s), use,
                                 [&](const When& when) { return glu_many(in, s, when); });
}

Result<void> TernaryRecorder::glu_many(SlotId in, const step::TernaryGlu& s, const When& when) {
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
