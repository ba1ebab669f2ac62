#include "backend/gpu/kernels/float/float_matmul_matrix.h"

#include <array>
#include <optional>
#include <span>

#include "backend/gpu/kernels/f16_shapes.h"
#include "backend/gpu/kernels/float/expert_sums.h"
#include "backend/gpu/kernels/matrix_tile.h"
#include "backend/gpu/kernels/staged_vectors.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

constexpr uint32_t kPiece = 16;  // values of a row that an invocation unpacks at a time

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

struct HalvesTile : MatrixTile {
  FloatMatrixMatmulConfig c;
  Name<U32> n_tokens, n_rows;  // tokens of the batch, rows of the binding
  Shared<F16> staged;
  std::optional<ExpertTile> expert = {};

  // A row of the binding, from that of the tile. Those past the end are the last one.
  Name<U32> row(Temp<U32> of_tile) const {
    auto row = wgsl::let("row", min(first_row + std::move(of_tile), n_rows - 1u));
    return expert ? wgsl::let("row_of_all", row + expert->before) : row;
  }
};

HalvesTile tile_of(const FloatMatrixMatmulConfig& c, uint32_t n_matrices, const Name<U32>& n_rows,
                   const Name<U32>& n_tokens, const WorkgroupId& wg, const LocalIndex& tid) {
  const MatrixTileShape shape = tile_shape(c, n_matrices);
  CHECK(c.cols % shape.block == 0 && c.cols % c.coding.values() == 0 && shape.block % (c.shape.k * c.tile.splits) == 0);
  CHECK(c.tile_rows == shape.rows() && c.tile_tokens == shape.tokens() && c.tile_tokens % kRowsOfGroup == 0);
  auto staged = shared<F16>("staged", shape.staged());
  return {matrix_tile(shape, wg, tid), c, n_tokens, n_rows, staged};
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

// Layout of both sides in workgroup memory: quad k of piece p has index k · pieces + p in its row, so that adjacent
// invocations, which have adjacent pieces, store to adjacent banks.
//
// Stages one matrix's weights in workgroup memory, a piece of a row at a time. Rows past the end load the last one
// again; their results are not stored.
class WeightStage {
 public:
  WeightStage(const HalvesTile& t, const WeightPlanes& w, uint32_t matrix)
      : t_(t), w_(w), unpack_(w.coding), start_(matrix * t.c.tile_rows * t.shape.stride) {
    if (!w_.coding.has_codes()) return;
    if (UnpackHalves::serves(w.coding)) halves_.emplace(w.coding);
    for (uint32_t first = 0; first < n_pieces(); first += t.c.workgroup()) {
      auto piece = let("piece", t.tid + first);
      auto row = t.row(piece / of_row());
      Piece made{piece, let("row_units", row * (t.c.cols / w.coding.values())), {}};
      for (uint32_t slot = 0; slot < t.c.tile.ahead; ++slot) {
        std::vector<Var<U32>> words;
        for (uint32_t i = 0; i < w.coding.words_of_scale(); ++i) words.push_back(var("scale_words", 0u));
        if (has_piece_in_word()) {
          made.slots.push_back({{}, var("word_of_piece", 0u), std::move(words)});
        } else {
          made.slots.push_back({var("unit", splat<WeightUnits>(0u)), {}, std::move(words)});
        }
      }
      pieces_.push_back(std::move(made));
    }
  }

  // Starts loading the codes of a block, while blocks before it are multiplied.
  void fetch(const Name<U32>& block, uint32_t slot) const {
    for (const Piece& p : pieces_) {
      const Fetched& to = p.slots[slot];
      auto at = unit_at(p, block);
      if (to.word) {
        *to.word = component(w_.unit(e(at)), word_in_unit(p, block));
      } else {
        *to.unit = w_.unit(e(at));
      }
      if (w_.coding.group == 0) continue;
      const auto places = w_.scale_places(at);
      for (size_t i = 0; i < places.size(); ++i) to.scale_words[i] = w_.scale_word(e(places[i]));
    }
  }

  // Stores the fetched block in the stage that begins at `base`.
  void store(const Name<U32>& block, const Name<U32>& base, uint32_t slot) const {
    if (!w_.coding.has_codes()) return store_floats(block, base);
    for (const Piece& p : pieces_) {
      const Fetched& from = p.slots[slot];
      const auto words = from.word ? std::vector{word_of(p, *from.word)} : words_of(p, let("fetched", *from.unit));
      const UnitScale scale = scale_of(p, block, from);
      auto to = let("to", base + start_ + p.piece / of_row() * t_.shape.stride + p.piece % of_row() * 4u);
      const auto store_quads = [&] {
        const uint32_t per_word = 4 / static_cast<uint32_t>(words.size());
        const auto half_scale = halves_ ? std::optional(let("half_scale", f16(scale.scale))) : std::nullopt;
        for (uint32_t k = 0; k < 4; ++k) {
          auto quad = let("to_quad", to + 4 * of_row() * k);
          const Name<U32>& word = words[k / per_word];
          if (halves_) {
            put_halves(t_.staged, quad, let("value", (*halves_)(word, k % per_word, *half_scale)));
          } else {
            put_halves(t_.staged, quad, let("value", scaled(w_.coding, unpack_.of_word(word, k % per_word), scale)));
          }
        }
      };
      if (n_pieces() % t_.c.workgroup() == 0) {
        store_quads();
      } else {
        when(p.piece < n_pieces(), store_quads);
      }
    }
  }

 private:
  struct Fetched {
    std::optional<Var<WeightUnits>> unit;
    std::optional<Var<U32>> word;  // if it has all of the piece
    std::vector<Var<U32>> scale_words;
  };
  struct Piece {
    Name<U32> piece;             // index in the tile
    Name<U32> row_units;         // where the row's units start
    std::vector<Fetched> slots;  // of the blocks that are being loaded
  };

  uint32_t of_row() const { return t_.shape.block / kPiece; }
  uint32_t n_pieces() const { return t_.c.tile_rows * of_row(); }
  Name<U32> number_in_row(const Piece& p, const Name<U32>& block) const {
    return let("number", block * of_row() + p.piece % of_row());
  }

  Name<U32> unit_at(const Piece& p, const Name<U32>& block) const {
    return let("at", p.row_units + number_in_row(p, block) / (w_.coding.values() / kPiece));
  }
  UnitScale scale_of(const Piece& p, const Name<U32>& block, const Fetched& from) const {
    if (w_.coding.group == 0) return {let("scale_of_unit", 1.0f), {}};
    std::vector<Name<U32>> words;
    for (const Var<U32>& word : from.scale_words) words.push_back(let("scale_word", word));
    return w_.scale_of(unit_at(p, block), words);
  }

  // True if one word of a unit has the piece, and perhaps another one: then the others are not loaded.
  bool has_piece_in_word() const { return w_.coding.bits() <= 2; }
  Temp<U32> word_in_unit(const Piece& p, const Name<U32>& block) const {
    auto number = number_in_row(p, block);
    return w_.coding.words == WeightWords::kSigns ? (number >> 1u) & 3u : number & 3u;
  }
  // That word, with the piece's quads at its lowest bits.
  Name<U32> word_of(const Piece& p, const Var<U32>& fetched) const {
    if (w_.coding.words == WeightWords::kSigns) return let("word", fetched >> ((p.piece & 1u) * 4u));
    return let("word", fetched);
  }
  // The words that hold the piece's four quads, starting at their lowest bits.
  std::vector<Name<U32>> words_of(const Piece& p, const Name<WeightUnits>& unit) const {
    if (w_.coding.words == WeightWords::kCodes8) return {at(unit, 0), at(unit, 1), at(unit, 2), at(unit, 3)};
    CHECK(w_.coding.words == WeightWords::kCodes4);
    auto is_second = let("is_second", (p.piece & 1u) == 1u);
    auto low = let("low_word", select(at(unit, 0), at(unit, 2), is_second));
    auto high = let("high_word", select(at(unit, 1), at(unit, 3), is_second));
    return {low, high};
  }

  void store_floats(const Name<U32>& block, const Name<U32>& base) const {
    const uint32_t per_unit = w_.coding.quads(), quads = t_.shape.block / 4;
    loop("i", t_.tid, t_.c.tile_rows * quads, t_.c.workgroup(), [&](const Name<U32>& i) {
      auto row = t_.row(i / quads);
      auto quad = let("quad", block * quads + i % quads);
      auto at = let("at", row * (t_.c.cols / w_.coding.values()) + quad / per_unit);
      auto unit = let("unit", w_.unit(e(at)));
      auto in_unit = let("in_unit", quad % per_unit);
      auto place = let("place", i % 4u * of_row() + i % quads / 4u);
      auto to = let("to", base + start_ + i / quads * t_.shape.stride + place * 4u);
      auto value = let("value", unpack_(unit, 0, &in_unit));
      if (w_.coding.group == 0) return put_halves(t_.staged, to, value);
      const UnitScale scale = w_.scale(at);
      auto product = let("scaled", scaled(w_.coding, e(value), scale));
      put_halves(t_.staged, to, product);
    });
  }

  const HalvesTile& t_;
  const WeightPlanes& w_;
  Unpack unpack_;
  std::optional<UnpackHalves> halves_;
  uint32_t start_;
  std::vector<Piece> pieces_;
};

// Stages activations, as vec4s, because some GPUs load a matrix from storage value by value. Tokens past the end
// contain arbitrary data; their results are not stored.
StagedVectors<Vec4<F16>> staged_activations(const HalvesTile& t) {
  const uint32_t pieces = t.shape.block / kPiece, quads = t.shape.block / 4;
  return {"x_next",
          t.c.tile_tokens * quads,
          t.c.workgroup(),
          t.tid,
          [&, pieces, quads](const Name<U32>& i) {
            auto row = let("x_row", i / quads);
            auto stored = let("x_stored", t.first_token + row);
            if (t.expert) stored = t.expert->x_row(stored);
            auto first = let("x_first", grouped_half(t.c.cols, stored) / 4u +
                                            i % pieces * (kRowsOfGroup * kHalvesOfGroup / 4) + i / pieces % 4u);
            auto to = let("x_to", (row + t.shape.first_token_row()) * t.shape.stride + i % quads * 4u);
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
void multiply(const HalvesTile& t, const Halves& x, std::span<const WeightStage* const> weights, const Factors& factors,
              const Take& take) {
  const auto activations = staged_activations(t);
  const auto fetch = [&](const Name<U32>& block, uint32_t slot) {
    for (const WeightStage* w : weights) w->fetch(block, slot);
    auto behind = let("x_behind_first", block * (t.shape.block * kRowsOfGroup / 4));
    activations.fetch(x, behind, slot);
  };
  const auto store = [&](const Name<U32>& block, const Name<U32>& base, uint32_t slot) {
    for (const WeightStage* w : weights) w->store(block, base, slot);
    const auto put = [&](const Name<Vec4<F16>>& quad, const Name<U32>& to) {
      auto to_quad = let("x_to_quad", base + to);
      put_halves(t.staged, to_quad, quad);
    };
    activations.store(put, slot);
  };
  const auto use = [&]<uint32_t M, uint32_t N, uint32_t K>() {
    const TileSums<F16, F32, M, N, K> sums(t);
    sums.add_blocks(t.c.cols / t.shape.block, t.staged, fetch, store);
    auto through = shared<F32>("sums", t.shape.sums());
    sums.for_each(through, [&](const Name<U32>& row, const Name<U32>& token, std::span<const Name<F32>> of_row) {
      when(token < t.n_tokens && row < t.n_rows, [&] {
        auto unscale = let("unscale", 1.0f / factors(token));
        std::vector<Name<F32>> unscaled;
        for (const auto& sum : of_row) unscaled.push_back(let("unscaled", sum * unscale));
        take(row, token, unscaled);
      });
    });
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
                  const WeightStage stage(t, planes, 0);
                  multiply(t, x, std::array{&stage}, factors_of(token_scales),
                           [&](const Name<U32>& row, const Name<U32>& token, const std::vector<Name<F32>>& sums) {
                             auto index = let("index", token * c.rows + range.get<"first">() + row);
                             if (c.store == Store::kAdd) {
                               y[index] += sums[0];
                             } else {
                               y[index] = sums[0];
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
                  const HalvesTile t = make_tile(c, 2, n_rows, wg, tid, params);
                  const WeightStage gate_stage(t, gate, 0), up_stage(t, up, 1);
                  multiply(t, x, std::array{&gate_stage, &up_stage}, factors_of(token_scales),
                           [&](const Name<U32>& row, const Name<U32>& token, const std::vector<Name<F32>>& sums) {
                             y[token * c.rows + row] = gated(c.act, sums[0], sums[1]);
                           });
                });
}

ExpertMatrixMatmulKernel expert_matmul_matrix(const ExpertMatrixMatmulConfig& c) {
  return kernel("expert_matmul_matrix", c.linear.workgroup(),
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, Halves x, ExpertTiles tiles, ExpertBias bias,
                    Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  const WeightPlanes planes(c.linear.coding, w, scales);
                  const HalvesTile t = make_tile(c, 1, wg, tid, tiles);
                  const WeightStage stage(t, planes, 0);
                  const auto factors = factors_of(t, tiles);
                  multiply(t, x, std::array{&stage}, factors,
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
                  const WeightStage gate_stage(t, gate, 0), up_stage(t, up, 1);
                  const auto factors = factors_of(t, tiles);
                  multiply(t, x, std::array{&gate_stage, &up_stage}, factors,
                           [&](const Name<U32>& row, const Name<U32>& token, const std::vector<Name<F32>>& sums) {
                             auto index = let("index", t.expert->choice(token) * c.linear.rows + row);
                             y[index] = expert_gated(c, n_experts, sums[0], sums[1], bias, t.expert->before, row);
                           });
                });
}

}  // namespace tern::gpu
