// Shared by the matrix kernels for prefill: a workgroup computes a tile of tokens × rows, block by block from workgroup
// memory. Each subgroup computes a part of the tile, or a share of a part's columns.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backend/gpu/kernels/common.h"
#include "backend/gpu/kernels/prompt_tile.h"
#include "backend/gpu/wgsl/subgroup_matrix.h"

namespace tern::gpu {

// The dimensions of a tile on a device. The kernel's rows belong to one matrix, or to two at a time.
struct MatrixTileShape {
  PromptTile tile;
  wgsl::MatrixShape shape;  // m counts tokens, n rows
  uint32_t subgroup;        // the size of every subgroup
  uint32_t n_matrices;
  uint32_t block, stride;     // columns staged at a time; distance between rows in workgroup memory, in values
  uint32_t sums_at_once = 1;  // subgroup matrices per subgroup and matrix of weights whose sums are written out

  uint32_t rows_of_subgroup() const { return tile.matrices_of_rows * shape.n; }  // of each matrix
  uint32_t tokens_of_subgroup() const { return tile.matrices_of_tokens * shape.m; }
  uint32_t rows() const { return rows_of_subgroup() * tile.subgroup_rows; }  // of each matrix
  uint32_t tokens() const { return tokens_of_subgroup() * tile.subgroup_tokens; }
  uint32_t parts() const { return tile.subgroup_rows * tile.subgroup_tokens; }  // parts of the tile
  uint32_t subgroups() const { return parts() * tile.splits; }
  uint32_t workgroup() const { return subgroup * subgroups(); }
  // Values of a stage in workgroup memory: the rows of each matrix, then the tokens.
  uint32_t stage() const { return (n_matrices * rows() + tokens()) * stride; }
  uint32_t staged() const { return tile.stages * stage(); }
  uint32_t first_token_row() const { return n_matrices * rows(); }
  uint32_t sums_of_matrix() const { return subgroups() * shape.m * shape.n * sums_at_once; }
  uint32_t sums() const { return n_matrices * sums_of_matrix(); }
};

// The position of a workgroup's tile, and of its subgroup in the tile.
struct MatrixTile {
  MatrixTileShape shape;
  wgsl::LocalIndex tid;
  wgsl::Name<wgsl::U32> first_row, first_token;        // in the matrix, in the batch
  wgsl::Name<wgsl::U32> subgroup;                      // index of this subgroup
  wgsl::Name<wgsl::U32> subgroup_row, subgroup_token;  // where this subgroup's part of the tile starts
  std::optional<wgsl::Name<wgsl::U32>> split;          // index among the subgroups that share a part, if several do
};

inline MatrixTile matrix_tile(const MatrixTileShape& s, const wgsl::WorkgroupId& wg, const wgsl::LocalIndex& tid) {
  using wgsl::let;
  auto first_row = let("first_row", wg.x * s.rows());
  auto first_token = let("first_token", wg.y * s.tokens());
  auto subgroup = let("subgroup", tid / s.subgroup);
  auto subgroup_row = let("subgroup_row", subgroup % s.tile.subgroup_rows * s.rows_of_subgroup());
  const bool is_split = s.tile.splits > 1;
  auto part = is_split ? let("part_of_tile", subgroup % s.parts()) : subgroup;
  auto subgroup_token = let("subgroup_token", part / s.tile.subgroup_rows * s.tokens_of_subgroup());
  MatrixTile tile{s, tid, first_row, first_token, subgroup, subgroup_row, subgroup_token, {}};
  if (is_split) tile.split = let("split", subgroup / s.parts());
  return tile;
}

// The sums of a subgroup's part: A × A → S, in matrices of M tokens, N rows and K columns.
template <class A, class S, uint32_t M, uint32_t N, uint32_t K>
class TileSums {
 public:
  explicit TileSums(const MatrixTile& t) : t_(t) {
    const uint32_t n = s().n_matrices * s().tile.matrices_of_rows * s().tile.matrices_of_tokens;
    for (uint32_t i = 0; i < n; ++i) sums_.push_back(wgsl::var<wgsl::ResultMatrix<S, M, N>>("sum"));
  }

  // For each block: stage(block, base, slot) stores the fetched block in the stage at `base`; fetch(block, slot) starts
  // loading a later one. `slot`, less than PromptTile::ahead, names the variables that hold a block until it is staged.
  template <class Staged, class Fetch, class Stage>
  void add_blocks(uint32_t n_blocks, const Staged& staged, const Fetch& fetch, const Stage& stage) const {
    using namespace wgsl;
    const uint32_t ahead = s().tile.ahead;
    CHECK(n_blocks % ahead == 0);
    for (uint32_t slot = 0; slot < ahead; ++slot) fetch(let("first_block", slot), slot);
    loop("block", 0u, n_blocks, ahead, [&](const Name<U32>& block) {
      for (uint32_t slot = 0; slot < ahead; ++slot) {
        auto this_block = slot == 0 ? block : let("this_block", block + slot);
        add_block(n_blocks, this_block, slot, staged, fetch, stage);
      }
    });
  }

  // Adds the products of K columns: `tokens` times the matrices of rows that begin at w_at.
  template <class Staged>
  void add_step(const Staged& staged, const std::vector<wgsl::Name<wgsl::LeftMatrix<A, M, K>>>& tokens,
                const wgsl::Name<wgsl::U32>& w_at) const {
    using namespace wgsl;
    for (uint32_t i = 0; i < s().n_matrices; ++i) {
      for (uint32_t n = 0; n < s().tile.matrices_of_rows; ++n) {
        auto w = subgroupMatrixLoad<RightMatrix<A, K, N>>(staged, w_at + (i * s().rows() + n * N) * s().stride,
                                                          MatrixLayout::kColumnMajor, s().stride);
        for (uint32_t m = 0; m < s().tile.matrices_of_tokens; ++m) {
          subgroupMatrixMultiplyAccumulate(tokens[m], w, sum(i, m, n));
        }
      }
    }
  }

  // Calls take(row, token, each matrix's sum) for every sum of this invocation, including those outside the matrix or
  // batch. One subgroup matrix per subgroup at a time goes through workgroup memory.
  template <class Sums, class Take>
  void for_each(const Sums& through, const Take& take) const {
    using namespace wgsl;
    auto first = let("sums_at", t_.subgroup * (M * N));
    auto first_of_part = t_.split ? let("part_at", t_.subgroup % s().parts() * (M * N)) : first;
    auto lane = let("lane", t_.tid % s().subgroup);
    if (t_.split) lane = let("lane_of_part", lane + *t_.split * s().subgroup);
    for (uint32_t m = 0; m < s().tile.matrices_of_tokens; ++m) {
      for (uint32_t n = 0; n < s().tile.matrices_of_rows; ++n) {
        workgroupBarrier();
        for (uint32_t i = 0; i < s().n_matrices; ++i) {
          subgroupMatrixStore(through, first + i * s().sums_of_matrix(), sum(i, m, n), N);
        }
        workgroupBarrier();
        loop("i", lane, M * N, s().subgroup * s().tile.splits, [&](const Name<U32>& i) {
          auto token = let("token", t_.first_token + t_.subgroup_token + i / N + m * M);
          auto row = let("row", t_.first_row + t_.subgroup_row + i % N + n * N);
          std::vector<Name<S>> sums;
          for (uint32_t w = 0; w < s().n_matrices; ++w) {
            auto sum = let("sum_of_row", through[first_of_part + i + w * s().sums_of_matrix()]);
            for (uint32_t split = 1; split < s().tile.splits; ++split) {
              const uint32_t behind = w * s().sums_of_matrix() + split * s().parts() * (M * N);
              sum = let("sum_of_row", sum + through[first_of_part + i + behind]);
            }
            sums.push_back(sum);
          }
          take(row, token, std::span<const Name<S>>(sums));
        });
      }
    }
  }

  // The same in fours of adjacent rows, sums_at_once matrices of rows at a time: take(first row, token, the sums of
  // each row, prepared). prepare(first row, token) is called before the sums are there, for those outside, too.
  template <class Sums, class Prepare, class Take>
  void for_each_four(const Sums& through, const Prepare& prepare, const Take& take) const {
    using namespace wgsl;
    CHECK(s().tile.splits == 1);
    const uint32_t n = s().sums_at_once, of_token = n * N / 4, fours = M * of_token;
    auto first = let("sums_at", t_.subgroup * (M * N * n));
    auto lane = let("lane", t_.tid % s().subgroup);
    for (uint32_t m = 0; m < s().tile.matrices_of_tokens; ++m) {
      for (uint32_t r = 0; r < s().tile.matrices_of_rows; r += n) {
        const auto token_of = [&](const Name<U32>& i) {
          return let("token", t_.first_token + t_.subgroup_token + i / of_token + m * M);
        };
        const auto row_of = [&](const Name<U32>& i) {
          return let("row", t_.first_row + t_.subgroup_row + i % of_token * 4u + r * N);
        };
        struct Four {
          Name<U32> i, row, token;
          decltype(prepare(first, first)) prepared;
        };
        std::vector<Four> all;
        for (uint32_t i = 0; i < fours; i += s().subgroup) {
          auto four = let("four", fours < s().subgroup ? min(lane, fours - 1) : lane + i);
          auto row = row_of(four), token = token_of(four);
          all.push_back({four, row, token, prepare(row, token)});
        }
        workgroupBarrier();
        for (uint32_t w = 0; w < s().n_matrices; ++w) {
          for (uint32_t k = 0; k < n; ++k)
            subgroupMatrixStore(through, first + (w * s().sums_of_matrix() + k * N), sum(w, m, r + k), n * N);
        }
        workgroupBarrier();
        for (const Four& four : all) {
          std::vector<std::vector<Name<S>>> sums(4);
          for (uint32_t i = 0; i < 4; ++i) {
            for (uint32_t w = 0; w < s().n_matrices; ++w)
              sums[i].push_back(let("sum", through[first + four.i * 4u + (w * s().sums_of_matrix() + i)]));
          }
          take(four.row, four.token, sums, four.prepared);
        }
      }
    }
  }

 private:
  const MatrixTileShape& s() const { return t_.shape; }

  template <class Staged, class Fetch, class Stage>
  void add_block(uint32_t n_blocks, const wgsl::Name<wgsl::U32>& block, uint32_t slot, const Staged& staged,
                 const Fetch& fetch, const Stage& stage) const {
    using namespace wgsl;
    auto base = let("base", s().tile.stages == 1 ? e(0u) : (block & 1u) * s().stage());
    stage(block, base, slot);
    workgroupBarrier();
    auto next = let("next_block", min(block + s().tile.ahead, n_blocks - 1));
    fetch(next, slot);  // loads while this block is multiplied
    const uint32_t columns = s().block / s().tile.splits;
    auto first = t_.split ? let("first_column", base + *t_.split * columns) : base;
    const auto multiply_columns = [&](const Name<U32>& k) { add_columns(staged, first, k); };
    const bool written_out = columns / K <= 4;
    for (uint32_t k = 0; written_out && k < columns; k += K) multiply_columns(let("k", k));
    if (!written_out) loop("k", 0u, columns, K, multiply_columns);
    // With two stages, the next block goes to the stage that all subgroups have finished reading.
    if (s().tile.stages == 1) workgroupBarrier();
  }

  template <class Staged>
  void add_columns(const Staged& staged, const wgsl::Name<wgsl::U32>& base, const wgsl::Name<wgsl::U32>& k) const {
    using namespace wgsl;
    std::vector<Name<LeftMatrix<A, M, K>>> tokens;
    auto x_at = let("x_at", base + k + t_.subgroup_token * s().stride);
    for (uint32_t m = 0; m < s().tile.matrices_of_tokens; ++m) {
      tokens.push_back(subgroupMatrixLoad<LeftMatrix<A, M, K>>(
          staged, x_at + (s().first_token_row() + m * M) * s().stride, MatrixLayout::kRowMajor, s().stride));
    }
    add_step(staged, tokens, let("w_at", base + k + t_.subgroup_row * s().stride));
  }
  const wgsl::Var<wgsl::ResultMatrix<S, M, N>>& sum(uint32_t matrix, uint32_t m, uint32_t n) const {
    return sums_[(matrix * s().tile.matrices_of_tokens + m) * s().tile.matrices_of_rows + n];
  }

  const MatrixTile& t_;
  std::vector<wgsl::Var<wgsl::ResultMatrix<S, M, N>>> sums_;
};

}  // namespace tern::gpu
