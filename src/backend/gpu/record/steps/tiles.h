// The tiles of matrix kernels, and the runs they are for.
#pragma once

#include <optional>
#include <type_traits>
#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/prompt_tile.h"
#include "backend/gpu/record/program.h"
#include "backend/gpu/record/steps/phases.h"
#include "base/bytes.h"

namespace tern::gpu {

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
// fit(tile) returns a layout with that tile, or with one that fits; none if there is no kernel.
template <class Fit>
auto in_prompt_tiles(const Layouts& layouts, const PromptTiles& tiles, uint32_t rows, const When& when,
                     const Fit& fit) {
  using Config = std::remove_cvref_t<decltype(*fit(tiles.small))>;
  const auto small = fit(tiles.small), big = fit(tiles.big);
  const auto size_of = [](const std::optional<Config>& config) {
    return config ? std::optional(TileSize{config->tile_rows, config->tile_tokens}) : std::nullopt;
  };
  std::vector<Tiled<Config>> all;
  for (const auto& phase : prompt_tile_phases(layouts, when, rows, size_of(small), size_of(big))) {
    all.push_back({phase.name == TilePhase::kBig ? *big : *small, phase.when});
  }
  return all;
}

}  // namespace tern::gpu
