#include "backend/gpu/kernels/ternary/ternary_matmul_matrix.h"

#include <algorithm>
#include <type_traits>

#include "backend/gpu/kernels/int8_shapes.h"
#include "backend/gpu/kernels/matrix_tile.h"
#include "backend/gpu/kernels/staged_vectors.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

// Columns staged at a time. The codes of two consecutive vec4s are interleaved in 128 columns: both are staged, or one.
uint32_t block_of(const TernaryMatrixMatmulConfig& c) { return c.tile.columns >= 128 ? 128 : 64; }

MatrixTileShape tile_shape(const TernaryMatrixMatmulConfig& c, uint32_t n_matrices) {
  // 16 bytes of padding after each row make rows start in different banks.
  return {.tile = c.tile,
          .shape = c.shape,
          .subgroup = c.subgroup,
          .n_matrices = n_matrices,
          .block = block_of(c),
          .stride = block_of(c) + 16,
          .sums_at_once = c.tile.matrices_of_rows % 2 == 0 ? 2u : 1u};
}

struct CodesMatrixTile : MatrixTile {
  TernaryMatrixMatmulConfig c;
  Name<U32> n_tokens;
  Shared<MatrixI8x4> staged;  // later reused for the sums
};

CodesMatrixTile make_tile(const TernaryMatrixMatmulConfig& c, uint32_t n_matrices, const WorkgroupId& wg,
                          const LocalIndex& tid, const ParamsBuffer& params) {
  const MatrixTileShape shape = tile_shape(c, n_matrices);
  CHECK(c.rows % 4 == 0 && c.cols % 4 == 0 && shape.block % c.shape.k == 0 && c.tile.splits == 1);
  CHECK(c.tile_rows == shape.rows() && c.tile_tokens == shape.tokens());
  auto staged = shared<MatrixI8x4>("staged", c.workgroup_bytes(n_matrices) / 4);
  auto n_tokens = let("n_tokens", params[kNTokens]);
  return {matrix_tile(shape, wg, tid), c, n_tokens, staged};
}

// Word k, plane p of half h of a row's 128 columns has the codes of columns 32p + 16h + 4k …. If a single half is
// staged, plane p has its columns 16p …. Both sides are staged as vec4s of adjacent words. Eight invocations store at a
// time: which rows they have is chosen so that their vec4s lie in different banks.

// Stages activations in workgroup memory. Tokens past the end load the last one again; their results are not stored.
class TokenStage {
 public:
  TokenStage(const CodesMatrixTile& t, const In<"x", QuantizedWords>& x)
      : t_(t), x_(x), words_("x_next", t.c.tile_tokens * each(), t.c.workgroup(), t.tid, [&](const Name<U32>& i) {
          auto row = let("x_row", each() == 8 ? i / 8u : i / 4u % 2u * 4u + i / 8u % 4u + i / 32u * 8u);
          auto token = let("x_token", min(t.first_token + row, t.n_tokens - 1u));
          auto first = let("x_first", token * quantized_stride(t.c.cols) + i % each() * (each() == 8 ? 1u : 2u));
          auto to = let("x_to", (row + t.shape.first_token_row()) * (t.shape.stride / 4) + i % each() * 4u);
          return StagedVectors<QuantizedWords>::Place{first, to};
        }) {}
  void fetch(const Name<U32>& block) const {
    auto behind = let("x_behind", each() == 8 ? block * 8u : (block >> 1u) * 8u + (block & 1u));
    words_.fetch(x_, behind);
  }
  void store(const Name<U32>& base) const {
    words_.store([&](const Name<QuantizedWords>& words, const Name<U32>& to) {
      auto to_words = let("x_to_words", base / 4u + to);
      for (uint32_t k = 0; k < 4; ++k) t_.staged[to_words + k] = matrix_word(at(words, k));
    });
  }

 private:
  uint32_t each() const { return t_.shape.block / 16; }  // vec4s of a token

  const CodesMatrixTile& t_;
  const In<"x", QuantizedWords>& x_;
  StagedVectors<QuantizedWords> words_;
};

// The same for a matrix's codes. Rows past its end load the last one again.
template <class Weights>
class CodeStage {
 public:
  CodeStage(const CodesMatrixTile& t, const Weights& w, uint32_t matrix)
      : t_(t), w_(w), vectors_("w_next", t.c.tile_rows * each(), t.c.workgroup(), t.tid, [&](const Name<U32>& i) {
          auto in_tile = let("w_in_tile", each() == 1 ? e(i) : i / 2u % 4u * 2u + i / 8u % 2u + i / 16u * 8u);
          auto row = let("w_row", min(t.first_row + in_tile, t.c.rows - 1));
          auto first = let("w_first", row * (whole_blocks(t.c.cols) / 64) + i % each());
          auto to = let("w_to", (in_tile + matrix * t.c.tile_rows) * (t.shape.stride / 4) + i % each() * 4u);
          return StagedVectors<TernaryWeights>::Place{first, to};
        }) {}
  void fetch(const Name<U32>& block) const {
    auto behind = let("w_behind", block * each());
    vectors_.fetch(w_, behind);
  }
  void store(const Name<U32>& base) const {
    vectors_.store([&](const Name<TernaryWeights>& words, const Name<U32>& to) {
      auto to_words = let("w_to_words", base / 4u + to);
      for (uint32_t p = 0; p < 4; ++p) {
        for (uint32_t k = 0; k < 4; ++k) {
          t_.staged[to_words + (4 * each() * p + k)] = matrix_word(codes(at(words, k), p));
        }
      }
    });
  }

 private:
  uint32_t each() const { return t_.shape.block / 64; }  // vec4s of a row

  const CodesMatrixTile& t_;
  const Weights& w_;
  StagedVectors<TernaryWeights> vectors_;
};

// What a result needs besides its sums. Loaded for four rows of a token before the sums are there.
struct OfResults {
  Name<U32> index;  // of the first in y
  ActivationScale scale;
  std::vector<Name<F32>> before;  // what y has, if the results are added to it
};

// y[…] = or += value(row, each matrix's sum, scale) for every result of this invocation that exists.
template <class Y, class Value, class... Codes>
void multiply(const CodesMatrixTile& t, const In<"x", QuantizedWords>& x, const Y& y, const Value& value,
              const Codes&... weights) {
  const TokenStage tokens(t, x);
  const auto fetch = [&](const Name<U32>& block, uint32_t) {
    tokens.fetch(block);
    (weights.fetch(block), ...);
  };
  const auto store = [&](const Name<U32>&, const Name<U32>& base, uint32_t) {
    tokens.store(base);
    (weights.store(base), ...);
  };
  const auto prepare = [&](const Name<U32>& row, const Name<U32>& token) {
    auto stored = let("stored", min(token, t.n_tokens - 1u));
    auto x_base = let("x_base", stored * quantized_stride(t.c.cols));
    const ActivationScale scale = load_activation_scale(x, x_base, t.c.cols);
    auto index = let("index", stored * t.c.rows + min(row, t.c.rows - 4));
    std::vector<Name<F32>> before;
    if constexpr (std::is_same_v<Y, InOut<"y", F32>>) {
      for (uint32_t i = 0; t.c.store == Store::kAdd && i < 4; ++i) before.push_back(let("before", y[index + i]));
    }
    return OfResults{index, scale, std::move(before)};
  };
  const auto take = [&](const Name<U32>& row, const Name<U32>& token, const auto& sums, const OfResults& of) {
    when(token < t.n_tokens && row < t.c.rows, [&] {
      for (uint32_t i = 0; i < 4; ++i) {
        auto result = let("result", value(row, i, sums[i], of.scale));
        if (of.before.empty()) {
          y[of.index + i] = result;
        } else {
          y[of.index + i] = of.before[i] + result;
        }
      }
    });
  };
  const auto use = [&]<uint32_t M, uint32_t N, uint32_t K>() {
    const TileSums<I8, I32, M, N, K> sums(t);
    sums.add_blocks(whole_blocks(t.c.cols) / t.shape.block, t.staged, fetch, store);
    sums.for_each_four(as_i32(t.staged), prepare, take);
  };
  CHECK(with_int8_shape(t.c.shape, use));
}

Name<F32> scale_of_row(const TernaryMatrixMatmulConfig& c, const Name<U32>& row, const WeightScales& scales) {
  if (c.rows_of_a == 0) return scales.get<"a">();
  auto b_or_c = let("b_or_c", select(scales.get<"c">(), scales.get<"b">(), row < c.rows_of_a + c.rows_of_b));
  return let("scale_of_row", select(b_or_c, scales.get<"a">(), row < c.rows_of_a));
}

}  // namespace

uint32_t TernaryMatrixMatmulConfig::workgroup_bytes(uint32_t n_matrices) const {
  const MatrixTileShape in_memory = tile_shape(*this, n_matrices);
  return std::max(in_memory.staged(), in_memory.sums() * 4);
}

TernaryMatrixMatmulConfig fit(TernaryMatrixMatmulConfig c) {
  const MatrixTileShape shape = tile_shape(c, 1);
  c.tile_rows = shape.rows(), c.tile_tokens = shape.tokens();
  return c;
}

bool has_matrix_matmul(const MatrixShape& shape) {
  return with_int8_shape(shape, []<uint32_t, uint32_t, uint32_t>() {});
}

TernaryMatmulKernel ternary_matmul_matrix(const TernaryMatrixMatmulConfig& c) {
  return kernel(c.store == Store::kAdd ? "ternary_matmul_matrix_add" : "ternary_matmul_matrix", c.workgroup(),
                [&](In<"w", TernaryWeights> w, In<"x", QuantizedWords> x, WeightScales scales, ParamsBuffer params,
                    InOut<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const CodesMatrixTile t = make_tile(c, 1, wg, tid, params);
                  const CodeStage codes_of_w(t, w, 0);
                  multiply(
                      t, x, y,
                      [&](const Name<U32>& row, uint32_t i, const auto& sums, const ActivationScale& scale) {
                        auto of_four = let("row_of_four", row + i);
                        return dequantize(sums[0], scale, scale_of_row(c, of_four, scales));
                      },
                      codes_of_w);
                });
}

TernaryGluMatmulKernel ternary_glu_matmul_matrix(const TernaryMatrixMatmulConfig& c) {
  return kernel("ternary_glu_matmul_matrix", c.workgroup(),
                [&](In<"w_gate", TernaryWeights> w_gate, In<"w_up", TernaryWeights> w_up, In<"x", QuantizedWords> x,
                    WeightScales scales, ParamsBuffer params, Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const CodesMatrixTile t = make_tile(c, 2, wg, tid, params);
                  const CodeStage gate(t, w_gate, 0);
                  const CodeStage up(t, w_up, 1);
                  multiply(
                      t, x, y,
                      [&](const Name<U32>&, uint32_t, const auto& sums, const ActivationScale& scale) {
                        return glu_of_dots(c.act, sums[0], sums[1], scale, scales);
                      },
                      gate, up);
                });
}

}  // namespace tern::gpu
