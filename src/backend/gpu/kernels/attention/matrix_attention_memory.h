// Workgroup memory of attention on subgroup matrices, how keys and values get there, and its softmax's slack. Included
// only by the files of its kernels.
#pragma once

#include <algorithm>
#include <vector>

#include "backend/gpu/kernels/attention/matrix_attention.h"
#include "backend/gpu/kernels/staged_vectors.h"

namespace tern::gpu {

// Distance between rows in workgroup memory: 16 bytes of padding make rows start in different banks.
inline uint32_t stride_of_halves(uint32_t n) { return n + 8; }
inline uint32_t stride_of_floats(uint32_t n) { return n + 4; }

// Only the first is used. Matrices must begin at multiples of 16 bytes in workgroup memory, which holds if all arrays
// there are multiples of 16 bytes.
inline constexpr uint32_t kFlags = 4;

// Staged at the same place: queries; or keys and then values, [chunk, head_dim] each.
inline uint32_t staged_halves(const MatrixAttentionConfig& c) {
  return std::max(c.tokens(), 2 * c.chunk) * stride_of_halves(c.heads.head_dim);
}

// How far, in powers of two, a score may exceed the reference score m of the weights before the earlier sums are scaled
// down. Weights stay below 2^8, which an f16 holds as precisely as weights below 1.
inline constexpr float kSlack = 8;

// Moves a chunk's keys or values from the cache to workgroup memory. Adjacent invocations take adjacent quads of a
// position: loads from as many positions would take longer than the rest of a kernel. So would the computation of each
// address from its position; where an invocation's quads are equally far apart, they differ by constants.
template <class KvWord>
class ChunkOfCache {
 public:
  // chunk: positions, within a block of the cache. workgroup divides the chunk's quads.
  ChunkOfCache(const HeadShape& heads, uint32_t chunk, uint32_t workgroup, const wgsl::LocalIndex& tid)
      : heads_(heads), size_(chunk * quads() / workgroup), workgroup_(workgroup), tid_(tid), first_(share_at(tid_)) {
    CHECK(chunk * quads() % workgroup == 0);
  }

  // Stages the chunk that starts at position `first` of `block` as f16 [chunk, head_dim] from `start` on. kv_row: the
  // head for keys, n_kv_heads more for values. Positions after last_pos repeat it.
  template <class Kv>
  void stage(const Kv& kv, const wgsl::Name<wgsl::U32>& block, const wgsl::Name<wgsl::U32>& first,
             const wgsl::Name<wgsl::U32>& last_pos, const wgsl::Name<wgsl::U32>& kv_row,
             const wgsl::Shared<wgsl::F16>& staged, uint32_t start) const {
    using namespace wgsl;
    auto first_row = let("first_row", kv_place(heads_, block, kv_row, first) * row_quads());
    auto last_row = let("last_row", (last_pos - first) * row_quads());
    struct Moved {
      Share share;
      Name<U32> row;
      Name<typename Kv::Element> quad;
    };
    std::vector<Moved> all;
    for (uint32_t i = 0; i < size_; ++i) {
      const Share share = share_of(i);
      auto row = let("kv_row", first_row + min(share.row, last_row));
      all.push_back({share, row, let("kv4", kv[row + share.quad])});
    }
    for (const Moved& m : all) {
      auto to = let("to", m.share.to + start);
      if constexpr (kHasKvScales<KvWord>) {
        auto group = let("group", m.share.quad / (kScaleGroup / 4));
        auto scale = kv_scale_at(kv, m.row, group, heads_.head_dim);
        put_halves(staged, to, let("values", int8_values(m.quad) * scale));
      } else {
        put_halves(staged, to, m.quad);
      }
    }
  }

 private:
  // row: of the cache, from that of the chunk's first position, in quads. to: the place in workgroup memory.
  struct Share {
    wgsl::Name<wgsl::U32> row, quad, to;
  };

  uint32_t quads() const { return heads_.head_dim / 4; }
  uint32_t row_quads() const { return kv_row_quads<KvWord>(heads_.head_dim); }
  Share share_at(const wgsl::Name<wgsl::U32>& v) const {
    using namespace wgsl;
    auto position = let("position", v / quads());
    auto quad = let("kv_quad", v % quads());
    auto to = let("to_row", position * stride_of_halves(heads_.head_dim) + quad * 4u);
    return {let("row_of_position", position * row_quads()), quad, to};
  }
  Share share_of(uint32_t i) const {
    using namespace wgsl;
    if (i == 0) return first_;
    if (workgroup_ % quads() != 0) return share_at(let("v", tid_ + i * workgroup_));
    const uint32_t positions = i * (workgroup_ / quads());
    return {let("row_of_position", first_.row + positions * row_quads()), first_.quad,
            let("to_row", first_.to + positions * stride_of_halves(heads_.head_dim))};
  }

  HeadShape heads_;
  uint32_t size_, workgroup_;  // size_: quads of each invocation
  wgsl::LocalIndex tid_;
  Share first_;
};

}  // namespace tern::gpu
