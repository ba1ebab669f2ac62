#include "backend/gpu/kernels/float/float_matmul_few.h"

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "backend/gpu/kernels/f16_shapes.h"
#include "backend/gpu/kernels/float/tile_results.h"
#include "backend/gpu/kernels/matrix_tile.h"
#include "backend/gpu/kernels/staged_vectors.h"
#include "base/bytes.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

// Lanes that share a row load a cache line of it, a unit each. Then they unpack one word each and stage them, which is
// a block; a line has four. So a block's columns are runs that lie a unit apart.
constexpr uint32_t kBlock = 128, kBlocksOfLine = 4, kLine = kBlock * kBlocksOfLine;  // columns
constexpr uint32_t kStride = kBlock + 8;  // of a staged row: 16 bytes of padding make rows start in different banks

uint32_t codes_of_word(const WeightCoding& coding) { return 32 / coding.bits(); }
uint32_t lanes_of_row(const WeightCoding& coding) { return kBlock / codes_of_word(coding); }
uint32_t workgroup_of_team(const FloatMatmulFewConfig& c) { return c.workgroup() / c.teams; }

MatrixTileShape tile_shape(const FloatMatmulFewConfig& c, uint32_t n_matrices) {
  return {.tile = {.subgroup_rows = 1,
                   .subgroup_tokens = 1,
                   .matrices_of_rows = c.tile_rows / c.shape.n,
                   .matrices_of_tokens = c.tile_tokens / c.shape.m,
                   .splits = c.splits},
          .shape = c.shape,
          .subgroup = c.subgroup,
          .n_matrices = n_matrices,
          .block = kBlock,
          .stride = kStride};
}

struct LineTile : MatrixTile {
  FloatMatmulFewConfig c;
  Name<U32> n_tokens, n_rows;  // tokens of the batch, rows of the binding
  Shared<F16> staged;          // [teams, matrices, rows, kStride]
  Name<U32> lane, team;        // of the team; index of the team

  uint32_t staged_rows() const { return shape.n_matrices * c.tile_rows; }
  uint32_t n_lines() const { return c.cols / kLine; }
};

LineTile make_tile(const FloatMatmulFewConfig& c, uint32_t n_matrices, const Name<U32>& n_rows, const WorkgroupId& wg,
                   const LocalIndex& tid, const ParamsBuffer& params) {
  CHECK(has_float_matmul_few(c, n_matrices));
  const MatrixTileShape shape = tile_shape(c, n_matrices);
  auto n_tokens = let("n_tokens", params[kNTokens]);
  auto staged = shared<F16>("staged", c.teams * n_matrices * c.tile_rows * kStride);
  const MatrixTile tile = matrix_tile(shape, wg, tid);
  auto lane = let("lane_of_team", tid % workgroup_of_team(c));
  auto team = let("team", tid / workgroup_of_team(c));
  return {tile, c, n_tokens, n_rows, staged, lane, team};
}

// One matrix's weights on their way into workgroup memory. Rows past the end load the last one again; their results are
// not stored.
class LineStage {
 public:
  LineStage(const LineTile& t, const WeightPlanes& w, uint32_t matrix)
      : t_(t),
        w_(w),
        unpack_(w.coding),
        unit_(let("unit_of_line", t.lane % lanes_of_row(w.coding))),
        swap_(let("swap", unit_ / (lanes_of_row(w.coding) / 2))) {
    const uint32_t lanes = lanes_of_row(w.coding), at_once = workgroup_of_team(t.c) / lanes;
    auto rows_before = let("rows_before", t.team * t.staged_rows() + matrix * t.c.tile_rows);
    for (uint32_t first = 0; first < t.c.tile_rows; first += at_once) {
      auto of_tile = let("row_of_tile", t.lane / lanes + first);
      auto row = let("row_of_weights", min(t.first_row + of_tile, t.n_rows - 1u));
      auto units = let("row_units", row * (t.c.cols / w.coding.values()) + unit_);
      auto to = let("to_row", (rows_before + of_tile) * kStride + unit_ * codes_of_word(w.coding));
      rows_.push_back(
          {units, to, var<WeightUnits>("next_units"), var<WeightUnits>("units"), var("next_scale", 0u), {}});
    }
  }

  // Starts loading a line of each row.
  void fetch(const Name<U32>& line) {
    for (Row& r : rows_) {
      auto at = let("at", r.units + line * lanes_of_row(w_.coding));
      r.next = w_.unit(e(at));
      auto scale = let("scale_at", at / w_.coding.units_per_group());
      r.next_scale = w_.scale_word(scale / 2u) >> ((scale & 1u) * 16u);
    }
  }

  // What was fetched is the line that store() stages. `exists`: 0 for a line past the end.
  void take_over(const Name<F32>& exists) {
    for (Row& r : rows_) {
      r.units_of_line = r.next;
      auto pair = let("pair", unpack2x16float(packed<F16x2>(e(r.next_scale))));
      r.scale.emplace(let("scale", f16(at(pair, 0) * exists)));
    }
  }

  // Stages the next word of each unit.
  void store() const {
    const uint32_t bits = w_.coding.bits(), mask = bits == 2 ? 0x33333333u : 0x55555555u;
    for (const Row& r : rows_) {
      auto four = let("four", r.units_of_line);
      auto word = let("word", at(four, 0));
      r.units_of_line = vec4u(at(four, 1), at(four, 2), at(four, 3), word);
      auto swapped = let("swapped", ((word >> bits) & mask) | ((word << bits) & ~mask));
      auto quads = let("quads", select(word, swapped, swap_ == 1u));
      for (uint32_t k = 0; k < codes_of_word(w_.coding) / 4; ++k) {
        auto to = let("to_quad", r.to + (swap_ ^ k) * 4u);
        put_halves(t_.staged, to, let("value", unpack_(quads, k, *r.scale)));
      }
    }
  }

 private:
  struct Row {
    Name<U32> units, to;                   // where this invocation's units of the row are, and where they are staged
    Var<WeightUnits> next, units_of_line;  // units_of_line: with the word to stage next in front
    Var<U32> next_scale;
    std::optional<Name<F16>> scale;
  };

  const LineTile& t_;
  const WeightPlanes& w_;
  UnpackHalves unpack_;
  Name<U32> unit_, swap_;  // swap_: 1 for invocations that exchange adjacent quads, so that none meet in a bank
  std::vector<Row> rows_;
};

// Adds up the products of this subgroup's share of the columns.
template <uint32_t M, uint32_t N, uint32_t K>
class FewProducts {
 public:
  FewProducts(const LineTile& t, const HalfValues& x, std::span<const WeightPlanes* const> planes)
      : t_(t), x_(x), coding_(planes.front()->coding), sums_(t), share_(let("share", *t.split % splits_of_team())) {
    for (uint32_t i = 0; i < planes.size(); ++i) weights_.emplace_back(t, *planes[i], i);
  }

  const TileSums<F16, F32, M, N, K>& sums() const { return sums_; }

  void add_all() {
    const uint32_t last = t_.n_lines() - 1, teams = t_.c.teams;
    auto first_line = let("first_line", min(t_.team, last));
    for (LineStage& w : weights_) w.fetch(first_line);
    loop("first", 0u, t_.n_lines(), teams, [&](const Name<U32>& first) {
      auto wanted = let("wanted", first + t_.team);
      auto line = let("line", min(wanted, last));
      auto next = let("next_line", min(wanted + teams, last));
      auto exists = let("exists", select(0.0f, 1.0f, wanted <= last));
      for (LineStage& w : weights_) {
        w.take_over(exists);
        w.fetch(next);
      }
      // A loop, since drivers take long to compile many barriers.
      loop("block", 0u, kBlocksOfLine, 1u, [&](const Name<U32>& block) { add_block(line, block); });
    });
  }

 private:
  uint32_t splits_of_team() const { return t_.c.splits / t_.c.teams; }

  void add_block(const Name<U32>& line, const Name<U32>& block) {
    workgroupBarrier();  // other subgroups may still multiply the block before
    for (const LineStage& w : weights_) w.store();
    const uint32_t steps = kBlock / K / splits_of_team();
    std::vector<Name<U32>> columns;
    std::vector<std::vector<Name<LeftMatrix<F16, M, K>>>> tokens;
    for (uint32_t step = 0; step < steps; ++step) {
      columns.push_back(let("column", (share_ * steps + step) * K));
      tokens.push_back(tokens_at(line, block, columns.back()));
    }
    workgroupBarrier();
    auto start = let("start", t_.team * (t_.staged_rows() * kStride));
    for (uint32_t step = 0; step < steps; ++step)
      sums_.add_step(t_.staged, tokens[step], let("w_at", start + columns[step]));
  }

  // The activations that belong to K staged columns.
  std::vector<Name<LeftMatrix<F16, M, K>>> tokens_at(const Name<U32>& line, const Name<U32>& block,
                                                     const Name<U32>& staged_column) const {
    const uint32_t run = codes_of_word(coding_);
    auto of_line = let("of_line", staged_column / run * coding_.values() + staged_column % run + block * run);
    auto column = let("column_of_x", line * kLine + of_line);
    auto behind = let("behind", column / kHalvesOfGroup * (kHalvesOfGroup * kRowsOfGroup) + column % kHalvesOfGroup);
    std::vector<Name<LeftMatrix<F16, M, K>>> tokens;
    for (uint32_t m = 0; m < t_.c.tile_tokens / M; ++m) {
      auto first = let("x_row", t_.first_token + m * M);
      tokens.push_back(subgroupMatrixLoad<LeftMatrix<F16, M, K>>(x_, grouped_half(t_.c.cols, first) + behind,
                                                                 MatrixLayout::kRowMajor, kHalvesOfGroup));
    }
    return tokens;
  }

  const LineTile& t_;
  const HalfValues& x_;
  WeightCoding coding_;
  TileSums<F16, F32, M, N, K> sums_;
  Name<U32> share_;
  std::vector<LineStage> weights_;
};

// Calls take(row of the binding, token, each matrix's sum) for every result of this invocation that exists.
template <class Take>
void multiply(const LineTile& t, const HalfValues& x, std::span<const WeightPlanes* const> planes,
              const TokenScales& scales, const Take& take) {
  const auto use = [&]<uint32_t M, uint32_t N, uint32_t K>() {
    FewProducts<M, N, K> products(t, x, planes);
    products.add_all();
    take_results(t, products.sums(), [&](const Name<U32>& token) { return scales[token]; }, take);
  };
  CHECK(with_f16_shape(t.c.shape, use));
}

bool has_lines(const WeightCoding& coding) {
  return UnpackHalves::serves(coding) && coding.bits() <= 2 && coding.group >= coding.values();
}

}  // namespace

uint32_t FloatMatmulFewConfig::workgroup_bytes(uint32_t n_matrices) const {
  return teams * n_matrices * tile_rows * kStride * 2 + tile_shape(*this, n_matrices).sums() * 4;
}

bool has_float_matmul_few(const FloatMatmulFewConfig& c, uint32_t n_matrices) {
  if (!has_lines(c.coding) || (n_matrices == 2 && !has_lines(c.up_coding)) || c.cols % kLine != 0) return false;
  if (n_matrices == 2 && c.up_coding.bits() != c.coding.bits()) return false;
  if (c.splits % c.teams != 0 || c.tile_rows % c.shape.n != 0 || c.tile_tokens % kRowsOfGroup != 0) return false;
  const uint32_t at_once = workgroup_of_team(c) / lanes_of_row(c.coding);
  return c.splits > 1 && at_once > 0 && c.tile_rows % at_once == 0 && kRowsOfGroup % c.shape.m == 0 &&
         kBlock % (c.shape.k * (c.splits / c.teams)) == 0 && kHalvesOfGroup % c.shape.k == 0 &&
         has_float_matrix_matmul(c.shape);
}

FloatMatmulFewKernel float_matmul_few(const FloatMatmulFewConfig& c) {
  return kernel(c.store == Store::kAdd ? "float_matmul_few_add" : "float_matmul_few", c.workgroup(),
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, HalfValues x, TokenScales token_scales,
                    RowRange range, ParamsBuffer params, InOut<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const WeightPlanes planes(c.coding, w, scales);
                  auto n_rows = let("n_rows", range.get<"count">());
                  const LineTile t = make_tile(c, 1, n_rows, wg, tid, params);
                  multiply(t, x, std::array{&planes}, token_scales, stored_in(y, c.rows, c.store, range));
                });
}

FloatGluMatmulFewKernel float_glu_matmul_few(const FloatMatmulFewConfig& c) {
  return kernel("float_glu_matmul_few", c.workgroup(),
                [&](In<"w_gate", WeightUnits> w_gate, In<"gate_scales", U32> gate_scales, In<"w_up", WeightUnits> w_up,
                    In<"up_scales", U32> up_scales, HalfValues x, TokenScales token_scales, ParamsBuffer params,
                    Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const WeightPlanes gate(c.coding, w_gate, gate_scales), up(c.up_coding, w_up, up_scales);
                  auto n_rows = let("n_rows", e(c.rows));
                  const LineTile t = make_tile(c, 2, n_rows, wg, tid, params);
                  multiply(t, x, std::array{&gate, &up}, token_scales, gated_in(y, c.rows, c.act));
                });
}

}  // namespace tern::gpu
