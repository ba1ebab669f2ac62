// The ternary layers: matrix × vector kernels for a few tokens, with norms inside; matrix × matrix kernels for many.
#include <bit>

#include "backend/gpu/kernels/ternary/ternary_matmul.h"
#include "backend/gpu/record/recorder.h"
#include "base/bytes.h"
#include "base/check.h"

namespace tern::gpu {

Result<View<WeightScales>> Recorder::scales(float a, float b, float c) {
  const auto bits = [](float x) { return std::bit_cast<uint32_t>(x); };
  TRY(const BufferView view, c_.work.constant({bits(a), bits(b), bits(c), 0}));
  return View<WeightScales>{view};
}

Extent Recorder::per_rows(const TernaryConfig& config) const {
  return {.grid = {.x = ceil_div(config.rows, config.rows_per_workgroup())}, .axis = Axis::kY, .when = few_tokens()};
}

TernaryConfig Recorder::ternary_config(const Tensor& w, const MatvecLayout& layout) const {
  return {.rows = static_cast<uint32_t>(w.rows),
          .cols = static_cast<uint32_t>(w.cols),
          .caps = caps_,
          .lanes = lanes(layout.lanes),
          .rows_per_group = layout.rows_per_group,
          .workgroup = workgroup(layout.workgroup),
          .in_loops = c_.layouts.serial};
}

TernaryConfig Recorder::linear_config(const Tensor& w, Store store) const {
  TernaryConfig config = ternary_config(w, w.cols > w.rows ? c_.layouts.wide : c_.layouts.square);
  config.store = store;
  return config;
}

Result<Recorder::LinearViews> Recorder::linear_views(const Tensor& w) {
  const Tensor* const matrix = &w;
  TRY(const BufferView weights, c_.weights.ternary(std::span(&matrix, 1)));
  TRY(const auto scale, scales(w.scale));
  return LinearViews{.w = {weights}, .scale = scale};
}

Result<Recorder::GluViews> Recorder::glu_views(const step::TernaryGlu& s) {
  TRY(const auto gate, linear_views(*s.w_gate));
  TRY(const auto up, linear_views(*s.w_up));
  TRY(const auto scale, scales(s.w_gate->scale, s.w_up->scale));
  return GluViews{.gate = gate.w, .up = up.w, .scale = scale};
}

// Keeps the rows per workgroup of the layout for one row, since statistics are per workgroup.
TernaryConfig Recorder::columns_layout(const TernaryConfig& one) const {
  const MatvecLayout& wanted = c_.layouts.ternary_columns;
  TernaryConfig layout = one;
  layout.most_ahead = 16;
  if (one.workgroup % wanted.workgroup != 0) return layout;
  layout.rows_per_group = one.rows_per_group * (one.workgroup / wanted.workgroup);
  layout.workgroup = wanted.workgroup;
  return layout;
}

uint32_t Recorder::fitting_columns(const TernaryConfig& one, uint32_t wanted) const {
  const TernaryConfig layout = columns_layout(one);
  for (uint32_t n = wanted; n > 1; n /= 2) {
    const ColumnsConfig columns{.columns = n, .norm_workgroup = one.workgroup};
    if (has_columns(layout, columns) && columns_bytes(layout, columns) <= c_.device.limits().workgroup_bytes) return n;
  }
  return 1;
}

int Recorder::most_in_columns() const {
  constexpr int kNone = kMatmulTokens - 1;
  if (c_.layouts.most_in_columns <= kNone) return kNone;
  const auto fits = [&](const TernaryConfig& one) {
    return fitting_columns(one, c_.layouts.columns_of_ternary) >= std::min(4u, c_.layouts.columns_of_ternary);
  };
  bool all_in_batches = true;
  const auto has = [&](const auto& s, const TernaryConfig& one) {
    if (!s.norm.gain || has_batches(s)) return true;
    all_in_batches = false;
    return fits(one);
  };
  for (const Step& step : c_.plan.steps) {
    if (const auto* s = std::get_if<step::TernaryLinearAdd>(&step.body)) {
      if (!has(*s, linear_config(*s->w, Store::kAdd))) return kNone;
    }
    if (const auto* glu = std::get_if<step::TernaryGlu>(&step.body)) {
      if (!has(*glu, ternary_config(*glu->w_gate, c_.layouts.glu))) return kNone;
    }
    if (const auto* qkv = std::get_if<step::TernaryQkv>(&step.body)) {
      if (!has(*qkv, ternary_tiling(qkv_config(*qkv)))) return kNone;
    }
  }
  return all_in_batches ? c_.layouts.most_in_batches : c_.layouts.most_in_columns;
}

std::vector<Recorder::InColumns> Recorder::in_columns(const TernaryConfig& one, int last) const {
  std::vector<InColumns> all;
  if (c_.layouts.serial) return all;
  int from = 2;
  for (const uint32_t wanted : {c_.layouts.few_columns, c_.layouts.columns_of_ternary}) {
    const uint32_t n = fitting_columns(one, wanted);
    if (from > last) break;
    if (n == 1 || (!all.empty() && n == all.back().columns.columns)) continue;
    const TernaryConfig layout = columns_layout(one);
    Extent extent = per_rows(layout);
    extent.rows_per_workgroup = n;
    extent.when = {.min_tokens = from, .max_tokens = last};
    if (!all.empty()) all.back().extent.when.max_tokens = from - 1;
    from = static_cast<int>(n) + 1;
    all.push_back({layout, {.columns = n, .norm_workgroup = one.workgroup}, extent});
  }
  return all;
}

std::optional<TernaryMatrixMatmulConfig> Recorder::matrix_config(const Tensor& w, uint32_t n_matrices,
                                                                 const PromptTile& tile) const {
  const Features& f = c_.device.features();
  if (!f.subgroups || f.subgroup_min != f.subgroup_max) return std::nullopt;  // a subgroup's part of a tile is fixed
  if (c_.device.adapter().type == AdapterType::kSoftware && !c_.layouts.software_matrices) return std::nullopt;
  using Config = std::optional<TernaryMatrixMatmulConfig>;
  return with_largest_matrices(f, [&](const wgsl::MatrixShape& shape) -> Config {
    if (!has_matrix_matmul(shape)) return std::nullopt;
    return fit_tile(TernaryMatrixMatmulConfig{.rows = static_cast<uint32_t>(w.rows),
                                              .cols = static_cast<uint32_t>(w.cols),
                                              .shape = shape,
                                              .subgroup = f.subgroup_min},
                    tile, n_matrices, c_.device.limits());
  });
}

std::vector<Tiled<TernaryMatrixMatmulConfig>> Recorder::matrix_configs(const Tensor& w, uint32_t rows,
                                                                       uint32_t n_matrices, const When& when) const {
  return in_tiles(n_matrices == 1 ? c_.layouts.ternary_tiles : c_.layouts.ternary_glu_tiles, rows,
                  c_.layouts.big_tiles_from, when, [&](const PromptTile& tile) {
                    auto config = matrix_config(w, n_matrices, tile);
                    if (config) config->rows = rows;
                    return config;
                  });
}

Result<void> Recorder::linear_few(SlotId in, const Tensor& w, SlotId out, Store store) {
  TRY(const auto views, linear_views(w));
  const TernaryConfig config = linear_config(w, store);
  return dispatch(traced(ternary_matvec, config), per_rows(config), views.w, c_.work.int8_quads(in), views.scale,
                  c_.work.floats(out));
}

Result<void> Recorder::linear_many(SlotId in, const Tensor& w, SlotId out, Store store, const When& when) {
  if (!has_matmuls()) return {};
  TRY(const auto views, linear_views(w));
  const auto use = [&](const TracedKernel<TernaryMatmulKernel>& kernel, const auto& tiles, const When& when_used) {
    return dispatch(kernel, per_tile(tiles, tiles.rows, when_used), views.w, c_.work.int8_quads(in), views.scale,
                    params(), c_.work.floats(out));
  };
  auto on_matrices = matrix_configs(w, static_cast<uint32_t>(w.rows), 1, when);
  for (auto& [tiles, when_used] : on_matrices) {
    tiles.store = store;
    TRY_STATUS(use(traced(ternary_matmul_matrix, tiles), tiles, when_used));
  }
  if (!on_matrices.empty()) return {};
  const TernaryMatmulConfig tiles{
      .rows = static_cast<uint32_t>(w.rows), .cols = static_cast<uint32_t>(w.cols), .store = store, .caps = caps_};
  return use(traced(ternary_matmul, tiles), tiles, when);
}

Result<void> Recorder::record(const step::TernaryLinear& s) {
  TRY_STATUS(linear_few(s.in, *s.w, s.out, Store::kSet));
  return linear_many(s.in, *s.w, s.out, Store::kSet);
}

Result<void> Recorder::record(const step::TernaryLinearAdd& s) {
  TRY(const SlotId in, int8_input(s.in, s.norm));
  const bool norms = norms_on_read(s.in, s.norm);
  TRY_STATUS(norms ? normed_linear(s) : linear_few(in, *s.w, s.x, Store::kAdd));
  return linear_many(in, *s.w, s.x, Store::kAdd, norms ? many_normed() : kManyTokens);
}

Result<void> Recorder::normed_linear(const step::TernaryLinearAdd& s) {
  TRY(const auto views, linear_views(*s.w));
  const TernaryConfig config = linear_config(*s.w, Store::kAdd);
  Extent extent = per_rows(config);
  TRY(const auto norm, norm_views(s.in, s.norm));
  TRY(const auto next, next_views(s.next, extent.grid.x));
  TRY(const int last, in_batches(s, config, norm, next));
  extent.when.max_tokens = std::min(extent.when.max_tokens, last);
  for (const InColumns& several : in_columns(config, last)) {
    TRY_STATUS(dispatch(traced(normed_matvec_add_columns, several.layout, norm.config, several.columns), several.extent,
                        views.w, norm.x, norm.gain, norm.parts, views.scale, c_.work.floats(s.x), next.gain,
                        next.parts));
    extent.when.max_tokens = 1;
  }
  return dispatch(traced(normed_matvec_add, config, norm.config), extent, views.w, norm.x, norm.gain, norm.parts,
                  views.scale, c_.work.floats(s.x), next.gain, next.parts);
}

Result<void> Recorder::record(const step::TernaryGlu& s) {
  TRY(const SlotId in, int8_input(s.in, s.norm));
  const bool norms = norms_on_read(s.in, s.norm);
  TRY_STATUS(glu_few(in, s));
  return glu_many(in, s, norms ? many_normed() : kManyTokens);
}

Result<void> Recorder::glu_few(SlotId in, const step::TernaryGlu& s) {
  TRY(const auto views, glu_views(s));
  TernaryConfig config = ternary_config(*s.w_gate, c_.layouts.glu);
  config.act = activation(s.act);
  Extent extent = per_rows(config);
  if (!norms_on_read(s.in, s.norm)) {
    return dispatch(traced(ternary_glu, config), extent, views.gate, views.up, c_.work.int8_quads(in), views.scale,
                    c_.work.floats(s.out));
  }
  TRY(const auto norm, norm_views(s.in, s.norm));
  TRY(const auto next, next_views(s.next, extent.grid.x));
  TRY(const int last, in_batches(s, config, norm, next));
  extent.when.max_tokens = std::min(extent.when.max_tokens, last);
  for (const InColumns& several : in_columns(config, last)) {
    TRY_STATUS(dispatch(traced(normed_glu_columns, several.layout, norm.config, several.columns), several.extent,
                        views.gate, views.up, norm.x, norm.gain, norm.parts, views.scale, c_.work.floats(s.out),
                        next.gain, next.parts));
    extent.when.max_tokens = 1;
  }
  return dispatch(traced(normed_glu, config, norm.config), extent, views.gate, views.up, norm.x, norm.gain, norm.parts,
                  views.scale, c_.work.floats(s.out), next.gain, next.parts);
}

Result<void> Recorder::glu_many(SlotId in, const step::TernaryGlu& s, const When& when) {
  if (!has_matmuls()) return {};
  TRY(const auto views, glu_views(s));
  const auto use = [&](const TracedKernel<TernaryGluMatmulKernel>& kernel, const auto& tiles, const When& when_used) {
    return dispatch(kernel, per_tile(tiles, tiles.rows, when_used), views.gate, views.up, c_.work.int8_quads(in),
                    views.scale, params(), c_.work.floats(s.out));
  };
  auto on_matrices = matrix_configs(*s.w_gate, static_cast<uint32_t>(s.w_gate->rows), 2, when);
  for (auto& [tiles, when_used] : on_matrices) {
    tiles.act = activation(s.act);
    TRY_STATUS(use(traced(ternary_glu_matmul_matrix, tiles), tiles, when_used));
  }
  if (!on_matrices.empty()) return {};
  const TernaryMatmulConfig tiles{.rows = static_cast<uint32_t>(s.w_gate->rows),
                                  .cols = static_cast<uint32_t>(s.w_gate->cols),
                                  .act = activation(s.act),
                                  .caps = caps_,
                                  .tile_tokens = 32};
  return use(traced(ternary_glu_matmul, tiles), tiles, when);
}

// A separate kernel always norms many tokens, since no workgroup of a matrix kernel reads a whole row.
Result<SlotId> Recorder::int8_input(SlotId in, const step::NormOnRead& norm) {
  if (!norm.gain) return in;
  TRY_STATUS(
      norm_quantize({in, norm.gain, norm.eps, norm.quantized}, norms_on_read(in, norm) ? many_normed() : When{}));
  return norm.quantized;
}

// A step can norm its input if the previous step wrote the statistics, and the row consists of whole vec4s of int8
// words and fits into workgroup memory.
bool Recorder::norms_on_read(SlotId in, const step::NormOnRead& norm) const {
  constexpr uint32_t kReductionBytes = 6144;
  return norm.gain && !c_.layouts.serial && n_parts_.contains(norm.stats.index) && width(in) % 16 == 0 &&
         whole_blocks(width(in)) + kReductionBytes <= c_.device.limits().workgroup_bytes;
}

Result<Recorder::NormViews> Recorder::norm_views(SlotId x, const step::NormOnRead& norm) {
  TRY(const BufferView gain, c_.weights.vector(*norm.gain));
  const auto n_parts = n_parts_.find(norm.stats.index);
  CHECK(n_parts != n_parts_.end());
  return NormViews{.x = c_.work.float_quads(x),
                   .gain = {gain},
                   .parts = c_.work.stats(norm.stats),
                   .config = {.eps = norm.eps, .n_parts = n_parts->second}};
}

// If no norm follows, the statistics go to an unused buffer.
Result<Recorder::NextViews> Recorder::next_views(const step::StatsOnWrite& next, uint32_t n_parts) {
  if (!next.gain)
    return NextViews{.gain = {{&c_.work.unused_gain(), 0, 0}}, .parts = {{&c_.work.unused_stats(), 0, 0}}};
  TRY(const BufferView gain, c_.weights.vector(*next.gain));
  CHECK(n_parts <= most_stats_parts(width(next.stats)));
  n_parts_[next.stats.index] = n_parts;
  return NextViews{.gain = {gain}, .parts = c_.work.stats(next.stats)};
}

}  // namespace tern::gpu
