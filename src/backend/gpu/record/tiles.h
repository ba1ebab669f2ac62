// Which tiles matrix kernels have, and which runs they are for.
#pragma once

#include <algorithm>
#include <climits>
#include <optional>
#include <type_traits>
#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/prompt_tile.h"
#include "backend/gpu/record/program.h"
#include "base/bytes.h"

namespace tern::gpu {

// From how many tokens on the matrix kernels run, instead of the vector kernels once per token; of layers that have
// kernels for several tokens, from Recorder::most_in_columns(), or in_float_tiles(), on.
inline constexpr int kMatmulTokens = 8;
inline constexpr When kFewTokens{.max_tokens = kMatmulTokens - 1};
inline constexpr When kManyTokens{.min_tokens = kMatmulTokens};

// Of a matrix kernel that computes `rows` outputs in tiles.
template <class Tiles>
Extent per_tile(const Tiles& tiles, uint32_t rows, const When& when, Rows of = Rows::kTokens) {
  return {.grid = {.x = ceil_div(rows, tiles.tile_rows)},
          .axis = Axis::kY,
          .rows = of,
          .rows_per_workgroup = tiles.tile_tokens,
          .when = when};
}

// With the wanted tile, or a small one where the device has no room for that.
template <class Config>
std::optional<Config> fit_tile(Config config, const PromptTile& wanted, uint32_t n_matrices, const Limits& limits) {
  for (const PromptTile& tile : {wanted, PromptTile{}}) {
    config.tile = tile;
    config = fit(config);
    if (config.workgroup() <= limits.invocations && config.workgroup_bytes(n_matrices) <= limits.workgroup_bytes) {
      return config;
    }
  }
  return std::nullopt;
}

// fit(shape): the layout for it, or none. Of those that there are, the one of the largest matrices.
template <class Fit>
auto with_largest_matrices(const Features& features, const Fit& fit) {
  decltype(fit(features.matrices.front())) best;
  for (const wgsl::MatrixShape& shape : features.matrices) {
    if (best && shape.m * shape.n * shape.k <= best->shape.m * best->shape.n * best->shape.k) continue;
    if (auto config = fit(shape)) best = std::move(config);
  }
  return best;
}

// A layout, and the runs that it is for.
template <class Config>
struct Tiled {
  Config config;
  When when;
};
// fit(tile): the layout with it, or one that there is room for; none where there is no kernel. The big tile is for runs
// in which it makes at least so many workgroups of a matrix of so many rows.
template <class Fit>
auto in_tiles(const PromptTiles& tiles, uint32_t rows, uint32_t big_from, const When& when, const Fit& fit) {
  using Config = std::remove_cvref_t<decltype(*fit(tiles.small))>;
  std::vector<Tiled<Config>> all;
  const auto small = fit(tiles.small), big = fit(tiles.big);
  if (small) all.push_back({*small, when});
  if (!small || !big || big->tile_rows * big->tile_tokens <= small->tile_rows * small->tile_tokens) return all;
  const uint32_t of_tokens = ceil_div(std::max(big_from, 1u), ceil_div(rows, big->tile_rows));
  const int first = std::max(when.min_tokens, static_cast<int>((of_tokens - 1) * big->tile_tokens) + 1);
  if (first > when.max_tokens) return all;
  all.push_back({*big, when});
  all.back().when.min_tokens = first;
  all.front().when.max_tokens = first - 1;
  if (all.front().when.max_tokens < when.min_tokens) all.erase(all.begin());
  return all;
}

}  // namespace tern::gpu
