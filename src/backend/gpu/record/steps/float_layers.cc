#include "backend/gpu/record/steps/float_layers.h"

#include <algorithm>

#include "base/bytes.h"

namespace tern::gpu {
namespace {

constexpr uint32_t kForReductions = 4096;  // bytes of workgroup memory

// A config with this tile, and as many columns and stages as fit.
std::optional<FloatMatrixMatmulConfig> with_few_tile(const FloatMatrixMatmulConfig& any, const Layouts::FewTile& wanted,
                                                     uint32_t n_matrices, const Limits& limits) {
  const wgsl::MatrixShape& shape = any.shape;
  if (wanted.rows % (wanted.subgroup_rows * shape.n) != 0) return std::nullopt;
  if (wanted.tokens % (wanted.subgroup_tokens * shape.m) != 0) return std::nullopt;
  for (uint32_t columns = wanted.columns; columns >= 32; columns /= 2) {
    if (any.cols % columns != 0) continue;
    for (const uint32_t stages : {2u, 1u}) {
      FloatMatrixMatmulConfig config = any;
      config.tile = {.subgroup_rows = wanted.subgroup_rows,
                     .subgroup_tokens = wanted.subgroup_tokens,
                     .matrices_of_rows = wanted.rows / (wanted.subgroup_rows * shape.n),
                     .matrices_of_tokens = wanted.tokens / (wanted.subgroup_tokens * shape.m),
                     .stages = stages,
                     .columns = columns,
                     .splits = std::min(wanted.splits, columns / 16),
                     .ahead = wanted.ahead};
      while (any.cols / columns % config.tile.ahead != 0) config.tile.ahead /= 2;
      config = fit(config);
      if (config.workgroup() <= limits.invocations && config.workgroup_bytes(n_matrices) <= limits.workgroup_bytes)
        return config;
    }
  }
  return std::nullopt;
}

std::span<const Layouts::FewTile> wanted_tiles(const Layouts& layouts, const WeightCoding& coding) {
  return coding.bits() <= 2 ? layouts.few_tiles_of_two_bits : layouts.few_tiles;
}

}  // namespace

FloatLinearConfig FloatLayers::float_config(const Tensor& w, const WeightCoding& coding,
                                            const step::FloatNormOnRead* norm, const MatvecLayout& layout) const {
  FloatLinearConfig config{.rows = static_cast<uint32_t>(w.rows),
                           .cols = static_cast<uint32_t>(w.cols),
                           .coding = coding,
                           .caps = r_.caps(),
                           .lanes = r_.lanes(layout.lanes),
                           .rows_per_group = layout.rows_per_group,
                           .workgroup = r_.workgroup(layout.workgroup)};
  config.most_ahead = r_.layouts().most_ahead;
  config.normed = norm != nullptr;
  if (norm) config.eps = norm->eps;
  const auto has_room = [&] { return staged_bytes(config) + kForReductions <= r_.limits().workgroup_bytes; };
  static_assert(kRun == kInt8Block);  // the same on hosts
  config.int8_x = takes_int8(w, coding);
  config.int8_x = config.int8_x && has_room();
  config.staged = !config.int8_x && coding.bits() <= r_.layouts().stage_bits;
  config.staged = config.staged && has_room();
  return fit(config);
}

bool FloatLayers::takes_int8(const Tensor& w, const WeightCoding& coding) const {
  return r_.context().plan.int8_on_read && r_.layouts().int8_x && r_.caps().packed_dot && coding.has_codes() &&
         w.cols % kRun == 0;
}

const Layouts::Int8Rows* FloatLayers::int8_rows(const Tensor& w, const WeightCoding& coding) const {
  if (r_.layouts().serial || !takes_int8(w, coding)) return nullptr;
  const auto& all = r_.layouts().int8_rows;
  const auto found = std::ranges::find_if(all, [&](const auto& rows) { return coding.bits() <= rows.bits; });
  return found == all.end() ? nullptr : &*found;
}

int FloatLayers::most_int8_rows(const Tensor& w, const WeightCoding& coding) const {
  const Layouts::Int8Rows* rows = int8_rows(w, coding);
  if (!rows) return 0;
  const bool has_few = !few_tokens_configs(w, coding, 1, static_cast<uint32_t>(w.rows), {}).empty();
  return has_few ? std::min(rows->most, std::max(r_.layouts().few_tokens_from, kMatmulTokens) - 1) : rows->most;
}

std::optional<int> FloatLayers::int8_from(const Tensor& w, const WeightCoding& coding) const {
  const Layouts::Int8Rows* rows = int8_rows(w, coding);
  if (!rows) return std::nullopt;
  return static_cast<uint32_t>(w.cols) >= r_.layouts().wide_int8_rows ? rows->from_wide : rows->from;
}

namespace {

// The matrix that a step multiplies `slot` with, as it is; null if it does anything else.
const Tensor* multiplied_with(const Step& step, SlotId slot) {
  return std::visit(
      [&]<class S>(const S& s) -> const Tensor* {
        if constexpr (std::same_as<S, step::FloatLinearAdd>) {
          return s.in == slot ? s.w : nullptr;
        } else if constexpr (std::same_as<S, step::FloatLinear>) {
          return s.in == slot && !s.norm.gain ? s.w : nullptr;
        } else if constexpr (std::same_as<S, step::FloatStack>) {
          return s.in == slot && !s.norm.gain ? s.parts.front().w : nullptr;
        } else if constexpr (std::same_as<S, step::FloatQkv>) {
          return s.in == slot && !s.norm.gain ? s.wq : nullptr;
        } else if constexpr (std::same_as<S, step::FloatGlu>) {
          return s.in == slot && !s.norm.gain ? s.w_gate : nullptr;
        } else {
          return nullptr;
        }
      },
      step.body);
}

}  // namespace

Result<std::optional<LeftInt8>> FloatLayers::left_for_next(SlotId slot, int most_rows) const {
  using Left = std::optional<LeftInt8>;
  const auto& steps = r_.context().plan.steps;
  int reader = r_.step() + 1;
  const auto uses_slot = [&](int i) {
    const SlotUses uses = slot_uses(steps[static_cast<size_t>(i)].body);
    return std::ranges::contains(uses, slot, &SlotUse::slot);
  };
  const auto n_steps = static_cast<int>(steps.size());
  while (reader < n_steps && !uses_slot(reader)) ++reader;
  const Tensor* w = reader < n_steps ? multiplied_with(steps[static_cast<size_t>(reader)], slot) : nullptr;
  if (!w || r_.rows_of(slot) != Rows::kTokens) return Left();
  const WeightCoding coding = coding_of(*w);
  const auto from = int8_from(*w, coding);
  const int most = std::min({most_rows, WorkBuffers::kMostLeftRows, most_int8_rows(*w, coding)});
  if (!from || *from > most) return Left();
  TRY(const WorkBuffers::LeftRows place, r_.work().next_left_rows());
  return Left({.slot = slot,
               .reader = reader,
               .rows = {{{place.x8, 0, 0}}, {{place.runs, 0, 0}}},
               .coding = coding,
               .min_rows = *from,
               .max_rows = most});
}

FloatLinearConfig FloatLayers::int8_config(const Tensor& w, const WeightCoding& coding, uint32_t columns,
                                           bool is_glu) const {
  const Layouts& l = r_.layouts();
  const MatvecLayout& layout = columns == 1 ? (is_glu ? l.int8_glu_row : l.int8_row)
                                            : (is_glu ? l.int8_glu_columns_layout : l.int8_columns_layout);
  return fit({.rows = static_cast<uint32_t>(w.rows),
              .cols = static_cast<uint32_t>(w.cols),
              .coding = coding,
              .int8_x = true,
              .caps = r_.caps(),
              .most_ahead = l.most_ahead,
              .lanes = r_.lanes(layout.lanes),
              .rows_per_group = layout.rows_per_group,
              .workgroup = r_.workgroup(layout.workgroup),
              .columns = columns});
}

FloatLinearConfig FloatLayers::in_columns(FloatLinearConfig config, Rows rows) const {
  config.columns = r_.layouts().columns;
  config.of_logits = rows == Rows::kLogits;
  const auto bytes = [&] { return config.columns * (staged_bytes(config) + kForReductions); };
  while (config.columns > 1 && bytes() > r_.limits().workgroup_bytes) config.columns /= 2;
  return config;
}

const MatvecLayout& FloatLayers::layout(const Tensor& w) const {
  return w.cols > w.rows ? r_.layouts().float_wide : r_.layouts().float_square;
}

std::optional<FloatMatrixMatmulConfig> FloatLayers::matrix_config(const Tensor& w, const WeightCoding& coding,
                                                                  uint32_t n_matrices, const PromptTile& tile) const {
  if (!wgsl::kHasMatrixKernels) return std::nullopt;
  const Features& f = r_.context().device.features();
  if (!has_f16_matrices(r_.context().device, r_.layouts()) || w.cols % 32 != 0) return std::nullopt;
  if (w.format == Format::kF32) return std::nullopt;  // f16 cannot hold them
  using Config = std::optional<FloatMatrixMatmulConfig>;
  return with_largest_matrices(f, [&](const wgsl::MatrixShape& shape) -> Config {
    if (!has_float_matrix_matmul(shape)) return std::nullopt;
    return fit_tile(FloatMatrixMatmulConfig{.rows = static_cast<uint32_t>(w.rows),
                                            .cols = static_cast<uint32_t>(w.cols),
                                            .coding = coding,
                                            .shape = shape,
                                            .subgroup = f.subgroup_min},
                    tile, n_matrices, r_.limits());
  });
}

std::vector<Tiled<FloatMatrixMatmulConfig>> FloatLayers::matrix_configs(const Tensor& w, const WeightCoding& coding,
                                                                        uint32_t n_matrices, uint32_t rows,
                                                                        const When& when) const {
  if (!wgsl::kHasMatrixKernels) return {};
  const PromptTiles& tiles = n_matrices == 1 ? r_.layouts().float_tiles : r_.layouts().float_glu_tiles;
  const auto config_with = [&](const PromptTile& tile) { return matrix_config(w, coding, n_matrices, tile); };
  const auto small = config_with(tiles.small);
  const auto n_small = small ? std::optional(ceil_div(rows, small->tile_rows)) : std::nullopt;
  const FewTiles few = few_tiles(w, coding, n_matrices, wanted_tiles(r_.layouts(), coding));
  std::vector<Tiled<FloatMatrixMatmulConfig>> all;
  for (const auto& phase : float_tile_phases(r_.layouts(), when, few.tokens, n_small)) {
    if (phase.name == TilePhase::kFew) {
      all.push_back({few.configs[phase.index], phase.when});
    } else {
      auto of_many = in_prompt_tiles(r_.layouts(), tiles, rows, phase.when, config_with);
      all.insert(all.end(), of_many.begin(), of_many.end());
    }
  }
  return all;
}

std::vector<Tiled<FloatMatmulFewConfig>> FloatLayers::few_tokens_configs(const Tensor& w, const WeightCoding& coding,
                                                                         uint32_t n_matrices, uint32_t rows,
                                                                         const When& when) const {
  if (!wgsl::kHasMatrixKernels || coding.bits() > 2) return {};
  const auto any = matrix_config(w, coding, n_matrices, {});
  if (!any) return {};
  const Limits& limits = r_.limits();
  std::vector<Tiled<FloatMatmulFewConfig>> all;
  int from = when.min_tokens;
  for (const Layouts::FewTokens& wanted : r_.layouts().few_tokens) {
    const int last = std::min(static_cast<int>(wanted.tokens), when.max_tokens);
    if (last < std::max(from, r_.layouts().few_tokens_from) || rows * n_matrices < wanted.from_rows) continue;
    const FloatMatmulFewConfig config{.rows = any->rows,
                                      .cols = any->cols,
                                      .coding = coding,
                                      .up_coding = coding,
                                      .shape = any->shape,
                                      .subgroup = any->subgroup,
                                      .tile_rows = wanted.rows / n_matrices,
                                      .tile_tokens = wanted.tokens,
                                      .splits = wanted.splits,
                                      .teams = wanted.teams};
    const bool fits =
        config.workgroup() <= limits.invocations && config.workgroup_bytes(n_matrices) <= limits.workgroup_bytes;
    if (!fits || !has_float_matmul_few(config, n_matrices)) continue;
    all.push_back({config, when});
    all.back().when.min_tokens = from, all.back().when.max_tokens = last;
    from = last + 1;
  }
  return all;
}

FloatLayers::FewTiles FloatLayers::few_tiles(const Tensor& w, const WeightCoding& coding, uint32_t n_matrices,
                                             std::span<const Layouts::FewTile> wanted) const {
  if (!wgsl::kHasMatrixKernels) return {};
  const auto any = matrix_config(w, coding, n_matrices, {});
  if (!any) return {};
  FewTiles tiles;
  for (Layouts::FewTile tile : wanted) {
    auto config = with_few_tile(*any, tile, n_matrices, r_.limits());
    for (; !config && tile.splits > 1; config = with_few_tile(*any, tile, n_matrices, r_.limits())) tile.splits /= 2;
    if (!config) continue;
    tiles.configs.push_back(*config);
    tiles.tokens.push_back(config->tile_tokens);
  }
  return tiles;
}

std::vector<Phase<FloatPhase>> FloatLayers::phases(const Tensor& w, const WeightCoding& coding, Rows rows,
                                                   const MatvecLayout& layout) const {
  const FloatLinearConfig one = float_config(w, coding, nullptr, layout);
  const uint32_t columns = r_.layouts().columns;
  const FewTiles few = few_tiles(w, coding, 1, wanted_tiles(r_.layouts(), coding));
  return float_phases(r_.phase_limits(), rows,
                      {.columns = columns > 1 && in_columns(one, Rows::kTokens).columns == columns,
                       .is_narrow = static_cast<uint32_t>(w.rows) <= r_.layouts().narrow,
                       .most_int8_rows = most_int8_rows(w, coding),
                       .few_tiles = few.tokens});
}

}  // namespace tern::gpu
