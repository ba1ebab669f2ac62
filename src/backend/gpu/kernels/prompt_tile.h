// The tile of tokens × rows that a workgroup of a prompt's matrix kernels computes on subgroup matrices.
#pragma once

#include <cstdint>

namespace tern::gpu {

struct PromptTile {
  uint32_t subgroup_rows = 2, subgroup_tokens = 2;        // subgroups along each side of the tile
  uint32_t matrices_of_rows = 2, matrices_of_tokens = 2;  // subgroup matrices along each side of a subgroup's part
  uint32_t stages = 1;    // 2: the next block is staged while others still multiply this one
  uint32_t columns = 32;  // of float layers that are staged at a time: a multiple of 32
  // Of float layers: subgroups that share a part of the tile, each with as many of the staged columns. Their sums are
  // added up at the end.
  uint32_t splits = 1;

  bool operator==(const PromptTile&) const = default;
};

// A small tile, for there must be workgroups for all of a GPU; and one that stores less for each product, where there
// are enough of it.
struct PromptTiles {
  PromptTile small = {}, big = {};
};

}  // namespace tern::gpu
