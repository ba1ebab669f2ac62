#include "backend/gpu/kernels/float_matmul_matrix.h"

#include <array>
#include <optional>
#include <span>

#include "backend/gpu/kernels/f16_shapes.h"

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

// How one matrix's weights come into workgroup memory, half a block of a row (16 values) at a time. Rows past the end
// load the last one again; nobody stores what comes of them.
class WeightStage {
 public:
  WeightStage(const Tile& t, const WeightPlanes& w, uint32_t matrix)
      : t_(t), w_(w), unpack_(w.coding), start_(matrix * t.c.tile_rows * kStride) {
    if (!w_.coding.has_codes()) return;
    for (uint32_t first = 0; first < n_halves(); first += t.c.workgroup()) {
      auto half = let("half", t.tid + first);
      auto row = let("row", min(t.first_row + half / 2u, t.n_rows - 1u));
      halves_.push_back({half, let("row_units", row * (t.c.cols / w.coding.values())),
                         var("unit", splat<WeightUnits>(0u)), var("scale", 1.0f),
                         w.coding.has_mins() ? std::optional(var("fetched_min", 0.0f)) : std::nullopt});
    }
  }

  // Sends for the codes of a block: while the block before is multiplied.
  void fetch(const Name<U32>& block) const {
    for (const Half& h : halves_) {
      auto at = let("at", h.row_units + unit_of(h, block));
      h.unit = w_.unit(e(at));
      if (w_.coding.group == 0) continue;
      const UnitScale scale = w_.scale(at);
      h.scale = scale.scale;
      if (h.min) *h.min = scale.min;
    }
  }

  // Stores the block that was fetched.
  void store(const Name<U32>& block) const {
    if (!w_.coding.has_codes()) return store_floats(block);
    for (const Half& h : halves_) {
      auto unit = let("fetched", h.unit);
      UnitScale scale = {let("scale_of_unit", h.scale), {}};
      if (h.min) scale.min = let("min_of_unit", *h.min);
      const auto words = words_of(h, block, unit);
      auto to = let("to", start_ + h.half / 2u * kStride + (h.half & 1u) * (kBlock / 2));
      const auto store_quads = [&] {
        const uint32_t per_word = 4 / static_cast<uint32_t>(words.size());
        for (uint32_t k = 0; k < 4; ++k) {
          auto value = let("value", scaled(w_.coding, unpack_.of_word(words[k / per_word], k % per_word), scale));
          auto quad = let("to_quad", to + 4 * k);
          stage_quad(t_, quad, value);
        }
      };
      if (n_halves() % t_.c.workgroup() == 0) {
        store_quads();
      } else {
        when(h.half < n_halves(), store_quads);
      }
    }
  }

 private:
  struct Half {
    Name<U32> half;       // of the tile's rows
    Name<U32> row_units;  // where the row's units start
    Var<WeightUnits> unit;
    Var<F32> scale;
    std::optional<Var<F32>> min;
  };

  uint32_t n_halves() const { return t_.c.tile_rows * 2; }

  // Within the row.
  Temp<U32> unit_of(const Half& h, const Name<U32>& block) const {
    const uint32_t values = w_.coding.values();
    if (values < kBlock) return block * 2u + (h.half & 1u);
    return values == kBlock ? e(block) : block / (values / kBlock);
  }
  // Those that hold the half's four quads, from their lowest bits on.
  std::vector<Name<U32>> words_of(const Half& h, const Name<U32>& block, const Name<WeightUnits>& unit) const {
    switch (w_.coding.words) {
      case WeightWords::kCodes8:
        return {at(unit, 0), at(unit, 1), at(unit, 2), at(unit, 3)};
      case WeightWords::kCodes4: {
        auto is_second = let("is_second", (h.half & 1u) == 1u);
        auto low = let("low_word", select(at(unit, 0), at(unit, 2), is_second));
        auto high = let("high_word", select(at(unit, 1), at(unit, 3), is_second));
        return {low, high};
      }
      case WeightWords::kCodes2:
        return {let("word", component(unit, (block & 1u) * 2u + (h.half & 1u)))};
      case WeightWords::kSigns:
        return {let("word", component(unit, block & 3u) >> ((h.half & 1u) * 4u))};
      default:
        CHECK(false);
    }
  }

  void store_floats(const Name<U32>& block) const {
    const uint32_t per_unit = w_.coding.quads();
    loop("i", t_.tid, t_.c.tile_rows * kQuads, t_.c.workgroup(), [&](const Name<U32>& i) {
      auto row = let("row", min(t_.first_row + i / kQuads, t_.n_rows - 1u));
      auto quad = let("quad", block * kQuads + i % kQuads);
      auto at = let("at", row * (t_.c.cols / w_.coding.values()) + quad / per_unit);
      auto unit = let("unit", w_.unit(e(at)));
      auto in_unit = let("in_unit", quad % per_unit);
      auto to = let("to", start_ + i / kQuads * kStride + i % kQuads * 4u);
      auto value = let("value", unpack_(unit, 0, &in_unit));
      if (w_.coding.group == 0) return stage_quad(t_, to, value);
      const UnitScale scale = w_.scale(at);
      auto product = let("scaled", scaled(w_.coding, e(value), scale));
      stage_quad(t_, to, product);
    });
  }

  const Tile& t_;
  const WeightPlanes& w_;
  Unpack unpack_;
  uint32_t start_;
  std::vector<Half> halves_;
};

// All blocks, up to the sums in workgroup memory.
template <uint32_t M, uint32_t N, uint32_t K>
void multiply_as(const Tile& t, const Halves& x, std::span<const WeightStage* const> weights) {
  const uint32_t n_m = t.c.tile_tokens / t.c.subgroup_tokens / M, n_n = t.c.tile_rows / t.c.subgroup_rows / N;
  std::vector<Var<ResultMatrix<F32, M, N>>> sums;  // [matrix][tokens][rows]
  for (uint32_t i = 0; i < t.n_matrices * n_m * n_n; ++i) sums.push_back(var<ResultMatrix<F32, M, N>>("sum"));
  std::vector<Name<U32>> x_starts;
  for (uint32_t m = 0; m < n_m; ++m) {
    auto token = let("token", t.first_token + t.subgroup_token + m * M);
    x_starts.push_back(let("x_start", grouped_half(t.c.cols, token)));
  }
  auto first_block = let("first_block", 0u);
  for (const WeightStage* w : weights) w->fetch(first_block);
  loop("block", 0u, t.c.cols / kBlock, 1u, [&](const Name<U32>& block) {
    std::vector<Name<LeftMatrix<F16, M, K>>> left;  // on their way while weights are staged
    for (uint32_t k = 0; k < kBlock; k += K) {
      for (const auto& start : x_starts) {
        left.push_back(subgroupMatrixLoad<LeftMatrix<F16, M, K>>(
            x, start + block * (kBlock * kRowsOfGroup) + grouped_column(k), MatrixLayout::kRowMajor, kHalvesOfGroup));
      }
    }
    for (const WeightStage* w : weights) w->store(block);
    workgroupBarrier();
    auto next = let("next_block", min(block + 1u, t.c.cols / kBlock - 1));
    for (const WeightStage* w : weights) w->fetch(next);
    for (uint32_t k = 0; k < kBlock; k += K) {
      for (uint32_t i = 0; i < t.n_matrices; ++i) {
        for (uint32_t n = 0; n < n_n; ++n) {
          const uint32_t start = i * t.c.tile_rows + n * N;
          auto w = subgroupMatrixLoad<RightMatrix<F16, K, N>>(t.staged, (t.subgroup_row + start) * kStride + k,
                                                              MatrixLayout::kColumnMajor, kStride);
          for (uint32_t m = 0; m < n_m; ++m) {
            subgroupMatrixMultiplyAccumulate(left[k / K * n_m + m], w, sums[(i * n_m + m) * n_n + n]);
          }
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

void multiply(const Tile& t, const Halves& x, std::span<const WeightStage* const> weights) {
  const auto use = [&]<uint32_t M, uint32_t N, uint32_t K>() { multiply_as<M, N, K>(t, x, weights); };
  CHECK(with_f16_shape(t.c.shape, use));
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
  c.tile_tokens = 2 * c.shape.m * c.subgroup_tokens;
  CHECK(c.tile_tokens <= kMostTileTokens);
  return c;
}

bool has_float_matrix_matmul(const MatrixShape& shape) {
  return with_f16_shape(shape, []<uint32_t, uint32_t, uint32_t>() {});
}

HalveTokensKernel halve_tokens(const HalveTokensConfig& c) {
  return kernel(
      c.rest_at > 0 ? "halve_tokens_exactly" : "halve_tokens", c.workgroup,
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
          // Four of the group's columns.
          auto index = let(
              "index", grouped_half(c.width, wg.y) / 4u + (i >> 2u) * (kHalvesOfGroup * kRowsOfGroup / 4) + (i & 3u));
          auto exact = let("exact", x[wg.y * (c.width / 4) + i] * scale);
          if (c.rest_at == 0) {
            halves[index] = vec4h(exact);
            return;
          }
          // By bits: compilers take the difference from a conversion and back for 0.
          std::vector<Name<F32>> first;
          for (uint32_t i4 = 0; i4 < 4; ++i4) {
            auto as_bits = let("as_bits", bitcast<U32>(at(exact, i4)));
            first.push_back(let("first_bits", bitcast<F32>(as_bits & 0xFFFFE000u)));
          }
          auto high = let("high_bits", vec4f(first[0], first[1], first[2], first[3]));
          halves[index] = vec4h(high);
          halves[index + c.rest_at * (c.width / 4)] = vec4h(exact - high);
        });
      });
}

FloatMatrixMatmulKernel float_matmul_matrix(const FloatMatrixMatmulConfig& c) {
  return kernel(c.store == Store::kAdd ? "float_matmul_matrix_add" : "float_matmul_matrix", c.workgroup(),
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, Halves x, TokenScales token_scales,
                    RowRange range, ParamsBuffer params, InOut<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const WeightPlanes planes(c.coding, w, scales);
                  auto n_rows = let("n_rows", range.get<"count">());
                  const Tile t = make_tile(c, 1, n_rows, wg, tid, params);
                  const WeightStage stage(t, planes, 0);
                  multiply(t, x, std::array{&stage});
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
                  auto n_rows = let("n_rows", e(c.rows));
                  const Tile t = make_tile(c, 2, n_rows, wg, tid, params);
                  const WeightStage gate_stage(t, gate, 0), up_stage(t, up, 1);
                  multiply(t, x, std::array{&gate_stage, &up_stage});
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
