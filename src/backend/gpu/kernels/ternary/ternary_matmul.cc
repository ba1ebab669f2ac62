#include "backend/gpu/kernels/ternary/ternary_matmul.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

// vec4s of a block of 128 columns: of a row of weights and of a row of activations. The strides between rows in
// workgroup memory are larger, so that the rows that one load touches start in different banks.
constexpr uint32_t kWeightQuads = 2, kWeightStride = 3;
constexpr uint32_t kTokenQuads = 8, kTokenStride = 9;
constexpr uint32_t kCodesSide = TernaryMatmulConfig::kSide;
constexpr uint32_t kCodesWorkgroup = kCodesSide * kCodesSide;

struct CodesTile {
  TernaryMatmulConfig c;
  WorkgroupId wg;
  LocalIndex tid;
  Name<U32> n_tokens;
  Name<U32> my_row, my_token;        // in the tile: 0 … 15
  Name<U32> first_row, first_token;  // in the matrix, in the batch
};

CodesTile make_tile(const TernaryMatmulConfig& c, const WorkgroupId& wg, const LocalIndex& tid,
                    const ParamsBuffer& params) {
  CHECK(c.cols % 4 == 0 && c.tile_rows % kCodesSide == 0 && c.tile_tokens % kCodesSide == 0);
  auto n_tokens = let("n_tokens", params[kNTokens]);
  auto my_row = let("my_row", tid % kCodesSide);
  auto my_token = let("my_token", tid / kCodesSide);
  auto first_row = let("first_row", wg.x * c.tile_rows);
  auto first_token = let("first_token", wg.y * c.tile_tokens);
  return {c, wg, tid, n_tokens, my_row, my_token, first_row, first_token};
}

template <class Body>
void for_share(const LocalIndex& tid, uint32_t n, const Body& body) {
  unrolled_share("i", tid, kCodesWorkgroup, 0, n, kCodesWorkgroup, body);
}

// Rows past the end load the last row again; their results are not stored.
template <class W>
void stage_weights(const CodesTile& t, const W& w, const Shared<TernaryWeights>& staged, const Name<U32>& block) {
  for_share(t.tid, t.c.tile_rows * kWeightQuads, [&](const Name<U32>& i) {
    auto row = let("row", min(t.first_row + i / kWeightQuads, t.c.rows - 1));
    auto part = let("part", i % kWeightQuads);
    staged[i / kWeightQuads * kWeightStride + part] =
        w[row * (whole_blocks(t.c.cols) / 64) + block * kWeightQuads + part];
  });
}

void stage_tokens(const CodesTile& t, const In<"x", QuantizedWords>& x, const Shared<QuantizedWords>& staged,
                  const Name<U32>& block) {
  for_share(t.tid, t.c.tile_tokens * kTokenQuads, [&](const Name<U32>& i) {
    auto token = let("token", min(t.first_token + i / kTokenQuads, t.n_tokens - 1u));
    auto part = let("part", i % kTokenQuads);
    staged[i / kTokenQuads * kTokenStride + part] = x[token * quantized_stride(t.c.cols) + block * kTokenQuads + part];
  });
}

using CodeSums = std::vector<Var<I32>>;  // [rows of the invocation, tokens of the invocation]

CodeSums make_sums(const CodesTile& t) {
  CodeSums sums;
  for (uint32_t i = 0; i < t.c.tile_rows * t.c.tile_tokens / kCodesWorkgroup; ++i) sums.push_back(var("acc", 0));
  return sums;
}

// Adds one block to the `sums` of each matrix.
void multiply_block(const CodesTile& t, const Dot4& dot4, const std::vector<Shared<TernaryWeights>>& weights,
                    const Shared<QuantizedWords>& tokens, const std::vector<CodeSums>& sums) {
  const uint32_t n_rows = t.c.tile_rows / kCodesSide, n_tokens = t.c.tile_tokens / kCodesSide;
  for (uint32_t h = 0; h < kWeightQuads; ++h) {
    std::vector<std::vector<Name<TernaryWeights>>> w(weights.size());
    for (size_t m = 0; m < weights.size(); ++m) {
      for (uint32_t r = 0; r < n_rows; ++r) {
        w[m].push_back(let("w4", weights[m][(t.my_row + r * kCodesSide) * kWeightStride + h]));
      }
    }
    for (uint32_t p = 0; p < 4; ++p) {
      std::vector<Name<QuantizedWords>> q;
      for (uint32_t j = 0; j < n_tokens; ++j) {
        q.push_back(let("q4", tokens[(t.my_token + j * kCodesSide) * kTokenStride + (2 * p + h)]));
      }
      for (size_t m = 0; m < weights.size(); ++m) {
        for (uint32_t r = 0; r < n_rows; ++r) {
          for (uint32_t k = 0; k < 4; ++k) {
            auto code = let("code", codes(at(w[m][r], k), p));
            for (uint32_t j = 0; j < n_tokens; ++j) sums[m][r * n_tokens + j] += dot4(code, at(q[j], k));
          }
        }
      }
    }
  }
}

// The dot products of the tile with one or two matrices. `weights` and `tokens` are workgroup memory.
template <class... W>
std::vector<CodeSums> multiply_tile(const CodesTile& t, const Dot4& dot4, const In<"x", QuantizedWords>& x,
                                    const Shared<QuantizedWords>& tokens,
                                    const std::vector<Shared<TernaryWeights>>& weights, const W&... matrices) {
  std::vector<CodeSums> sums;
  for (size_t m = 0; m < sizeof...(W); ++m) sums.push_back(make_sums(t));
  loop("block", 0u, whole_blocks(t.c.cols) / 128, 1u, [&](const Name<U32>& block) {
    size_t m = 0;
    (stage_weights(t, matrices, weights[m++], block), ...);
    stage_tokens(t, x, tokens, block);
    workgroupBarrier();
    multiply_block(t, dot4, weights, tokens, sums);
    workgroupBarrier();
  });
  return sums;
}

// Calls body(index of y, index of the dot product, scale) for every result of this invocation that exists.
template <class Body>
void for_results(const CodesTile& t, const In<"x", QuantizedWords>& x, Body&& body) {
  const uint32_t n_rows = t.c.tile_rows / kCodesSide, n_tokens = t.c.tile_tokens / kCodesSide;
  for (uint32_t j = 0; j < n_tokens; ++j) {
    auto token = let("token", t.first_token + t.my_token + j * kCodesSide);
    when(token < t.n_tokens, [&] {
      auto x_base = let("x_base", token * quantized_stride(t.c.cols));
      const ActivationScale scale = load_activation_scale(x, x_base, t.c.cols);
      for (uint32_t r = 0; r < n_rows; ++r) {
        auto row = let("row", t.first_row + t.my_row + r * kCodesSide);
        const auto store = [&] { body(let("index", token * t.c.rows + row), r * n_tokens + j, scale); };
        if (t.c.rows % t.c.tile_rows == 0) {
          store();
        } else {
          when(row < t.c.rows, store);
        }
      }
    });
  }
}

}  // namespace

TernaryMatmulKernel ternary_matmul(const TernaryMatmulConfig& c) {
  return kernel(c.store == Store::kAdd ? "ternary_matmul_add" : "ternary_matmul", kCodesWorkgroup,
                [&](In<"w", TernaryWeights> w, In<"x", QuantizedWords> x, WeightScales scales, ParamsBuffer params,
                    InOut<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const Dot4 dot4(c.caps);
                  auto weights = shared<TernaryWeights>("weights", c.tile_rows * kWeightStride);
                  auto tokens = shared<QuantizedWords>("tokens", c.tile_tokens * kTokenStride);
                  const CodesTile t = make_tile(c, wg, tid, params);
                  const auto sums = multiply_tile(t, dot4, x, tokens, {weights}, w);
                  for_results(t, x, [&](const Name<U32>& index, uint32_t i, const ActivationScale& scale) {
                    auto dot = let("sum", sums[0][i]);
                    auto value = let("value", dequantize(dot, scale, scales.get<"a">()));
                    store_linear(c.store, y, index, value);
                  });
                });
}

TernaryGluMatmulKernel ternary_glu_matmul(const TernaryMatmulConfig& c) {
  return kernel("ternary_glu_matmul", kCodesWorkgroup,
                [&](In<"w_gate", TernaryWeights> w_gate, In<"w_up", TernaryWeights> w_up, In<"x", QuantizedWords> x,
                    WeightScales scales, ParamsBuffer params, Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const Dot4 dot4(c.caps);
                  auto gates = shared<TernaryWeights>("gates", c.tile_rows * kWeightStride);
                  auto ups = shared<TernaryWeights>("ups", c.tile_rows * kWeightStride);
                  auto tokens = shared<QuantizedWords>("tokens", c.tile_tokens * kTokenStride);
                  const CodesTile t = make_tile(c, wg, tid, params);
                  const auto sums = multiply_tile(t, dot4, x, tokens, {gates, ups}, w_gate, w_up);
                  for_results(t, x, [&](const Name<U32>& index, uint32_t i, const ActivationScale& scale) {
                    auto gate_dot = let("gate_sum", sums[0][i]);
                    auto up_dot = let("up_sum", sums[1][i]);
                    y[index] = glu_of_dots(c.act, gate_dot, up_dot, scale, scales);
                  });
                });
}

}  // namespace tern::gpu
