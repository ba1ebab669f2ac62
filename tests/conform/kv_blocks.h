// Keys and values of one sequence in host KV blocks, and rows that refer to them.
#pragma once

#include <numeric>
#include <random>
#include <vector>

#include "backend/kv_layout.h"

namespace tern::conform {

// KV blocks of one layer for n_positions, with guard bytes between them, in shuffled order in memory.
class KvOfOneLayer {
 public:
  KvOfOneLayer(int n_kv_heads, int head_dim, int n_positions, KvType type, unsigned seed = 1) {
    const auto side = static_cast<size_t>(n_kv_heads) * kKvBlock * kv_head_bytes(head_dim, type);
    layer = {type, n_kv_heads, head_dim, kGap, kGap + side};
    bytes_each_ = 2 * side + kGap;
    const auto n = static_cast<size_t>(kv_blocks_for(n_positions));
    bytes_.assign(n * bytes_each_ + kGap, kPattern);
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    for (const size_t place : order) table_.push_back(bytes_.data() + place * bytes_each_);
  }

  // `n` rows at consecutive positions, and their tiles.
  struct Rows {
    std::vector<ops::KvRow> rows;
    std::vector<ops::RowTile> tiles;
  };
  Rows rows(int n, int first_pos) const {
    Rows made;
    for (int i = 0; i < n; ++i) made.rows.push_back({table_.data(), first_pos + i});
    for (int i = 0; i < n; i += ops::kTileRows) made.tiles.push_back({i, std::min(ops::kTileRows, n - i)});
    return made;
  }

  // The bytes of all blocks, in the order of their positions.
  std::vector<std::byte> values() const {
    std::vector<std::byte> all;
    for (std::byte* block : table_) all.insert(all.end(), block + kGap, block + bytes_each_);
    return all;
  }
  const std::byte* block(size_t index) const { return table_[index]; }
  // True while the guard bytes between the blocks are unchanged.
  bool intact() const {
    for (size_t at = 0; at < bytes_.size(); at += bytes_each_) {
      for (size_t i = 0; i < kGap; ++i) {
        if (bytes_[at + i] != kPattern) return false;
      }
    }
    return true;
  }

  ops::KvLayer layer;

 private:
  static constexpr size_t kGap = 64;
  static constexpr std::byte kPattern{0xA5};
  size_t bytes_each_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<std::byte*> table_;
};

}  // namespace tern::conform
