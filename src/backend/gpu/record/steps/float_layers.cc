#include "backend/gpu/record/steps/float_layers.h"

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
  config.int8_x = r_.context().plan.int8_on_read && r_.layouts().int8_x && r_.caps().packed_dot && coding.has_codes() &&
                  config.cols % kRun == 0;
  config.int8_x = config.int8_x && has_room();
  config.staged = !config.int8_x && coding.bits() <= r_.layouts().stage_bits;
  config.staged = config.staged && has_room();
  return fit(config);
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
  const PromptTiles& tiles = n_matrices == 1 ? r_.layouts().float_tiles : r_.layouts().float_glu_tiles;
  const auto config_with = [&](const PromptTile& tile) { return matrix_config(w, coding, n_matrices, tile); };
  int most = r_.layouts().most_in_few_tiles;
  const auto small = config_with(tiles.small);
  if (small && ceil_div(rows, small->tile_rows) >= r_.layouts().big_tiles_from) most = std::min(most, 32);
  std::vector<Tiled<FloatMatrixMatmulConfig>> all;
  When many = when;
  const auto few_tiles = few_tokens_configs(w, coding, n_matrices, r_.layouts().few_tiles, when.min_tokens, most);
  for (const auto& [config, first, last] : few_tiles) {
    all.push_back({config, when});
    all.back().when.min_tokens = first;
    all.back().when.max_tokens = last;
    many.min_tokens = last + 1;
  }
  auto of_many = gpu::in_tiles(tiles, rows, r_.layouts().big_tiles_from, many, config_with);
  all.insert(all.end(), of_many.begin(), of_many.end());
  return all;
}

std::vector<FloatLayers::FewTokens> FloatLayers::few_tokens_configs(const Tensor& w, const WeightCoding& coding,
                                                                    uint32_t n_matrices,
                                                                    std::span<const Layouts::FewTile> wanted,
                                                                    int fewest, int most) const {
  const auto any = matrix_config(w, coding, n_matrices, {});
  if (!any) return {};
  std::vector<FloatMatrixMatmulConfig> configs;
  for (const Layouts::FewTile& tile : wanted) {
    if (const auto config = with_few_tile(*any, tile, n_matrices, r_.limits())) configs.push_back(*config);
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

When FloatLayers::in_tiles(const Tensor& w, const WeightCoding& coding, const MatvecLayout& layout) const {
  const FloatLinearConfig one = float_config(w, coding, nullptr, layout);
  const bool has_columns = r_.layouts().columns > 1 && in_columns(one, Rows::kTokens).columns == r_.layouts().columns;
  if (!has_columns) return kManyTokens;
  const Layouts& l = r_.layouts();
  const bool has_few = !few_tokens_configs(w, coding, 1, l.few_tiles, kMatmulTokens, l.most_in_few_tiles).empty();
  return {.min_tokens = std::max(has_few ? l.few_tiles_from : l.float_tiles_from, kMatmulTokens)};
}

}  // namespace tern::gpu
