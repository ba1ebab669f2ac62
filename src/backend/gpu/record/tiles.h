// The tiles of matrix kernels, and the runs they are for.
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

// The number of tokens from which matrix kernels run instead of vector kernels once per token. Layers with kernels for
// several tokens switch later: after TernaryLayers::most_few(), or at FloatLayers::in_tiles().
inline constexpr int kMatmulTokens = 8;
inline constexpr When kFewTokens{.max_tokens = kMatmulTokens - 1};
inline constexpr When kManyTokens{.min_tokens = kMatmulTokens};

// The extent of a matrix kernel that computes `rows` outputs in tiles.
template <class Tiles>
Extent per_tile(const Tiles& tiles, uint32_t rows, const When& when, Rows of = Rows::kTokens) {
  return {.grid = {.x = ceil_div(rows, tiles.tile_rows)},
          .axis = Axis::kY,
          .rows = of,
          .rows_per_workgroup = tiles.tile_tokens,
          .when = when};
}

// `config` with the wanted tile, or with a small one if the device has no room for it.
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

// fit(shape) returns the layout for a matrix shape, or none. Returns the layout with the largest matrices.
template <class Fit>
auto with_largest_matrices(const Features& features, const Fit& fit) {
  decltype(fit(features.matrices.front())) best;
  for (const wgsl::MatrixShape& shape : features.matrices) {
    if (best && shape.m * shape.n * shape.k <= best->shape.m * best->shape.n * best->shape.k) continue;
    if (auto config = fit(shape)) best = std::move(config);
  }
  return best;
}

// A layout, and the runs it is for.
template <class Config>
struct Tiled {
  Config config;
  When when;
};
// fit(tile) returns a layout with that tile, or with one that fits; none if there is no kernel. The big tile is for
// runs in which it makes at least `big_from` workgroups of a matrix with `rows` rows.
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
