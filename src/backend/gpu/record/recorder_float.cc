// The float layers: matrix × vector kernels for a few tokens, with norms inside; matrix × matrix kernels for many.
#include "backend/gpu/kernels/embed.h"
#include "backend/gpu/kernels/float/float_linear.h"
#include "backend/gpu/kernels/float/float_matmul.h"
#include "backend/gpu/record/recorder.h"
#include "base/bytes.h"

namespace tern::gpu {
namespace {

constexpr uint32_t kForReductions = 4096;  // bytes of workgroup memory

// A config with this tile, and as many columns and stages as fit.
std::optional<FloatMatrixMatmulConfig> with_few_tile(const FloatMatrixMatmulConfig& any, const Layouts::FewTile& wanted,
                                                     uint32_t n_matrices, const Limits& limits) {
  const wgsl::MatrixShape& shape = any.shape;
  if (wanted.rows % (wanted.subgroup_rows * shape.n) != 0 || wanted.tokens % shape.m != 0) return std::nullopt;
  for (uint32_t columns = wanted.columns; columns >= 32; columns /= 2) {
    if (any.cols % columns != 0) continue;
    for (const uint32_t stages : {2u, 1u}) {
      FloatMatrixMatmulConfig config = any;
      config.tile = {.subgroup_rows = wanted.subgroup_rows,
                     .subgroup_tokens = 1,
                     .matrices_of_rows = wanted.rows / (wanted.subgroup_rows * shape.n),
                     .matrices_of_tokens = wanted.tokens / shape.m,
                     .stages = stages,
                     .columns = columns,
                     .splits = std::min(wanted.splits, columns / 16)};
      config = fit(config);
      if (config.workgroup() <= limits.invocations && config.workgroup_bytes(n_matrices) <= limits.workgroup_bytes)
        return config;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<void> Recorder::record(const step::Embed& s) {
  TRY(const FloatMatrix* table, c_.weights.matrix(*s.table));
  for (const FloatMatrix::Part& part : table->parts) {
    TRY(const BufferView constant, c_.work.constant({part.first, part.count, 0, 0}));
    TRY_STATUS(dispatch(traced(embed, {.width = width(s.out), .coding = part.coding, .scale = s.scale}),
                        {.axis = Axis::kY, .when = {.is_embedded = If::kNo}},
                        View<wgsl::U32>{{&c_.work.tokens(), 0, 0}}, View<WeightUnits>{part.units},
                        View<wgsl::U32>{part.scales}, View<RowRange>{constant}, c_.work.float_quads(s.out)));
  }
  return {};
}

FloatLinearConfig Recorder::float_config(const Tensor& w, const WeightCoding& coding, const FloatRead& read,
                                         const MatvecLayout& layout) const {
  FloatLinearConfig config{.rows = static_cast<uint32_t>(w.rows),
                           .cols = static_cast<uint32_t>(w.cols),
                           .coding = coding,
                           .caps = caps_,
                           .lanes = lanes(layout.lanes),
                           .rows_per_group = layout.rows_per_group,
                           .workgroup = workgroup(layout.workgroup)};
  config.most_ahead = c_.layouts.most_ahead;
  config.normed = read.norm != nullptr;
  if (read.norm) config.eps = read.norm->eps;
  const auto has_room = [&] { return staged_bytes(config) + kForReductions <= c_.device.limits().workgroup_bytes; };
  static_assert(kRun == kInt8Block);  // the same on hosts
  config.int8_x =
      c_.plan.int8_on_read && c_.layouts.int8_x && caps_.packed_dot && coding.has_codes() && config.cols % kRun == 0;
  config.int8_x = config.int8_x && has_room();
  config.staged = !config.int8_x && coding.bits() <= c_.layouts.stage_bits;
  config.staged = config.staged && has_room();
  return fit(config);
}

FloatLinearConfig Recorder::in_columns(FloatLinearConfig config, Rows rows) const {
  config.columns = c_.layouts.columns;
  config.of_logits = rows == Rows::kLogits;
  const auto bytes = [&] { return config.columns * (staged_bytes(config) + kForReductions); };
  while (config.columns > 1 && bytes() > c_.device.limits().workgroup_bytes) config.columns /= 2;
  return config;
}

// The gain of a norm inside the step, or an unused buffer.
Result<View<wgsl::Vec4<wgsl::F32>>> Recorder::gain_view(const FloatRead& read) {
  if (!read.norm) return View<wgsl::Vec4<wgsl::F32>>{{&c_.work.unused_gain(), 0, 0}};
  TRY(const BufferView gain, c_.weights.vector(*read.norm->gain));
  return View<wgsl::Vec4<wgsl::F32>>{gain};
}

Result<void> Recorder::float_matvec(const FloatMatrix& matrix, const Tensor& w, const FloatRead& read, SlotId out,
                                    Store store, const MatvecLayout& layout) {
  TRY(const auto gain, gain_view(read));
  for (const FloatMatrix::Part& part : matrix.parts) {
    TRY(const BufferView constant, c_.work.constant({part.first, part.count, 0, 0}));
    FloatLinearConfig config = float_config(w, part.coding, read, layout);
    config.rows = width(out);
    config.store = store;
    const uint32_t n = ceil_div(part.count, config.rows_per_workgroup());
    Extent extent{
        .grid = grid_of(n, c_.device.limits().workgroups), .axis = Axis::kZ, .rows = rows_of(out), .when = read.when};
    const View<WeightUnits> units{part.units};
    const View<wgsl::U32> scales{part.scales};
    const auto x = c_.work.float_quads(read.slot);
    if (const auto several = in_columns(config, extent.rows); several.columns > 1 && read.when.max_tokens > 1) {
      Extent of_several = extent;
      of_several.rows_per_workgroup = several.columns;
      const bool is_slow_head = extent.rows == Rows::kLogits && part.coding.bits() > 4;
      of_several.when.min_rows = is_slow_head ? c_.layouts.head_columns_from : c_.layouts.columns_from;
      extent.when.max_rows = std::min(extent.when.max_rows, of_several.when.min_rows - 1);
      TRY_STATUS(dispatch(traced(float_linear_columns, several), of_several, units, scales, x, gain,
                          View<RowRange>{constant}, params(), c_.work.floats(out)));
    }
    TRY_STATUS(dispatch(traced(float_linear, config), extent, units, scales, x, gain, View<RowRange>{constant},
                        c_.work.floats(out)));
  }
  return {};
}

// How a step's input is read. Kernels for few tokens norm it themselves; for many tokens a separate kernel norms it
// first. With a single token, the row whose logits are wanted is read in place, without a copy.
Result<std::vector<Recorder::FloatRead>> Recorder::float_reads(SlotId in, const step::FloatNormOnRead& norm,
                                                               const When& few) {
  if (norm.gain && c_.layouts.serial) {
    TRY_STATUS(record(step::RmsNorm{in, norm.gain, norm.eps, norm.normed}));
    return std::vector<FloatRead>{{norm.normed, nullptr, {}}};
  }
  const auto* on_read = norm.gain ? &norm : nullptr;
  if (alias_ && alias_->out == in) {
    return std::vector<FloatRead>{{alias_->in, on_read, {.max_tokens = 1}}, {in, on_read, {.min_tokens = 2}}};
  }
  return std::vector<FloatRead>{{in, on_read, rows_of(in) == Rows::kTokens ? few : When{}}};
}

When Recorder::in_float_tiles(const Tensor& w, const WeightCoding& coding, const MatvecLayout& layout) const {
  const FloatLinearConfig one = float_config(w, coding, {}, layout);
  const bool has_columns = c_.layouts.columns > 1 && in_columns(one, Rows::kTokens).columns == c_.layouts.columns;
  if (!has_columns) return kManyTokens;
  const Layouts& l = c_.layouts;
  const bool has_few = !few_tokens_configs(w, coding, 1, l.few_tiles, kMatmulTokens, l.most_in_few_tiles).empty();
  return {.min_tokens = std::max(has_few ? l.few_tiles_from : l.float_tiles_from, kMatmulTokens)};
}

// The input of matrix kernels without subgroup matrices, normed: none of their workgroups reads a whole row.
Result<SlotId> Recorder::normed_input(SlotId in, const step::FloatNormOnRead& norm, const When& when) {
  if (!norm.gain) return in;
  TRY_STATUS(rms_norm({in, norm.gain, norm.eps, norm.normed}, in, when));
  return norm.normed;
}

bool has_f16_matrices(const Device& device, const Layouts& layouts) {
  const Features& f = device.features();
  return layouts.float_matrices && f.f16 && f.subgroups && f.subgroup_min == f.subgroup_max &&
         (device.adapter().type != AdapterType::kSoftware || layouts.software_matrices);
}

bool Recorder::has_f16_matrices() const { return gpu::has_f16_matrices(c_.device, c_.layouts); }

std::optional<FloatMatrixMatmulConfig> Recorder::float_matrix_config(const Tensor& w, const WeightCoding& coding,
                                                                     uint32_t n_matrices,
                                                                     const PromptTile& tile) const {
  const Features& f = c_.device.features();
  if (!has_f16_matrices() || w.cols % 32 != 0) return std::nullopt;
  if (w.format == Format::kF32) return std::nullopt;  // f16 cannot hold them
  using Config = std::optional<FloatMatrixMatmulConfig>;
  return with_largest_matrices(f, [&](const wgsl::MatrixShape& shape) -> Config {
    if (!has_float_matrix_matmul(shape)) return std::nullopt;
    return fit_tile(FloatMatrixMatmulConfig{.rows = static_cast<uint32_t>(w.rows),
                                            .cols = static_cast<uint32_t>(w.cols),
                                            .coding = coding,
                                            .shape = shape,
                                            .subgroup = f.subgroup_min},
                    tile, n_matrices, c_.device.limits());
  });
}

std::vector<Tiled<FloatMatrixMatmulConfig>> Recorder::float_matrix_configs(const Tensor& w, const WeightCoding& coding,
                                                                           uint32_t n_matrices, uint32_t rows,
                                                                           const When& when) const {
  const PromptTiles& tiles = n_matrices == 1 ? c_.layouts.float_tiles : c_.layouts.float_glu_tiles;
  const auto config_with = [&](const PromptTile& tile) { return float_matrix_config(w, coding, n_matrices, tile); };
  int most = c_.layouts.most_in_few_tiles;
  const auto small = config_with(tiles.small);
  if (small && ceil_div(rows, small->tile_rows) >= c_.layouts.big_tiles_from) most = std::min(most, 32);
  std::vector<Tiled<FloatMatrixMatmulConfig>> all;
  When many = when;
  const auto few_tiles = few_tokens_configs(w, coding, n_matrices, c_.layouts.few_tiles, when.min_tokens, most);
  for (const auto& [config, first, last] : few_tiles) {
    all.push_back({config, when});
    all.back().when.min_tokens = first;
    all.back().when.max_tokens = last;
    many.min_tokens = last + 1;
  }
  auto of_many = in_tiles(tiles, rows, c_.layouts.big_tiles_from, many, config_with);
  all.insert(all.end(), of_many.begin(), of_many.end());
  return all;
}

std::vector<Recorder::FewTokens> Recorder::few_tokens_configs(const Tensor& w, const WeightCoding& coding,
                                                              uint32_t n_matrices,
                                                              std::span<const Layouts::FewTile> wanted, int fewest,
                                                              int most) const {
  const auto any = float_matrix_config(w, coding, n_matrices, {});
  if (!any) return {};
  std::vector<FloatMatrixMatmulConfig> configs;
  for (const Layouts::FewTile& tile : wanted) {
    if (const auto config = with_few_tile(*any, tile, n_matrices, c_.device.limits())) configs.push_back(*config);
  }
  std::vector<FewTokens> all;
  for (const FloatMatrixMatmulConfig& config : configs) {
    const bool is_last = &config == &configs.back();
    const int last = is_last ? most : std::min(static_cast<int>(config.tile_tokens), most);
    if (last < fewest) continue;
    all.push_back({config, fewest, last});
    if (last == most) break;
    fewest = last + 1;
  }
  return all;
}

Result<Recorder::HalvedTokens> Recorder::halve_tokens(SlotId in, const step::FloatNormOnRead& norm, const When& when,
                                                      Rows rows, uint32_t rest_at) {
  const bool of_logits = rows == Rows::kLogits;
  TRY(const Buffer* buffer, of_logits ? c_.work.logit_halves(width(in)) : c_.work.halves());
  const HalvedTokens halved{{{buffer, 0, 0}}, {{&c_.work.token_scales(), 0, 0}}};
  HalveTokensConfig config{.width = width(in), .caps = caps_, .rest_at = rest_at};
  const Extent extent{.axis = Axis::kY, .rows = rows, .when = when};
  const auto x = c_.work.float_quads(in);
  if (norm.gain) {
    config.eps = norm.eps;
    TRY(const BufferView gain, c_.weights.vector(*norm.gain));
    TRY_STATUS(dispatch(traced(gpu::norm_halves, config), extent, x, View<wgsl::Vec4<wgsl::F32>>{gain}, halved.x,
                        halved.scales));
  } else {
    TRY_STATUS(dispatch(traced(gpu::halve_tokens, config), extent, x, halved.x, halved.scales));
  }
  return halved;
}

Result<void> Recorder::float_matmul(const FloatMatrix& matrix, const Tensor& w, SlotId in,
                                    const step::FloatNormOnRead& norm, SlotId out, Store store, const When& when) {
  std::optional<HalvedTokens> x;
  std::optional<SlotId> normed;
  for (const FloatMatrix::Part& part : matrix.parts) {
    TRY(const BufferView constant, c_.work.constant({part.first, part.count, 0, 0}));
    auto all_tiles = float_matrix_configs(w, part.coding, 1, part.count, when);
    for (auto& [tiles, when_used] : all_tiles) {
      if (!x) {
        TRY(x, halve_tokens(in, norm, when, Rows::kTokens));
      }
      tiles.rows = width(out);
      tiles.store = store;
      TRY_STATUS(dispatch(traced(float_matmul_matrix, tiles), per_tile(tiles, part.count, when_used),
                          View<WeightUnits>{part.units}, View<wgsl::U32>{part.scales}, x->x, x->scales,
                          View<RowRange>{constant}, params(), c_.work.floats(out)));
    }
    if (!all_tiles.empty()) continue;
    if (!normed) {
      TRY(normed, normed_input(in, norm, when));
    }
    const FloatMatmulConfig config{
        .rows = width(out), .cols = static_cast<uint32_t>(w.cols), .coding = part.coding, .store = store};
    TRY_STATUS(dispatch(traced(gpu::float_matmul, config), per_tile(config, part.count, when),
                        View<WeightUnits>{part.units}, View<wgsl::U32>{part.scales}, c_.work.float_quads(*normed),
                        View<RowRange>{constant}, params(), c_.work.floats(out)));
  }
  return {};
}

Result<void> Recorder::float_linear_step(std::span<const Tensor* const> matrices, SlotId in,
                                         const step::FloatNormOnRead& norm, SlotId out, Store store,
                                         const MatvecLayout& layout) {
  TRY(const FloatMatrix* w, c_.weights.matrix(matrices));
  const When many = in_float_tiles(*matrices.front(), w->parts.front().coding, layout);
  TRY(auto reads, float_reads(in, norm, before(many)));
  if (rows_of(in) == Rows::kLogits && store == Store::kSet && matrices.size() == 1) {
    TRY(const bool is_multiplied, head_matmul(*w, *matrices.front(), in, norm, out));
    for (FloatRead& read : reads) {
      if (is_multiplied) read.when.max_rows = head_products_from(*matrices.front()) - 1;
    }
  }
  for (const FloatRead& read : reads) TRY_STATUS(float_matvec(*w, *matrices.front(), read, out, store, layout));
  if (rows_of(in) == Rows::kLogits || !has_matmuls()) return {};
  return float_matmul(*w, *matrices.front(), in, norm, out, store, many);
}

const MatvecLayout& Recorder::float_layout(const Tensor& w) const {
  return w.cols > w.rows ? c_.layouts.float_wide : c_.layouts.float_square;
}

Result<void> Recorder::record(const step::FloatLinear& s) {
  const bool is_head = rows_of(s.out) == Rows::kLogits;
  if (c_.head_copy && s.out == c_.plan.logits) {
    TRY_STATUS(best_logits(s));
    most_best_ = 0;
  }
  auto recorded = float_linear_step(std::span(&s.w, 1), s.in, s.norm, s.out, Store::kSet,
                                    is_head ? c_.layouts.head : float_layout(*s.w));
  most_best_ = INT_MAX;
  return recorded;
}

Result<void> Recorder::record(const step::FloatLinearAdd& s) {
  return float_linear_step(std::span(&s.w, 1), s.in, {}, s.x, Store::kAdd, float_layout(*s.w));
}

Result<void> Recorder::record(const step::FloatGlu& s) {
  TRY(const auto parts, c_.weights.glu(*s.w_gate, *s.w_up));
  const When many = in_float_tiles(*s.w_gate, parts.gate->coding, c_.layouts.float_glu);
  TRY(const auto reads, float_reads(s.in, s.norm, before(many)));
  for (const FloatRead& read : reads) {
    FloatLinearConfig config = float_config(*s.w_gate, parts.gate->coding, read, c_.layouts.float_glu);
    config.up_coding = parts.up->coding;
    config.act = activation(s.act);
    Extent extent{.grid = grid_of(ceil_div(config.rows, config.rows_per_workgroup()), c_.device.limits().workgroups),
                  .axis = Axis::kZ,
                  .when = read.when};
    TRY(const auto gain, gain_view(read));
    const View<WeightUnits> gate{parts.gate->units}, up{parts.up->units};
    const View<wgsl::U32> gate_scales{parts.gate->scales}, up_scales{parts.up->scales};
    const auto x = c_.work.float_quads(read.slot);
    if (const auto several = in_columns(config, extent.rows); several.columns > 1) {
      Extent of_several = extent;
      of_several.rows_per_workgroup = several.columns;
      of_several.when.min_rows = c_.layouts.columns_from;
      extent.when.max_rows = of_several.when.min_rows - 1;
      TRY_STATUS(dispatch(traced(float_glu_columns, several), of_several, gate, gate_scales, up, up_scales, x, gain,
                          params(), c_.work.floats(s.out)));
    }
    TRY_STATUS(
        dispatch(traced(float_glu, config), extent, gate, gate_scales, up, up_scales, x, gain, c_.work.floats(s.out)));
  }
  return has_matmuls() ? glu_matmul(s, parts, many) : Result<void>();
}

Result<void> Recorder::glu_matmul(const step::FloatGlu& s, const WeightStore::Glu& parts, const When& when) {
  auto all_tiles = float_matrix_configs(*s.w_gate, parts.gate->coding, 2, static_cast<uint32_t>(s.w_gate->rows), when);
  if (!all_tiles.empty()) {
    TRY(const HalvedTokens x, halve_tokens(s.in, s.norm, when, Rows::kTokens));
    for (auto& [tiles, when_used] : all_tiles) {
      tiles.up_coding = parts.up->coding;
      tiles.act = activation(s.act);
      TRY_STATUS(dispatch(traced(float_glu_matmul_matrix, tiles), per_tile(tiles, tiles.rows, when_used),
                          View<WeightUnits>{parts.gate->units}, View<wgsl::U32>{parts.gate->scales},
                          View<WeightUnits>{parts.up->units}, View<wgsl::U32>{parts.up->scales}, x.x, x.scales,
                          params(), c_.work.floats(s.out)));
    }
    return {};
  }
  TRY(const SlotId in, normed_input(s.in, s.norm, when));
  const FloatMatmulConfig config{.rows = static_cast<uint32_t>(s.w_gate->rows),
                                 .cols = static_cast<uint32_t>(s.w_gate->cols),
                                 .coding = parts.gate->coding,
                                 .up_coding = parts.up->coding,
                                 .act = activation(s.act),
                                 .tile_rows = 32};
  return dispatch(traced(float_glu_matmul, config), per_tile(config, config.rows, when),
                  View<WeightUnits>{parts.gate->units}, View<wgsl::U32>{parts.gate->scales},
                  View<WeightUnits>{parts.up->units}, View<wgsl::U32>{parts.up->scales}, c_.work.float_quads(in),
                  params(), c_.work.floats(s.out));
}

Result<void> Recorder::record(const step::FloatQkv& s) {
  const Tensor* const matrices[] = {s.wq, s.wk, s.wv};
  TRY_STATUS(float_linear_step(matrices, s.in, s.norm, s.heads.qkv, Store::kSet, c_.layouts.float_qkv));
  return s.leaves_heads ? Result<void>() : heads(s.heads, {});
}

}  // namespace tern::gpu
