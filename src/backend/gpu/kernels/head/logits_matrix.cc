#include "backend/gpu/kernels/head/logits_matrix.h"

#include "backend/gpu/kernels/f16_shapes.h"
#include "backend/gpu/kernels/staged_vectors.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

struct Place {
  Name<U32> first_token, split;  // of the tile; index of this subgroup
};

using LogitsQuads = StagedVectors<Vec4<F16>>;

// Computes the sums of a tile.
class LogitsTile {
 public:
  LogitsTile(const LogitsMatrixConfig& c, const In<"w", Vec4<F16>>& w, const In<"x", Vec4<F16>>& x, const Place& place,
             const LocalIndex& tid)
      : c_(c), w_(w), x_(x), place_(place), tid_(tid), staged_(shared<F16>("staged", c.staged_rows() * c.stride())) {
    CHECK(c.cols % c.block() == 0 && c.tokens % kRowsOfGroup == 0 && c.rest_at % kRowsOfGroup == 0);
  }

  // Writes [subgroup][token][row of the subgroup]. first_row(subgroup): its first row of weights.
  template <uint32_t M, uint32_t N, uint32_t K, class FirstRow>
  void multiply_as(const FirstRow& first_row, const Shared<F32>& to) {
    constexpr uint32_t kSides = 2;
    const uint32_t n_m = c_.tokens / M;
    std::vector<Var<ResultMatrix<F32, M, N>>> sums;  // [tokens][side]
    for (uint32_t i = 0; i < n_m * kSides; ++i) sums.push_back(var<ResultMatrix<F32, M, N>>("sum"));
    const LogitsQuads weights = staged_weights(first_row), activations = staged_activations();
    const auto fetch = [&](const Name<U32>& block) {
      auto w_behind = let("w_behind", block * (c_.block() / 4));
      weights.fetch(w_, w_behind);
      auto x_behind = let("x_behind_first", block * (c_.block() * kRowsOfGroup / 4));
      activations.fetch(x_, x_behind);
    };
    auto first_block = let("first_block", 0u);
    fetch(first_block);
    const uint32_t n_blocks = c_.cols / c_.block();
    loop("block", 0u, n_blocks, 1u, [&](const Name<U32>& block) {
      for (const LogitsQuads* quads : {&weights, &activations}) {
        quads->store(
            [&](const Name<Vec4<F16>>& quad, const Name<U32>& at_quad) { put_halves(staged_, at_quad, quad); });
      }
      workgroupBarrier();
      // Loaded while this block is multiplied. After the last block, that block is loaded again.
      auto next = let("next_block", min(block + 1u, n_blocks - 1));
      fetch(next);
      const auto multiply_column = [&](const Name<U32>& k) {
        std::vector<Name<RightMatrix<F16, K, N>>> sides;
        for (uint32_t side = 0; side < kSides; ++side) {
          auto row = let("w_row", place_.split * c_.rows_of_subgroup() + side * N);
          sides.push_back(subgroupMatrixLoad<RightMatrix<F16, K, N>>(staged_, row * c_.stride() + k,
                                                                     MatrixLayout::kColumnMajor, c_.stride()));
        }
        for (uint32_t m = 0; m < n_m; ++m) {
          for (const uint32_t part : {0u, 1u}) {
            const uint32_t row = c_.tile_rows() + part * c_.tokens + m * M;
            auto tokens = subgroupMatrixLoad<LeftMatrix<F16, M, K>>(staged_, k + row * c_.stride(),
                                                                    MatrixLayout::kRowMajor, c_.stride());
            for (uint32_t side = 0; side < kSides; ++side) {
              subgroupMatrixMultiplyAccumulate(tokens, sides[side], sums[m * kSides + side]);
            }
          }
        }
      };
      const bool written_out = c_.block() / K <= 4;
      for (uint32_t k = 0; written_out && k < c_.block(); k += K) multiply_column(let("k", k));
      if (!written_out) loop("k", 0u, c_.block(), K, multiply_column);
      workgroupBarrier();
    });
    for (uint32_t m = 0; m < n_m; ++m) {
      for (uint32_t side = 0; side < kSides; ++side) {
        auto token = let("tile_token", place_.split * c_.tokens + m * M);
        subgroupMatrixStore(to, token * c_.rows_of_subgroup() + side * N, sums[m * kSides + side],
                            c_.rows_of_subgroup());
      }
    }
    workgroupBarrier();
  }

 private:
  // Adjacent invocations load adjacent quads of a row.
  template <class FirstRow>
  LogitsQuads staged_weights(const FirstRow& first_row) const {
    const uint32_t quads = c_.block() / 4;
    return {"next_w", c_.tile_rows() * quads, c_.workgroup(), tid_, [&](const Name<U32>& i) {
              auto row = let("tile_row", i / quads);
              auto subgroup = let("of_subgroup", row / c_.rows_of_subgroup());
              auto first =
                  let("w_first", (first_row(subgroup) + row % c_.rows_of_subgroup()) * (c_.cols / 4) + i % quads);
              return LogitsQuads::Place{first, let("w_to", row * c_.stride() + i % quads * 4u)};
            }};
  }
  LogitsQuads staged_activations() const {
    return {"next_x", 2 * c_.tokens * c_.block() / 4, c_.workgroup(), tid_, [&](const Name<U32>& i) {
              const GroupedQuad quad = grouped_quad(i, c_.block());  // rows of both parts of x
              auto rest = let("rest", quad.row / c_.tokens * c_.rest_at);
              auto stored = let("stored", place_.first_token + quad.row % c_.tokens + rest);
              auto first = let("x_first", grouped_half(c_.cols, stored) / 4u + quad.behind);
              return LogitsQuads::Place{first, let("x_to", (quad.row + c_.tile_rows()) * c_.stride() + quad.column)};
            }};
  }

  const LogitsMatrixConfig& c_;
  const In<"w", Vec4<F16>>& w_;
  const In<"x", Vec4<F16>>& x_;
  const Place& place_;
  const LocalIndex& tid_;
  Shared<F16> staged_;  // rows of weights, then rows of both parts of the activations
};

}  // namespace

LogitsMatrixKernel logits_matrix(const LogitsMatrixConfig& c) {
  CHECK(c.tokens % c.shape.m == 0);
  return kernel(
      "logits_matrix", c.workgroup(),
      [&](In<"w", Vec4<F16>> w, In<"x", Vec4<F16>> x, TokenScales token_scales, RowRange range, ParamsBuffer params,
          Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
        auto n_rows = let("n_rows", range.get<"count">());
        auto n_tokens = n_logit_rows(params, "n_tokens");
        auto split = let("split", tid / c.subgroup);
        const uint32_t n = c.rows_of_subgroup();
        // If the last rows do not fill the tile, several subgroups compute the same rows.
        const auto first_of = [&](const auto& subgroup) {
          return let("first_row", min(wg.x * c.tile_rows() + subgroup * n, n_rows - n));
        };
        const Place place{let("first_token", wg.y * c.tokens), split};
        auto sums = shared<F32>("sums", c.tokens * c.tile_rows());
        LogitsTile tile(c, w, x, place, tid);
        const auto use = [&]<uint32_t M, uint32_t N, uint32_t K>() { tile.multiply_as<M, N, K>(first_of, sums); };
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
