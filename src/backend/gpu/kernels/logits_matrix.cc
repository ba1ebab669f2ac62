#include "backend/gpu/kernels/logits_matrix.h"

#include "backend/gpu/kernels/f16_shapes.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

constexpr uint32_t kBlock = 32;  // columns whose loads are on their way together

struct Place {
  Name<U32> first_row, first_token, split;  // of the subgroup, of the tile, and which subgroup this is
};

// The tile's sums, [subgroup][token][row of the subgroup].
template <uint32_t M, uint32_t N, uint32_t K>
void multiply_as(const LogitsMatrixConfig& c, const In<"w", F16>& w, const Halves& x, const Place& place,
                 const Shared<F32>& to) {
  constexpr uint32_t kSides = 2;
  const uint32_t n_m = c.tokens / M;
  std::vector<Var<ResultMatrix<F32, M, N>>> sums;  // [tokens][side]
  for (uint32_t i = 0; i < n_m * kSides; ++i) sums.push_back(var<ResultMatrix<F32, M, N>>("sum"));
  std::vector<Name<U32>> x_starts, w_starts;
  for (const uint32_t first : {0u, c.rest_at}) {
    for (uint32_t m = 0; m < n_m; ++m) {
      auto row = let("x_row", place.first_token + (first + m * M));
      x_starts.push_back(let("x_start", grouped_half(c.cols, row)));
    }
  }
  for (uint32_t side = 0; side < kSides; ++side) {
    w_starts.push_back(let("w_start", (place.first_row + side * N) * c.cols));
  }
  loop("block", 0u, c.cols / kBlock, 1u, [&](const Name<U32>& block) {
    std::vector<Name<RightMatrix<F16, K, N>>> right;
    std::vector<Name<LeftMatrix<F16, M, K>>> left;
    for (uint32_t k = 0; k < kBlock; k += K) {
      for (const auto& start : w_starts) {
        right.push_back(subgroupMatrixLoad<RightMatrix<F16, K, N>>(w, start + block * kBlock + k,
                                                                   MatrixLayout::kColumnMajor, c.cols));
      }
      for (const auto& start : x_starts) {
        left.push_back(subgroupMatrixLoad<LeftMatrix<F16, M, K>>(
            x, start + block * (kBlock * kRowsOfGroup) + grouped_column(k), MatrixLayout::kRowMajor, kHalvesOfGroup));
      }
    }
    for (uint32_t k = 0; k < kBlock / K; ++k) {
      for (uint32_t m = 0; m < n_m; ++m) {
        for (uint32_t side = 0; side < kSides; ++side) {
          const auto& sum = sums[m * kSides + side];
          const auto& side_of_w = right[k * kSides + side];
          subgroupMatrixMultiplyAccumulate(left[k * 2 * n_m + m], side_of_w, sum);
          subgroupMatrixMultiplyAccumulate(left[k * 2 * n_m + n_m + m], side_of_w, sum);
        }
      }
    }
  });
  for (uint32_t m = 0; m < n_m; ++m) {
    for (uint32_t side = 0; side < kSides; ++side) {
      auto token = let("tile_token", place.split * c.tokens + m * M);
      subgroupMatrixStore(to, token * c.rows_of_subgroup() + side * N, sums[m * kSides + side], c.rows_of_subgroup());
    }
  }
  workgroupBarrier();
}

}  // namespace

LogitsMatrixKernel logits_matrix(const LogitsMatrixConfig& c) {
  CHECK(c.cols % kBlock == 0 && c.tokens % c.shape.m == 0 && c.rest_at % kRowsOfGroup == 0);
  return kernel(
      "logits_matrix", c.workgroup(),
      [&](In<"w", F16> w, Halves x, TokenScales token_scales, RowRange range, ParamsBuffer params, Out<"y", F32> y,
          WorkgroupId wg, LocalIndex tid) {
        auto n_rows = let("n_rows", range.get<"count">());
        auto list = let("list", params[kLogitRows]);
        auto n_tokens = let("n_tokens", params[list - 1u]);
        auto split = let("split", tid / c.subgroup);
        const uint32_t n = c.rows_of_subgroup();
        // The last rows are computed by more than one subgroup, where they do not fill the tile.
        const auto first_of = [&](const auto& subgroup) {
          return let("first_row", min(wg.x * c.tile_rows() + subgroup * n, n_rows - n));
        };
        const Place place{first_of(split), let("first_token", wg.y * c.tokens), split};
        auto sums = shared<F32>("sums", c.tokens * c.tile_rows());
        const auto use = [&]<uint32_t M, uint32_t N, uint32_t K>() { multiply_as<M, N, K>(c, w, x, place, sums); };
        CHECK(with_f16_shape(c.shape, use));
        loop("i", tid, c.tokens * c.tile_rows(), c.workgroup(), [&](const Name<U32>& i) {
          auto token = let("token", place.first_token + i / n % c.tokens);
          auto of_subgroup = let("of_subgroup", i / (n * c.tokens));
          auto first = first_of(of_subgroup);
          when(token < n_tokens,
               [&] { y[token * c.rows + range.get<"first">() + first + i % n] = sums[i] / token_scales[token]; });
        });
      });
}

}  // namespace tern::gpu
