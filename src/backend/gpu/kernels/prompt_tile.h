// The tile of tokens × rows that a workgroup of a prefill matrix kernel computes on subgroup matrices.
#pragma once

#include <cstdint>

namespace tern::gpu {

struct PromptTile {
  uint32_t subgroup_rows = 2, subgroup_tokens = 2;        // subgroups along each side of the tile
  uint32_t matrices_of_rows = 2, matrices_of_tokens = 2;  // subgroup matrices along each side of a subgroup's part
  uint32_t stages = 1;    // 2: the next block is staged while other subgroups still multiply this one
  uint32_t columns = 32;  // staged at a time: a multiple of 32 for float layers, 64 or 128 for ternary ones
  // For float layers: subgroups that share a part of the tile, each with the same number of staged columns. Their sums
  // are added up at the end.
  uint32_t splits = 1;
  // For float layers: blocks that are loaded before they are needed. With few tokens a block is multiplied in less time
  // than it takes to load one. It must divide the number of blocks.
  uint32_t ahead = 1;

  bool operator==(const PromptTile&) const = default;
};

// small: for batches that need small tiles to keep the whole GPU busy. big: stores less per product, for batches with
// enough tiles.
struct PromptTiles {
  PromptTile small = {}, big = {};
};

}  // namespace tern::gpu
