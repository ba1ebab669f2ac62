#include "backend/gpu/record/steps/ternary_layers.h"

#include <bit>

#include "base/bytes.h"

namespace tern::gpu {

TernaryConfig TernaryLayers::ternary_config(const Tensor& w, const MatvecLayout& layout) const {
  return {.rows = static_cast<uint32_t>(w.rows),
          .cols = static_cast<uint32_t>(w.cols),
          .caps = r_.caps(),
          .lanes = r_.lanes(layout.lanes),
          .rows_per_group = layout.rows_per_group,
          .workgroup = r_.workgroup(layout.workgroup),
          .in_loops = r_.layouts().serial};
}

TernaryConfig TernaryLayers::linear_config(const Tensor& w, Store store) const {
  TernaryConfig config = ternary_config(w, w.cols > w.rows ? r_.layouts().wide : r_.layouts().square);
  config.store = store;
  return config;
}

TernaryConfig TernaryLayers::glu_config(const step::TernaryGlu& s) const {
  TernaryConfig config = ternary_config(*s.w_gate, r_.layouts().glu);
  config.act = activation(s.act);
  return config;
}

TernaryQkvConfig TernaryLayers::qkv_config(const step::TernaryQkv& s) const {
  const TernaryQkvConfig config{.cols = static_cast<uint32_t>(s.wq->cols),
                                .heads = head_shape(s),
                                .interleaved = s.pairs == RopePairs::kInterleaved,
                                .caps = r_.caps(),
                                .lanes = r_.lanes(r_.layouts().qkv.lanes),
                                .workgroup = r_.workgroup(r_.layouts().qkv.workgroup)};
  return r_.store().type() == KvType::kQ8_0 ? fit_to_codes(config, r_.limits().invocations) : fit(config);
}

Extent TernaryLayers::per_rows(const TernaryConfig& config, const When& when) const {
  return {.grid = {.x = config.workgroups()}, .axis = Axis::kY, .when = when};
}

// Keeps the rows per workgroup of the layout for one row, since statistics are per workgroup.
TernaryConfig TernaryLayers::columns_layout(const TernaryConfig& one) const {
  const MatvecLayout& wanted = r_.layouts().ternary_columns;
  TernaryConfig layout = one;
  layout.most_ahead = 16;
  if (one.workgroup % wanted.workgroup != 0) return layout;
  layout.rows_per_group = one.rows_per_group * (one.workgroup / wanted.workgroup);
  layout.workgroup = wanted.workgroup;
  return layout;
}

uint32_t TernaryLayers::fitting_columns(const TernaryConfig& one, uint32_t wanted) const {
  const TernaryConfig layout = columns_layout(one);
  for (uint32_t n = wanted; n > 1; n /= 2) {
    const ColumnsConfig columns{.columns = n, .norm_workgroup = one.workgroup};
    if (has_columns(layout, columns) && columns_bytes(layout, columns) <= r_.limits().workgroup_bytes) return n;
  }
  return 1;
}

TernaryPhases TernaryLayers::normed_phases(const TernaryConfig& one, bool batches) const {
  const Layouts& l = r_.layouts();
  return ternary_phases(r_.phase_limits(),
                        {.most_few = most_few_,
                         .batches = batches,
                         .columns = {fitting_columns(one, l.few_columns), fitting_columns(one, l.columns_of_ternary)}});
}

InColumns TernaryLayers::in_columns(const TernaryConfig& one, const Phase<TernaryPhase>& phase) const {
  const TernaryConfig layout = columns_layout(one);
  Extent extent = per_rows(layout, phase.when);
  extent.rows_per_workgroup = phase.at_once;
  return {layout, {.columns = phase.at_once, .norm_workgroup = one.workgroup}, extent};
}

std::optional<TernaryMatrixMatmulConfig> TernaryLayers::matrix_config(const Tensor& w, uint32_t n_matrices,
                                                                      const PromptTile& tile) const {
  const Features& f = r_.context().device.features();
  if (!f.subgroups || f.subgroup_min != f.subgroup_max) return std::nullopt;  // a subgroup's part of a tile is fixed
  if (w.rows % 4 != 0) return std::nullopt;
  if (r_.context().device.adapter().type == AdapterType::kSoftware && !r_.layouts().software_matrices)
    return std::nullopt;
  using Config = std::optional<TernaryMatrixMatmulConfig>;
  return with_largest_matrices(f, [&](const wgsl::MatrixShape& shape) -> Config {
    if (!has_matrix_matmul(shape)) return std::nullopt;
    return fit_tile(TernaryMatrixMatmulConfig{.rows = static_cast<uint32_t>(w.rows),
                                              .cols = static_cast<uint32_t>(w.cols),
                                              .shape = shape,
                                              .subgroup = f.subgroup_min},
                    tile, n_matrices, r_.limits());
  });
}

std::vector<Tiled<TernaryMatrixMatmulConfig>> TernaryLayers::matrix_configs(const Tensor& w, uint32_t rows,
                                                                            uint32_t n_matrices,
                                                                            const When& when) const {
  if (!wgsl::kHasMatrixKernels) return {};
  return in_prompt_tiles(r_.layouts(), n_matrices == 1 ? r_.layouts().ternary_tiles : r_.layouts().ternary_glu_tiles,
                         rows, when, [&](const PromptTile& tile) {
                           auto config = matrix_config(w, n_matrices, tile);
                           if (config) config->rows = rows;
                           return config;
                         });
}

Result<View<WeightScales>> TernaryLayers::scales(float a, float b, float c) const {
  const auto bits = [](float x) { return std::bit_cast<uint32_t>(x); };
  TRY(const BufferView view, r_.work().constant({bits(a), bits(b), bits(c), 0}));
  return View<WeightScales>{view};
}

Result<LinearViews> TernaryLayers::linear_views(const Tensor& w) const {
  const Tensor* const matrix = &w;
  TRY(const BufferView weights, r_.weights().ternary(std::span(&matrix, 1)));
  TRY(const auto scale, scales(w.scale));
  return LinearViews{.w = {weights}, .scale = scale};
}

Result<GluViews> TernaryLayers::glu_views(const step::TernaryGlu& s) const {
  TRY(const auto gate, linear_views(*s.w_gate));
  TRY(const auto up, linear_views(*s.w_up));
  TRY(const auto scale, scales(s.w_gate->scale, s.w_up->scale));
  return GluViews{.gate = gate.w, .up = up.w, .scale = scale};
}

Result<QkvViews> TernaryLayers::qkv_views(const step::TernaryQkv& s) const {
  const Tensor* const matrices[] = {s.wq, s.wk, s.wv};
  TRY(const BufferView w, r_.weights().ternary(matrices));
  TRY(const auto scale, scales(s.wq->scale, s.wk->scale, s.wv->scale));
  TRY(const auto turns, r_.angles(s.rope));
  return QkvViews{{w}, scale, turns};
}

}  // namespace tern::gpu
