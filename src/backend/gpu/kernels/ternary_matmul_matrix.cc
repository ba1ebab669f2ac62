#include "backend/gpu/kernels/ternary_matmul_matrix.h"

#include "backend/gpu/kernels/int8_shapes.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

constexpr uint32_t kBlock = 128;  // columns staged at a time
// Bytes between rows in workgroup memory: a block, and 16 more so that rows start in different banks.
constexpr uint32_t kStride = kBlock + 16;

// What both kernels are made of. Staged memory: `tile_tokens` rows of activations, then `tile_rows` rows of codes of
// each matrix; afterwards the sums, [matrix][token][row].
struct Tile {
  TernaryMatrixMatmulConfig c;
  uint32_t n_matrices;
  LocalIndex tid;
  Name<U32> n_tokens;
  Name<U32> first_row, first_token;        // of the matrix
  Name<U32> subgroup_row, subgroup_token;  // of the tile: where this subgroup's part starts
  Shared<MatrixI8x4> staged;
};

Tile make_tile(const TernaryMatrixMatmulConfig& c, uint32_t n_matrices, const WorkgroupId& wg, const LocalIndex& tid,
               const ParamsBuffer& params) {
  const uint32_t part_rows = c.tile_rows / c.subgroup_rows, part_tokens = c.tile_tokens / c.subgroup_tokens;
  CHECK(c.cols % 4 == 0 && kBlock % c.shape.k == 0);
  CHECK(part_rows * c.subgroup_rows == c.tile_rows && part_rows % c.shape.n == 0);
  CHECK(part_tokens * c.subgroup_tokens == c.tile_tokens && part_tokens % c.shape.m == 0);
  auto staged = shared<MatrixI8x4>("staged", c.workgroup_bytes(n_matrices) / 4);
  auto n_tokens = let("n_tokens", params[kNTokens]);
  auto first_row = let("first_row", wg.x * c.tile_rows);
  auto first_token = let("first_token", wg.y * c.tile_tokens);
  auto subgroup = let("subgroup", tid / c.subgroup);
  auto subgroup_row = let("subgroup_row", subgroup % c.subgroup_rows * part_rows);
  auto subgroup_token = let("subgroup_token", subgroup / c.subgroup_rows * part_tokens);
  return {c, n_matrices, tid, n_tokens, first_row, first_token, subgroup_row, subgroup_token, staged};
}

// body(i) for i = tid, tid + workgroup, … below n.
template <class Body>
void for_share(const Tile& t, uint32_t n, Body&& body) {
  loop("i", t.tid, n, t.c.workgroup(), body);
}

// Tokens and rows past the end load the last one again; nobody stores what comes of them.
void stage_tokens(const Tile& t, const In<"x", QuantizedWords>& x, const Name<U32>& block) {
  constexpr uint32_t kQuads = kBlock / 16;
  for_share(t, t.c.tile_tokens * kQuads, [&](const Name<U32>& i) {
    auto token = let("token", min(t.first_token + i / kQuads, t.n_tokens - 1u));
    auto q4 = let("q4", x[token * quantized_stride(t.c.cols) + block * kQuads + i % kQuads]);
    auto to = let("to", i / kQuads * (kStride / 4) + i % kQuads * 4u);
    for (uint32_t k = 0; k < 4; ++k) t.staged[to + k] = matrix_word(at(q4, k));
  });
}

// Half h of a row's block has in word k, plane p, the codes of columns 32p + 16h + 4k ….
template <class W>
void stage_codes(const Tile& t, const W& w, uint32_t matrix, const Name<U32>& block) {
  const uint32_t start = (t.c.tile_tokens + matrix * t.c.tile_rows) * (kStride / 4);
  for_share(t, t.c.tile_rows * 2, [&](const Name<U32>& i) {
    auto row = let("row", min(t.first_row + i / 2u, t.c.rows - 1));
    auto w4 = let("w4", w[row * (whole_blocks(t.c.cols) / 64) + block * 2u + i % 2u]);
    auto to = let("to", start + i / 2u * (kStride / 4) + i % 2u * 4u);
    for (uint32_t k = 0; k < 4; ++k) {
      for (uint32_t p = 0; p < 4; ++p) t.staged[to + (8 * p + k)] = matrix_word(codes(at(w4, k), p));
    }
  });
}

template <uint32_t M, uint32_t N, uint32_t K>
class Multiplier {
 public:
  explicit Multiplier(const Tile& t)
      : t_(t), n_m_(t.c.tile_tokens / t.c.subgroup_tokens / M), n_n_(t.c.tile_rows / t.c.subgroup_rows / N) {
    for (uint32_t i = 0; i < t.n_matrices * n_m_ * n_n_; ++i) sums_.push_back(var<ResultMatrix<I32, M, N>>("sums"));
  }

  void multiply_block() const {
    if constexpr (kBlock / K <= 4) {
      for (uint32_t k = 0; k < kBlock; k += K) multiply_columns([k](Temp<U32> row) { return std::move(row) + k; });
    } else {
      loop("k", 0u, kBlock, K,
           [&](const Name<U32>& k) { multiply_columns([&](Temp<U32> row) { return std::move(row) + k; }); });
    }
  }

  void store(const Shared<I32>& to) const {
    for (uint32_t i = 0; i < t_.n_matrices; ++i) {
      for (uint32_t m = 0; m < n_m_; ++m) {
        for (uint32_t n = 0; n < n_n_; ++n) {
          auto token = let("tile_token", t_.subgroup_token + (i * t_.c.tile_tokens + m * M));
          subgroupMatrixStore(to, token * t_.c.tile_rows + t_.subgroup_row + n * N, sum(i, m, n), t_.c.tile_rows);
        }
      }
    }
  }

 private:
  // K columns; `from_row(start)` is where they are in the row of staged memory that starts at `start`.
  template <class FromRow>
  void multiply_columns(FromRow&& from_row) const {
    std::vector<Name<LeftMatrix<I8, M, K>>> x;
    for (uint32_t m = 0; m < n_m_; ++m) {
      x.push_back(subgroupMatrixLoad<LeftMatrix<I8, M, K>>(t_.staged, from_row((t_.subgroup_token + m * M) * kStride),
                                                           MatrixLayout::kRowMajor, kStride));
    }
    for (uint32_t i = 0; i < t_.n_matrices; ++i) {
      for (uint32_t n = 0; n < n_n_; ++n) {
        const uint32_t start = t_.c.tile_tokens + i * t_.c.tile_rows + n * N;
        auto w = subgroupMatrixLoad<RightMatrix<I8, K, N>>(t_.staged, from_row((t_.subgroup_row + start) * kStride),
                                                           MatrixLayout::kColumnMajor, kStride);
        for (uint32_t m = 0; m < n_m_; ++m) subgroupMatrixMultiplyAccumulate(x[m], w, sum(i, m, n));
      }
    }
  }

  const Var<ResultMatrix<I32, M, N>>& sum(uint32_t matrix, uint32_t m, uint32_t n) const {
    return sums_[(matrix * n_m_ + m) * n_n_ + n];
  }

  const Tile& t_;
  uint32_t n_m_, n_n_;  // matrices of a subgroup's part: along tokens, along rows
  std::vector<Var<ResultMatrix<I32, M, N>>> sums_;
};

// All blocks; returns where the sums are. `stage` puts a block into workgroup memory.
template <uint32_t M, uint32_t N, uint32_t K, class Stage>
Shared<I32> multiply_as(const Tile& t, Stage&& stage) {
  const Multiplier<M, N, K> multiplier(t);
  loop("block", 0u, whole_blocks(t.c.cols) / kBlock, 1u, [&](const Name<U32>& block) {
    stage(block);
    workgroupBarrier();
    multiplier.multiply_block();
    workgroupBarrier();
  });
  const Shared<I32> sums = as_i32(t.staged);
  multiplier.store(sums);
  workgroupBarrier();
  return sums;
}

template <class Stage>
Shared<I32> multiply(const Tile& t, Stage&& stage) {
  Shared<I32> sums;
  const auto use = [&]<uint32_t M, uint32_t N, uint32_t K>() { sums = multiply_as<M, N, K>(t, stage); };
  CHECK(with_int8_shape(t.c.shape, use));
  return sums;
}

// body(index of y, index of the first matrix's sum, scale) for every result of this invocation that exists.
template <class Body>
void for_results(const Tile& t, const In<"x", QuantizedWords>& x, Body&& body) {
  for_share(t, t.c.tile_tokens * t.c.tile_rows, [&](const Name<U32>& i) {
    auto token = let("token", t.first_token + i / t.c.tile_rows);
    auto row = let("row", t.first_row + i % t.c.tile_rows);
    when(token < t.n_tokens && row < t.c.rows, [&] {
      auto x_base = let("x_base", token * quantized_stride(t.c.cols));
      const ActivationScale scale = load_activation_scale(x, x_base, t.c.cols);
      auto index = let("index", token * t.c.rows + row);
      body(index, i, scale);
    });
  });
}

}  // namespace

uint32_t TernaryMatrixMatmulConfig::workgroup_bytes(uint32_t n_matrices) const {
  return std::max((tile_tokens + n_matrices * tile_rows) * kStride, n_matrices * tile_tokens * tile_rows * 4);
}

TernaryMatrixMatmulConfig fit(TernaryMatrixMatmulConfig c) {
  c.tile_rows = 2 * c.shape.n * c.subgroup_rows;
  c.tile_tokens = 2 * c.shape.m * c.subgroup_tokens;
  return c;
}

bool has_matrix_matmul(const MatrixShape& shape) {
  return with_int8_shape(shape, []<uint32_t, uint32_t, uint32_t>() {});
}

TernaryMatmulKernel ternary_matmul_matrix(const TernaryMatrixMatmulConfig& c) {
  return kernel(c.store == Store::kAdd ? "ternary_matmul_matrix_add" : "ternary_matmul_matrix", c.workgroup(),
                [&](In<"w", TernaryWeights> w, In<"x", QuantizedWords> x, WeightScales scales, ParamsBuffer params,
                    InOut<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const Tile t = make_tile(c, 1, wg, tid, params);
                  const Shared<I32> sums = multiply(t, [&](const Name<U32>& block) {
                    stage_tokens(t, x, block);
                    stage_codes(t, w, 0, block);
                  });
                  for_results(t, x, [&](const Name<U32>& index, const Name<U32>& i, const ActivationScale& scale) {
                    auto dot = let("sum", sums[i]);
                    auto value = let("value", dequantise(dot, scale, scales.get<"a">()));
                    store_linear(c.store, y, index, value);
                  });
                });
}

TernaryGluMatmulKernel ternary_glu_matmul_matrix(const TernaryMatrixMatmulConfig& c) {
  return kernel("ternary_glu_matmul_matrix", c.workgroup(),
                [&](In<"w_gate", TernaryWeights> w_gate, In<"w_up", TernaryWeights> w_up, In<"x", QuantizedWords> x,
                    WeightScales scales, ParamsBuffer params, Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const Tile t = make_tile(c, 2, wg, tid, params);
                  const Shared<I32> sums = multiply(t, [&](const Name<U32>& block) {
                    stage_tokens(t, x, block);
                    stage_codes(t, w_gate, 0, block);
                    stage_codes(t, w_up, 1, block);
                  });
                  for_results(t, x, [&](const Name<U32>& index, const Name<U32>& i, const ActivationScale& scale) {
                    auto gate_dot = let("gate_sum", sums[i]);
                    auto up_dot = let("up_sum", sums[i + c.tile_tokens * c.tile_rows]);
                    y[index] = glu_of_dots(c.act, gate_dot, up_dot, scale, scales);
                  });
                });
}

}  // namespace tern::gpu
