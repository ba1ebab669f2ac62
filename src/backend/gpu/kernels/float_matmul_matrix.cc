#include "backend/gpu/kernels/float_matmul_matrix.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

constexpr uint32_t kBlock = 32;  // columns staged at a time
constexpr uint32_t kQuads = kBlock / 4;
// f16s between rows in workgroup memory: a block, and 16 bytes more so that rows start in different banks.
constexpr uint32_t kStride = kBlock + 8;

// Staged memory: `tile_rows` rows of each matrix. The sums: [matrix][token][row].
struct Tile {
  FloatMatrixMatmulConfig c;
  uint32_t n_matrices;
  LocalIndex tid;
  Name<U32> n_tokens, n_rows;
  Name<U32> first_row, first_token;        // of the binding, of the batch
  Name<U32> subgroup_row, subgroup_token;  // of the tile: where this subgroup's part starts
  Shared<F16> staged;
  Shared<F32> sums;
};

Tile make_tile(const FloatMatrixMatmulConfig& c, uint32_t n_matrices, const Name<U32>& n_rows, const WorkgroupId& wg,
               const LocalIndex& tid, const ParamsBuffer& params) {
  const uint32_t part_rows = c.tile_rows / c.subgroup_rows, part_tokens = c.tile_tokens / c.subgroup_tokens;
  CHECK(c.cols % kBlock == 0 && c.cols % c.coding.values() == 0 && kBlock % c.shape.k == 0);
  CHECK(part_rows % c.shape.n == 0 && part_tokens % c.shape.m == 0);
  auto staged = shared<F16>("staged", n_matrices * c.tile_rows * kStride);
  auto sums = shared<F32>("sums", n_matrices * c.tile_tokens * c.tile_rows);
  auto n_tokens = let("n_tokens", params[kNTokens]);
  auto first_row = let("first_row", wg.x * c.tile_rows);
  auto first_token = let("first_token", wg.y * c.tile_tokens);
  auto subgroup = let("subgroup", tid / c.subgroup);
  auto subgroup_row = let("subgroup_row", subgroup % c.subgroup_rows * part_rows);
  auto subgroup_token = let("subgroup_token", subgroup / c.subgroup_rows * part_tokens);
  return {c, n_matrices, tid, n_tokens, n_rows, first_row, first_token, subgroup_row, subgroup_token, staged, sums};
}

void stage_quad(const Tile& t, const Name<U32>& to, const Name<Vec4<F32>>& value) {
  for (uint32_t k = 0; k < 4; ++k) t.staged[to + k] = f16(at(value, k));
}

// Rows past the end load the last one again; nobody stores what comes of them.
//
// An invocation takes a word of codes at a time, which share what it costs to find them and their scale.
void stage_codes(const Tile& t, const WeightPlanes& w, const Unpack& unpack, uint32_t start, const Name<U32>& block) {
  const uint32_t in_word = 32 / w.coding.bits(), n_words = kBlock / in_word;  // values; of a row's block
  loop("i", t.tid, t.c.tile_rows * n_words, t.c.workgroup(), [&](const Name<U32>& i) {
    auto row = let("row", min(t.first_row + i / n_words, t.n_rows - 1u));
    auto in_row = let("word_of_row", block * n_words + i % n_words);
    auto at = let("at", row * (t.c.cols / w.coding.values()) + in_row / 4u);
    auto unit = let("unit", w.unit(e(at)));
    auto word = let("word", component(unit, in_row % 4u));
    auto to = let("to", start + i / n_words * kStride + i % n_words * in_word);
    const auto scale = w.coding.group > 0 ? w.scale(at) : let("scale", 1.0f);
    for (uint32_t k = 0; k < in_word / 4; ++k) {
      auto value = let("value", unpack.of_word(word, k) * scale);
      auto quad = let("to_quad", to + 4 * k);
      stage_quad(t, quad, value);
    }
  });
}

void stage_weights(const Tile& t, const WeightPlanes& w, const Unpack& unpack, uint32_t matrix,
                   const Name<U32>& block) {
  const uint32_t start = matrix * t.c.tile_rows * kStride, per_unit = w.coding.quads();
  if (w.coding.has_codes()) return stage_codes(t, w, unpack, start, block);
  loop("i", t.tid, t.c.tile_rows * kQuads, t.c.workgroup(), [&](const Name<U32>& i) {
    auto row = let("row", min(t.first_row + i / kQuads, t.n_rows - 1u));
    auto quad = let("quad", block * kQuads + i % kQuads);
    auto at = let("at", row * (t.c.cols / w.coding.values()) + quad / per_unit);
    auto unit = let("unit", w.unit(e(at)));
    auto in_unit = let("in_unit", quad % per_unit);
    auto to = let("to", start + i / kQuads * kStride + i % kQuads * 4u);
    auto value = let("value", unpack(unit, 0, &in_unit));
    if (w.coding.group == 0) return stage_quad(t, to, value);
    auto scale = w.scale(at);
    auto scaled = let("scaled", value * scale);
    stage_quad(t, to, scaled);
  });
}

// All blocks, up to the sums in workgroup memory. `stage` puts a block of weights there.
template <uint32_t M, uint32_t N, uint32_t K, class Stage>
void multiply_as(const Tile& t, const Halves& x, Stage&& stage) {
  const uint32_t n_m = t.c.tile_tokens / t.c.subgroup_tokens / M, n_n = t.c.tile_rows / t.c.subgroup_rows / N;
  std::vector<Var<ResultMatrix<F32, M, N>>> sums;  // [matrix][tokens][rows]
  for (uint32_t i = 0; i < t.n_matrices * n_m * n_n; ++i) sums.push_back(var<ResultMatrix<F32, M, N>>("sum"));
  auto x_start = let("x_start", (t.first_token + t.subgroup_token) * t.c.cols);
  loop("block", 0u, t.c.cols / kBlock, 1u, [&](const Name<U32>& block) {
    std::vector<Name<LeftMatrix<F16, M, K>>> left;  // on their way while weights are staged
    for (uint32_t k = 0; k < kBlock; k += K) {
      for (uint32_t m = 0; m < n_m; ++m) {
        left.push_back(subgroupMatrixLoad<LeftMatrix<F16, M, K>>(x, x_start + block * kBlock + (m * M * t.c.cols + k),
                                                                 MatrixLayout::kRowMajor, t.c.cols));
      }
    }
    stage(block);
    workgroupBarrier();
    for (uint32_t k = 0; k < kBlock; k += K) {
      for (uint32_t i = 0; i < t.n_matrices; ++i) {
        for (uint32_t n = 0; n < n_n; ++n) {
          const uint32_t start = i * t.c.tile_rows + n * N;
          auto w = subgroupMatrixLoad<RightMatrix<F16, K, N>>(t.staged, (t.subgroup_row + start) * kStride + k,
                                                              MatrixLayout::kColumnMajor, kStride);
          for (uint32_t m = 0; m < n_m; ++m)
            subgroupMatrixMultiplyAccumulate(left[k / K * n_m + m], w, sums[(i * n_m + m) * n_n + n]);
        }
      }
    }
    workgroupBarrier();
  });
  for (uint32_t i = 0; i < t.n_matrices; ++i) {
    for (uint32_t m = 0; m < n_m; ++m) {
      for (uint32_t n = 0; n < n_n; ++n) {
        auto token = let("tile_token", t.subgroup_token + (i * t.c.tile_tokens + m * M));
        subgroupMatrixStore(t.sums, token * t.c.tile_rows + t.subgroup_row + n * N, sums[(i * n_m + m) * n_n + n],
                            t.c.tile_rows);
      }
    }
  }
  workgroupBarrier();
}

// The kernels are templates of their matrices' sizes, so the sizes that devices have are listed here.
template <class Use>
bool with_shape(const MatrixShape& shape, Use&& use) {
  const auto is = [&](uint32_t m, uint32_t n, uint32_t k) {
    return shape == MatrixShape{MatrixTypes::kF16ToF32, m, n, k};
  };
  if (is(8, 8, 8)) return use.template operator()<8, 8, 8>(), true;        // lavapipe
  if (is(16, 16, 16)) return use.template operator()<16, 16, 16>(), true;  // NVIDIA, AMD
  if (is(8, 16, 16)) return use.template operator()<8, 16, 16>(), true;    // Intel
  return false;
}

template <class Stage>
void multiply(const Tile& t, const Halves& x, Stage&& stage) {
  const auto use = [&]<uint32_t M, uint32_t N, uint32_t K>() { multiply_as<M, N, K>(t, x, stage); };
  CHECK(with_shape(t.c.shape, use));
}

// body(row of the binding, token, index of the first matrix's sum, what undoes the token's scale) for every result of
// this invocation that exists.
template <class Body>
void for_results(const Tile& t, const TokenScales& token_scales, Body&& body) {
  loop("i", t.tid, t.c.tile_tokens * t.c.tile_rows, t.c.workgroup(), [&](const Name<U32>& i) {
    auto token = let("token", t.first_token + i / t.c.tile_rows);
    auto row = let("row", t.first_row + i % t.c.tile_rows);
    when(token < t.n_tokens && row < t.n_rows, [&] {
      auto unscale = let("unscale", 1.0f / token_scales[token]);
      body(row, token, i, unscale);
    });
  });
}

}  // namespace

uint32_t FloatMatrixMatmulConfig::workgroup_bytes(uint32_t n_matrices) const {
  return n_matrices * tile_rows * kStride * 2 + n_matrices * tile_tokens * tile_rows * 4;
}

FloatMatrixMatmulConfig fit(FloatMatrixMatmulConfig c) {
  c.tile_rows = 2 * c.shape.n * c.subgroup_rows;
  c.tile_tokens = c.token_matrices * c.shape.m * c.subgroup_tokens;
  return c;
}

bool has_float_matrix_matmul(const MatrixShape& shape) {
  return with_shape(shape, []<uint32_t, uint32_t, uint32_t>() {});
}

HalveTokensKernel halve_tokens(const HalveTokensConfig& c) {
  return kernel(
      "halve_tokens", c.workgroup,
      [&](FloatX x, Out<"halves", Vec4<F16>> halves, Out<"token_scales", F32> scales, WorkgroupId wg, LocalIndex tid) {
        auto peak = var("peak", 0.0f);
        loop("i", tid, c.width / 4, c.workgroup, [&](const Name<U32>& i) {
          auto v = let("v", abs(x[wg.y * (c.width / 4) + i]));
          auto low = let("low", max(at(v, 0), at(v, 1)));
          auto high = let("high", max(at(v, 2), at(v, 3)));
          peak = max(peak, max(low, high));
        });
        auto mine = let("mine", peak);
        auto top = reduce_workgroup(Reduce::kMax, c.caps, mine, tid, c.workgroup);
        // 2^e ≤ peak < 2^(e+1) has the exponent bits 127 + e; 2^(10 − e) has 137 − e, the rest of 264.
        auto exponent = let("exponent", clamp(bitcast<U32>(top) >> 23u, 64u, 200u));
        auto scale = let("scale", bitcast<F32>((264u - exponent) << 23u));
        when(tid == 0u, [&] { scales[wg.y] = scale; });
        loop("i", tid, c.width / 4, c.workgroup, [&](const Name<U32>& i) {
          auto index = let("index", wg.y * (c.width / 4) + i);
          halves[index] = vec4h(x[index] * scale);
        });
      });
}

FloatMatrixMatmulKernel float_matmul_matrix(const FloatMatrixMatmulConfig& c) {
  return kernel(c.store == Store::kAdd ? "float_matmul_matrix_add" : "float_matmul_matrix", c.workgroup(),
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, Halves x, TokenScales token_scales,
                    RowRange range, ParamsBuffer params, InOut<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const WeightPlanes planes(c.coding, w, scales);
                  const Unpack unpack(c.caps, c.coding);
                  auto n_rows = let("n_rows", range.get<"count">());
                  const Tile t = make_tile(c, 1, n_rows, wg, tid, params);
                  multiply(t, x, [&](const Name<U32>& block) { stage_weights(t, planes, unpack, 0, block); });
                  for_results(
                      t, token_scales,
                      [&](const Name<U32>& row, const Name<U32>& token, const Name<U32>& i, const Name<F32>& unscale) {
                        auto index = let("index", token * c.rows + range.get<"first">() + row);
                        auto value = let("value", t.sums[i] * unscale);
                        if (c.store == Store::kAdd) {
                          y[index] += value;
                        } else {
                          y[index] = value;
                        }
                      });
                });
}

FloatGluMatrixMatmulKernel float_glu_matmul_matrix(const FloatMatrixMatmulConfig& c) {
  return kernel("float_glu_matmul_matrix", c.workgroup(),
                [&](In<"w_gate", WeightUnits> w_gate, In<"gate_scales", U32> gate_scales, In<"w_up", WeightUnits> w_up,
                    In<"up_scales", U32> up_scales, Halves x, TokenScales token_scales, ParamsBuffer params,
                    Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const WeightPlanes gate(c.coding, w_gate, gate_scales), up(c.up_coding, w_up, up_scales);
                  const Unpack unpack_gate(c.caps, c.coding), unpack_up(c.caps, c.up_coding);
                  auto n_rows = let("n_rows", e(c.rows));
                  const Tile t = make_tile(c, 2, n_rows, wg, tid, params);
                  multiply(t, x, [&](const Name<U32>& block) {
                    stage_weights(t, gate, unpack_gate, 0, block);
                    stage_weights(t, up, unpack_up, 1, block);
                  });
                  for_results(
                      t, token_scales,
                      [&](const Name<U32>& row, const Name<U32>& token, const Name<U32>& i, const Name<F32>& unscale) {
                        auto gate_sum = let("gate_sum", t.sums[i] * unscale);
                        auto up_sum = let("up_sum", t.sums[i + c.tile_tokens * c.tile_rows] * unscale);
                        y[token * c.rows + row] = gated(c.act, gate_sum, up_sum);
                      });
                });
}

}  // namespace tern::gpu
