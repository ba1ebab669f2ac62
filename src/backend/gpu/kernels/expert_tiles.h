// Mixtures of experts, for many tokens: the tokens' choices in tiles of one expert each, so that an expert's matrices
// are read once per tile.
#pragma once

#include "backend/gpu/kernels/common.h"
#include "base/bytes.h"

namespace tern::gpu {

// The number of tiles, and where the factors of x's rows are (float/halve_tokens.h), since kernels have no binding left
// for these. Then, for each tile, its expert, the number of its choices, and the choices as token · n_used + place in
// `chosen` (experts.h). The rest of a tile names choice 0.
using ExpertTiles = wgsl::In<"tiles", wgsl::U32>;

struct ExpertTilesConfig {
  uint32_t n_experts, n_used;
  uint32_t tokens;      // of a tile
  uint32_t factors_at;  // index of a float
  Caps caps;
  uint32_t workgroup;

  bool operator==(const ExpertTilesConfig&) const = default;
};
using ExpertTilesKernel = wgsl::Kernel<wgsl::In<"chosen", wgsl::F32>, ParamsBuffer, wgsl::Out<"tiles", wgsl::U32>,
                                       wgsl::WorkgroupId, wgsl::LocalIndex>;
// Each workgroup counts all choices, and writes the tiles of one expert. Grid: [n_experts].
ExpertTilesKernel expert_tiles(const ExpertTilesConfig& c);

inline constexpr uint32_t kExpertTilesHead = 2, kExpertTileHead = 2;  // words before the tiles, before a tile's choices

// The most tiles beyond ⌈choices / tokens⌉: each expert may have an incomplete one.
constexpr uint32_t more_expert_tiles(uint32_t n_experts) { return n_experts - 1; }
constexpr uint64_t expert_tiles_bytes(uint64_t n_choices, uint32_t n_experts, uint32_t tokens) {
  return 4 * (kExpertTilesHead +
              (ceil_div(n_choices, uint64_t{tokens}) + more_expert_tiles(n_experts)) * (kExpertTileHead + tokens));
}

// The tile of a workgroup. Tokens of all tiles are numbered one after another, whole tiles each.
struct ExpertTile {
  ExpertTiles tiles;
  wgsl::Name<wgsl::U32> expert, end;    // `end`: behind the last token of this tile
  wgsl::Name<wgsl::U32> first, before;  // where the choice of token 0 would be; the rows of experts before this one
  uint32_t choices_of_row;              // that share a row of x

  wgsl::Temp<wgsl::U32> choice(const wgsl::Name<wgsl::U32>& token) const { return tiles[first + token]; }
  wgsl::Name<wgsl::U32> x_row(const wgsl::Name<wgsl::U32>& token) const {
    auto of_x = choice(token);
    return wgsl::let("row_of_x", choices_of_row == 1 ? std::move(of_x) : std::move(of_x) / choices_of_row);
  }
  wgsl::Name<wgsl::U32> factors() const { return wgsl::let("factors_at", tiles[1u]); }
};

// Tile wg.y. Ends the workgroup if there is none. `rows`: those of each expert's matrix.
inline ExpertTile expert_tile(const ExpertTiles& tiles, const wgsl::WorkgroupId& wg, uint32_t tokens, uint32_t rows,
                              uint32_t choices_of_row) {
  using namespace wgsl;
  when(wg.y >= tiles[0u], [] { return_(); });
  auto head = let("head", wg.y * (kExpertTileHead + tokens) + kExpertTilesHead);
  auto expert = let("expert", tiles[e(head)]);
  auto end = let("end_of_tile", wg.y * tokens + tiles[head + 1u]);
  auto first = let("first_choice", wg.y * kExpertTileHead + (kExpertTilesHead + kExpertTileHead));
  return {tiles, expert, end, first, let("rows_before", expert * rows), choices_of_row};
}

}  // namespace tern::gpu
