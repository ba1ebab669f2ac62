#include "backend/gpu/kernels/float/float_matmul_matrix.h"

#include <array>
#include <optional>
#include <span>

#include "backend/gpu/kernels/f16_shapes.h"
#include "backend/gpu/kernels/float/expert_sums.h"
#include "backend/gpu/kernels/float/staged_weights.h"
#include "backend/gpu/kernels/float/tile_results.h"
#include "backend/gpu/kernels/matrix_tile.h"
#include "backend/gpu/kernels/staged_vectors.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

// Uses the tile's number of columns if it divides c.cols, otherwise 32.
MatrixTileShape tile_shape(const FloatMatrixMatmulConfig& c, uint32_t n_matrices) {
  const uint32_t block = c.cols % c.tile.columns == 0 ? c.tile.columns : 32;
  // 16 bytes of padding after each row make rows start in different banks.
  return {.tile = c.tile,
          .shape = c.shape,
          .subgroup = c.subgroup,
          .n_matrices = n_matrices,
          .block = block,
          .stride = block + 8};
}

HalvesTile tile_of(const FloatMatrixMatmulConfig& c, uint32_t n_matrices, const Name<U32>& n_rows,
                   const Name<U32>& n_tokens, const WorkgroupId& wg, const LocalIndex& tid) {
  const MatrixTileShape shape = tile_shape(c, n_matrices);
  const bool by_rows =
      RowStage::serves(shape, c.coding, c.cols) && (n_matrices == 1 || RowStage::serves(shape, c.up_coding, c.cols));
  CHECK(c.cols % shape.block == 0 && c.cols % c.coding.values() == 0 && shape.block % (c.shape.k * c.tile.splits) == 0);
  CHECK(c.tile_rows == shape.rows() && c.tile_tokens == shape.tokens() && c.tile_tokens % kRowsOfGroup == 0);
  auto staged = shared<F16>("staged", shape.staged());
  return {matrix_tile(shape, wg, tid), c, n_tokens, n_rows, staged, by_rows};
}
HalvesTile make_tile(const FloatMatrixMatmulConfig& c, uint32_t n_matrices, const Name<U32>& n_rows,
                     const WorkgroupId& wg, const LocalIndex& tid, const ParamsBuffer& params) {
  auto n_tokens = c.of_logits ? n_logit_rows(params, "n_tokens") : let("n_tokens", params[kNTokens]);
  return tile_of(c, n_matrices, n_rows, n_tokens, wg, tid);
}
HalvesTile make_tile(const ExpertMatrixMatmulConfig& c, uint32_t n_matrices, const WorkgroupId& wg,
                     const LocalIndex& tid, const ExpertTiles& tiles) {
  const FloatMatrixMatmulConfig& m = c.linear;
  const ExpertTile expert = expert_tile(tiles, wg, m.tile_tokens, m.rows, c.own_input ? 1 : c.n_used);
  auto n_rows = let("n_rows", e(m.rows));
  HalvesTile t = tile_of(m, n_matrices, n_rows, expert.end, wg, tid);
  t.expert = expert;
  return t;
}

// Stages activations, as vec4s, because some GPUs load a matrix from storage value by value. Tokens past the end
// contain arbitrary data; their results are not stored.
StagedVectors<Vec4<F16>> staged_activations(const HalvesTile& t) {
  const uint32_t pieces = t.shape.block / kPiece, quads = t.shape.block / 4;
  return {"x_next",
          t.c.tile_tokens * quads,
          t.c.workgroup(),
          t.tid,
          [&, pieces, quads](const Name<U32>& i) {
            // By rows, sixteen invocations have a piece of four rows that lie in different banks.
            auto row = let("x_row", t.by_rows ? i / (32 * pieces) * 8u + i / 4u % 4u * 2u + i / 16u % 2u : i / quads);
            auto piece = let("x_piece", t.by_rows ? i / 32u % pieces : i % pieces);
            auto quad = let("x_quad", t.by_rows ? e(i) % 4u : i / pieces % 4u);
            auto stored = let("x_stored", t.first_token + row);
            if (t.expert) stored = t.expert->x_row(stored);
            auto first = let("x_first",
                             grouped_half(t.c.cols, stored) / 4u + piece * (kRowsOfGroup * kHalvesOfGroup / 4) + quad);
            auto place = let("x_place", t.by_rows ? piece * 4u + quad : i % quads);
            auto to = let("x_to", (row + t.shape.first_token_row()) * t.shape.stride + place * 4u);
            return StagedVectors<Vec4<F16>>::Place{first, to};
          },
          t.c.tile.ahead};
}

// The power of two of a token.
auto factors_of(const TokenScales& scales) {
  return [&](const Name<U32>& token) { return scales[token]; };
}
auto factors_of(const HalvesTile& t, const ExpertTiles& tiles) {
  return [&, at = t.expert->factors()](const Name<U32>& token) {
    auto row = t.expert->x_row(token);
    return bitcast<F32>(tiles[at + row]);
  };
}

// Calls take(row of the binding, token, each matrix's sum) for every result of this invocation that exists.
template <class Factors, class Take>
void multiply(const HalvesTile& t, const Halves& x, std::span<const WeightPlanes* const> planes, const Factors& factors,
              const Take& take) {
  std::vector<StagedWeights> weights;
  for (uint32_t i = 0; i < planes.size(); ++i) weights.emplace_back(t, *planes[i], i);
  const auto activations = staged_activations(t);
  const auto fetch = [&](const Name<U32>& block, uint32_t slot) {
    for (const StagedWeights& w : weights) w.fetch(block, slot);
    auto behind = let("x_behind_first", block * (t.shape.block * kRowsOfGroup / 4));
    activations.fetch(x, behind, slot);
  };
  const auto store = [&](const Name<U32>& block, const Name<U32>& base, uint32_t slot) {
    for (const StagedWeights& w : weights) w.store(block, base, slot);
    const auto put = [&](const Name<Vec4<F16>>& quad, const Name<U32>& to) {
      auto to_quad = let("x_to_quad", base + to);
      put_halves(t.staged, to_quad, quad);
    };
    activations.store(put, slot);
  };
  const auto use = [&]<uint32_t M, uint32_t N, uint32_t K>() {
    const TileSums<F16, F32, M, N, K> sums(t);
    sums.add_blocks(t.c.cols / t.shape.block, t.staged, fetch, store);
    take_results(t, sums, factors, take);
  };
  CHECK(with_f16_shape(t.c.shape, use));
}

}  // namespace

uint32_t FloatMatrixMatmulConfig::workgroup_bytes(uint32_t n_matrices) const {
  const MatrixTileShape in_memory = tile_shape(*this, n_matrices);
  return in_memory.staged() * 2 + in_memory.sums() * 4;
}

FloatMatrixMatmulConfig fit(FloatMatrixMatmulConfig c) {
  const MatrixTileShape shape = tile_shape(c, 1);
  c.tile_rows = shape.rows(), c.tile_tokens = shape.tokens();
  CHECK(kMostTileTokens % c.tile_tokens == 0);
  return c;
}

bool has_float_matrix_matmul(const MatrixShape& shape) {
  return with_f16_shape(shape, []<uint32_t, uint32_t, uint32_t>() {});
}

FloatMatrixMatmulKernel float_matmul_matrix(const FloatMatrixMatmulConfig& c) {
  return kernel(c.store == Store::kAdd ? "float_matmul_matrix_add" : "float_matmul_matrix", c.workgroup(),
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, Halves x, TokenScales token_scales,
                    RowRange range, ParamsBuffer params, InOut<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const WeightPlanes planes(c.coding, w, scales);
                  auto n_rows = let("n_rows", range.get<"count">());
                  const HalvesTile t = make_tile(c, 1, n_rows, wg, tid, params);
                  multiply(t, x, std::array{&planes}, factors_of(token_scales), stored_in(y, c.rows, c.store, range));
                });
}

FloatGluMatrixMatmulKernel float_glu_matmul_matrix(const FloatMatrixMatmulConfig& c) {
  return kernel("float_glu_matmul_matrix", c.workgroup(),
                [&](In<"w_gate", WeightUnits> w_gate, In<"gate_scales", U32> gate_scales, In<"w_up", WeightUnits> w_up,
                    In<"up_scales", U32> up_scales, Halves x, TokenScales token_scales, ParamsBuffer params,
                    Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const WeightPlanes gate(c.coding, w_gate, gate_scales), up(c.up_coding, w_up, up_scales);
                  auto n_rows = let("n_rows", e(c.rows));
                  const HalvesTile t = make_tile(c, 2, n_rows, wg, tid, params);
                  multiply(t, x, std::array{&gate, &up}, factors_of(token_scales), gated_in(y, c.rows, c.act));
                });
}

ExpertMatrixMatmulKernel expert_matmul_matrix(const ExpertMatrixMatmulConfig& c) {
  return kernel("expert_matmul_matrix", c.linear.workgroup(),
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, Halves x, ExpertTiles tiles, ExpertBias bias,
                    Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const WeightPlanes planes(c.linear.coding, w, scales);
                  const HalvesTile t = make_tile(c, 1, wg, tid, tiles);
                  const auto factors = factors_of(t, tiles);
                  multiply(t, x, std::array{&planes}, factors,
                           [&](const Name<U32>& row, const Name<U32>& token, const std::vector<Name<F32>>& sums) {
                             auto index = let("index", t.expert->choice(token) * c.linear.rows + row);
                             y[index] = expert_sum(c, sums[0], bias, t.expert->before, row);
                           });
                });
}

ExpertGluMatrixMatmulKernel expert_glu_matmul_matrix(const ExpertMatrixMatmulConfig& c, uint32_t n_experts) {
  return kernel("expert_glu_matmul_matrix", c.linear.workgroup(),
                [&](In<"w_gate", WeightUnits> w_gate, In<"gate_scales", U32> gate_scales, In<"w_up", WeightUnits> w_up,
                    In<"up_scales", U32> up_scales, Halves x, ExpertTiles tiles, ExpertBias bias, Out<"y", F32> y,
                    WorkgroupId wg, LocalIndex tid) {
                  const WeightPlanes gate(c.linear.coding, w_gate, gate_scales),
                      up(c.linear.up_coding, w_up, up_scales);
                  const HalvesTile t = make_tile(c, 2, wg, tid, tiles);
                  const auto factors = factors_of(t, tiles);
                  multiply(t, x, std::array{&gate, &up}, factors,
                           [&](const Name<U32>& row, const Name<U32>& token, const std::vector<Name<F32>>& sums) {
                             auto index = let("index", t.expert->choice(token) * c.linear.rows + row);
                             y[index] = expert_gated(c, n_experts, sums[0], sums[1], bias, t.expert->before, row);
                           });
                });
}

}  // namespace tern::gpu
