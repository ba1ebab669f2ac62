#include "backend/gpu/kernels/float/float_matmul.h"

#include <optional>

#include "backend/gpu/kernels/float/expert_sums.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

constexpr uint32_t kBlockQuads = 8;  // quads of each row that are staged at a time: 32 columns
constexpr uint32_t kFloatSide = FloatMatmulConfig::kSide;
constexpr uint32_t kFloatWorkgroup = kFloatSide * kFloatSide;

struct FloatTile {
  FloatMatmulConfig c;
  LocalIndex tid;
  Name<U32> n_tokens;
  Name<U32> n_rows;                  // in the binding
  Name<U32> my_row, my_token;        // in the tile: 0 … 15
  Name<U32> first_row, first_token;  // in the binding, in the batch
  std::optional<ExpertTile> expert = {};
  std::vector<Name<U32>> x_rows = {};  // of an expert: the rows of x that this invocation stages
  uint32_t quads() const { return c.cols / 4; }
};

FloatTile tile_of(const FloatMatmulConfig& c, const Name<U32>& n_rows, const Name<U32>& n_tokens, const WorkgroupId& wg,
                  const LocalIndex& tid) {
  CHECK(c.cols % c.coding.values() == 0 && c.tile_rows % kFloatSide == 0 && c.tile_tokens % kFloatSide == 0);
  auto my_row = let("my_row", tid % kFloatSide);
  auto my_token = let("my_token", tid / kFloatSide);
  auto first_row = let("first_row", wg.x * c.tile_rows);
  auto first_token = let("first_token", wg.y * c.tile_tokens);
  return {c, tid, n_tokens, n_rows, my_row, my_token, first_row, first_token};
}
FloatTile make_tile(const FloatMatmulConfig& c, const Name<U32>& n_rows, const WorkgroupId& wg, const LocalIndex& tid,
                    const ParamsBuffer& params) {
  auto n_tokens = let("n_tokens", params[kNTokens]);
  return tile_of(c, n_rows, n_tokens, wg, tid);
}
FloatTile make_tile(const ExpertMatmulConfig& c, const WorkgroupId& wg, const LocalIndex& tid,
                    const ExpertTiles& tiles) {
  const FloatMatmulConfig& m = c.linear;
  const ExpertTile expert = expert_tile(tiles, wg, m.tile_tokens, m.rows, c.own_input ? 1 : c.n_used);
  FloatTile t = tile_of(m, let("n_rows", e(m.rows)), expert.end, wg, tid);
  t.expert = expert;
  for (uint32_t first = 0; first < m.tile_tokens * kBlockQuads; first += kFloatWorkgroup) {
    auto token = let("staged_token", t.first_token + min((tid + first) / kBlockQuads, m.tile_tokens - 1));
    t.x_rows.push_back(expert.x_row(token));
  }
  return t;
}

// Calls body(row of the tile, quad of the row) for this invocation's share of a block.
template <class Body>
void for_share(const FloatTile& t, uint32_t n_rows, const Name<U32>& block, Body&& body) {
  const uint32_t n = n_rows * kBlockQuads;
  for (uint32_t first = 0; first < n; first += kFloatWorkgroup) {
    auto i = let("i", t.tid + first);
    const auto take = [&] {
      auto row = let("tile_row", i / kBlockQuads);
      auto in_block = let("in_block", i % kBlockQuads);
      auto quad = let("quad", block * kBlockQuads + in_block);
      auto to = let("to", in_block * n_rows + row);
      body(row, quad, to);
    };
    if (first + kFloatWorkgroup <= n) {
      take();
    } else {
      when(i < n, take);
    }
  }
}

// Rows past the end load the last row again; their results are not stored. Columns past the end are multiplied with
// zeros.
void stage_weights(const FloatTile& t, const WeightPlanes& w, const Unpack& unpack, const Shared<Vec4<F32>>& staged,
                   const Name<U32>& block) {
  const uint32_t per_unit = w.coding.quads();
  for_share(t, t.c.tile_rows, block, [&](const Name<U32>& tile_row, const Name<U32>& quad, const Name<U32>& to) {
    auto row = let("row", min(t.first_row + tile_row, t.n_rows - 1u));
    if (t.expert) row = let("row_of_all", row + t.expert->before);
    auto q = t.quads() % kBlockQuads == 0 ? quad : let("last_quad", min(quad, t.quads() - 1));
    auto at = let("at", row * (t.quads() / per_unit) + q / per_unit);
    auto unit = let("unit", w.unit(e(at)));
    auto in_unit = let("in_unit", q % per_unit);
    auto value = let("value", unpack(unit, 0, &in_unit));
    if (w.coding.group == 0) {
      staged[to] = value;
      return;
    }
    const UnitScale scale = w.scale(at);
    staged[to] = scaled(w.coding, e(value), scale);
  });
}

void stage_tokens(const FloatTile& t, const FloatX& x, const Shared<Vec4<F32>>& staged, const Name<U32>& block) {
  size_t n_shares = 0;
  for_share(t, t.c.tile_tokens, block, [&](const Name<U32>& tile_token, const Name<U32>& quad, const Name<U32>& to) {
    auto token = t.expert ? t.x_rows[n_shares++] : let("token", min(t.first_token + tile_token, t.n_tokens - 1u));
    if (t.quads() % kBlockQuads == 0) {
      staged[to] = x[token * t.quads() + quad];
      return;
    }
    auto value = let("value", x[token * t.quads() + min(quad, t.quads() - 1)]);
    staged[to] = select(splat<Vec4<F32>>(0.0f), value, quad < t.quads());
  });
}

using FloatSums = std::vector<Var<F32>>;  // [rows of the invocation, tokens of the invocation]

FloatSums make_sums(const FloatTile& t) {
  FloatSums sums;
  for (uint32_t i = 0; i < t.c.tile_rows * t.c.tile_tokens / kFloatWorkgroup; ++i) sums.push_back(var("acc", 0.0f));
  return sums;
}

// Adds one block to the `sums` of each matrix.
void multiply_block(const FloatTile& t, const std::vector<Shared<Vec4<F32>>>& weights, const Shared<Vec4<F32>>& tokens,
                    const std::vector<FloatSums>& sums) {
  const uint32_t n_rows = t.c.tile_rows / kFloatSide, n_tokens = t.c.tile_tokens / kFloatSide;
  loop("k", 0u, kBlockQuads, 1u, [&](const Name<U32>& k) {
    std::vector<Name<Vec4<F32>>> x;
    for (uint32_t j = 0; j < n_tokens; ++j) {
      x.push_back(let("x4", tokens[k * t.c.tile_tokens + t.my_token + j * kFloatSide]));
    }
    for (size_t m = 0; m < weights.size(); ++m) {
      for (uint32_t r = 0; r < n_rows; ++r) {
        auto w = let("w4", weights[m][k * t.c.tile_rows + t.my_row + r * kFloatSide]);
        for (uint32_t j = 0; j < n_tokens; ++j) sums[m][r * n_tokens + j] += dot(w, x[j]);
      }
    }
  });
}

// Calls body(row of the binding, token, index into a matrix's sums) for every result of this invocation that exists.
template <class Body>
void for_results(const FloatTile& t, Body&& body) {
  const uint32_t n_rows = t.c.tile_rows / kFloatSide, n_tokens = t.c.tile_tokens / kFloatSide;
  for (uint32_t j = 0; j < n_tokens; ++j) {
    auto token = let("token", t.first_token + t.my_token + j * kFloatSide);
    when(token < t.n_tokens, [&] {
      for (uint32_t r = 0; r < n_rows; ++r) {
        auto row = let("row", t.first_row + t.my_row + r * kFloatSide);
        when(row < t.n_rows, [&] { body(row, token, r * n_tokens + j); });
      }
    });
  }
}

// One matrix of a kernel, in storage and in workgroup memory.
struct Side {
  Side(const FloatMatmulConfig& c, const WeightPlanes& w, std::string_view name)
      : planes(&w), unpack(w.coding), staged(shared<Vec4<F32>>(name, c.tile_rows * kBlockQuads)) {}
  const WeightPlanes* planes;
  Unpack unpack;
  Shared<Vec4<F32>> staged;
};

// The sums of each matrix.
std::vector<FloatSums> multiply(const FloatTile& t, const std::vector<Side>& sides, const FloatX& x,
                                const Shared<Vec4<F32>>& tokens) {
  std::vector<FloatSums> sums;
  std::vector<Shared<Vec4<F32>>> weights;
  for (const Side& side : sides) {
    sums.push_back(make_sums(t));
    weights.push_back(side.staged);
  }
  loop("block", 0u, (t.quads() + kBlockQuads - 1) / kBlockQuads, 1u, [&](const Name<U32>& block) {
    for (const Side& side : sides) stage_weights(t, *side.planes, side.unpack, side.staged, block);
    stage_tokens(t, x, tokens, block);
    workgroupBarrier();
    multiply_block(t, weights, tokens, sums);
    workgroupBarrier();
  });
  return sums;
}

Shared<Vec4<F32>> tokens_of(const FloatMatmulConfig& c) {
  return shared<Vec4<F32>>("tokens", c.tile_tokens * kBlockQuads);
}

}  // namespace

uint32_t FloatMatmulConfig::workgroup_bytes(uint32_t n_matrices) const {
  return (n_matrices * tile_rows + tile_tokens) * kBlockQuads * 16;
}

FloatMatmulKernel float_matmul(const FloatMatmulConfig& c) {
  return kernel(c.store == Store::kAdd ? "float_matmul_add" : "float_matmul", kFloatWorkgroup,
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, FloatX x, RowRange range, ParamsBuffer params,
                    InOut<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const WeightPlanes planes(c.coding, w, scales);
                  const std::vector<Side> sides = {{c, planes, "weights"}};
                  auto tokens = tokens_of(c);
                  auto n_rows = let("n_rows", range.get<"count">());
                  const FloatTile t = make_tile(c, n_rows, wg, tid, params);
                  const auto sums = multiply(t, sides, x, tokens);
                  for_results(t, [&](const Name<U32>& row, const Name<U32>& token, uint32_t i) {
                    auto index = let("index", token * c.rows + range.get<"first">() + row);
                    if (c.store == Store::kAdd) {
                      y[index] += sums[0][i];
                    } else {
                      y[index] = sums[0][i];
                    }
                  });
                });
}

FloatGluMatmulKernel float_glu_matmul(const FloatMatmulConfig& c) {
  return kernel("float_glu_matmul", kFloatWorkgroup,
                [&](In<"w_gate", WeightUnits> w_gate, In<"gate_scales", U32> gate_scales, In<"w_up", WeightUnits> w_up,
                    In<"up_scales", U32> up_scales, FloatX x, ParamsBuffer params, Out<"y", F32> y, WorkgroupId wg,
                    LocalIndex tid) {
                  const WeightPlanes gate(c.coding, w_gate, gate_scales), up(c.up_coding, w_up, up_scales);
                  const std::vector<Side> sides = {{c, gate, "gates"}, {c, up, "ups"}};
                  auto tokens = tokens_of(c);
                  auto n_rows = let("n_rows", e(c.rows));
                  const FloatTile t = make_tile(c, n_rows, wg, tid, params);
                  const auto sums = multiply(t, sides, x, tokens);
                  for_results(t, [&](const Name<U32>& row, const Name<U32>& token, uint32_t i) {
                    auto gate_sum = let("gate_sum", sums[0][i]);
                    auto up_sum = let("up_sum", sums[1][i]);
                    y[token * c.rows + row] = gated(c.act, gate_sum, up_sum);
                  });
                });
}

ExpertMatmulKernel expert_matmul(const ExpertMatmulConfig& c) {
  return kernel("expert_matmul", kFloatWorkgroup,
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, FloatX x, ExpertTiles tiles, ExpertBias bias,
                    Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const WeightPlanes planes(c.linear.coding, w, scales);
                  const std::vector<Side> sides = {{c.linear, planes, "weights"}};
                  auto tokens = tokens_of(c.linear);
                  const FloatTile t = make_tile(c, wg, tid, tiles);
                  const auto sums = multiply(t, sides, x, tokens);
                  for_results(t, [&](const Name<U32>& row, const Name<U32>& token, uint32_t i) {
                    auto index = let("index", t.expert->choice(token) * c.linear.rows + row);
                    auto sum = let("sum", sums[0][i]);
                    y[index] = expert_sum(c, sum, bias, t.expert->before, row);
                  });
                });
}

ExpertGluMatmulKernel expert_glu_matmul(const ExpertMatmulConfig& c, uint32_t n_experts) {
  return kernel("expert_glu_matmul", kFloatWorkgroup,
                [&](In<"w_gate", WeightUnits> w_gate, In<"gate_scales", U32> gate_scales, In<"w_up", WeightUnits> w_up,
                    In<"up_scales", U32> up_scales, FloatX x, ExpertTiles tiles, ExpertBias bias, Out<"y", F32> y,
                    WorkgroupId wg, LocalIndex tid) {
                  const WeightPlanes gate(c.linear.coding, w_gate, gate_scales);
                  const WeightPlanes up(c.linear.up_coding, w_up, up_scales);
                  const std::vector<Side> sides = {{c.linear, gate, "gates"}, {c.linear, up, "ups"}};
                  auto tokens = tokens_of(c.linear);
                  const FloatTile t = make_tile(c, wg, tid, tiles);
                  const auto sums = multiply(t, sides, x, tokens);
                  for_results(t, [&](const Name<U32>& row, const Name<U32>& token, uint32_t i) {
                    auto index = let("index", t.expert->choice(token) * c.linear.rows + row);
                    auto g = let("gate_sum", sums[0][i]);
                    auto u = let("up_sum", sums[1][i]);
                    y[index] = expert_gated(c, n_experts, g, u, bias, t.expert->before, row);
                  });
                });
}

}  // namespace tern::gpu
