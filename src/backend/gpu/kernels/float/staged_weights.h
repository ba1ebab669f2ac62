// The weights of a tile on f16 subgroup matrices, on their way into workgroup memory. Included only by the file of its
// kernels.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "backend/gpu/kernels/expert_tiles.h"
#include "backend/gpu/kernels/float/float_matmul_matrix.h"
#include "backend/gpu/kernels/matrix_tile.h"
#include "backend/gpu/kernels/staged_vectors.h"

namespace tern::gpu {

using namespace wgsl;

struct HalvesTile : MatrixTile {
  FloatMatrixMatmulConfig c;
  Name<U32> n_tokens, n_rows;  // tokens of the batch, rows of the binding
  Shared<F16> staged;
  bool by_rows = false;  // all weights are staged by a RowStage
  std::optional<ExpertTile> expert = {};

  // A row of the binding, from that of the tile. Those past the end are the last one.
  Name<U32> row(Temp<U32> of_tile) const {
    auto row = wgsl::let("row", min(first_row + std::move(of_tile), n_rows - 1u));
    return expert ? wgsl::let("row_of_all", row + expert->before) : row;
  }
};

inline constexpr uint32_t kPiece = 16;  // values of a row that an invocation unpacks at a time

// Layout of both sides in workgroup memory, unless HalvesTile::by_rows: quad k of piece p has index k · pieces + p in
// its row, so that adjacent invocations, which have adjacent pieces, store to adjacent banks.
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

// The same for codes of at most two bits. A load from 32 rows takes as long as one from 32 places in a row, so an
// invocation loads 128 values of a row at once, and unpacks them while it stages the blocks that they belong to. Both
// sides then lie column by column (HalvesTile::by_rows): eight adjacent rows are stored to different banks.
class RowStage {
 public:
  static constexpr uint32_t kAtOnce = 128;
  // True if it can stage the weights of such a tile.
  static bool serves(const MatrixTileShape& s, const WeightCoding& coding, uint32_t cols) {
    const bool divides_rows = s.rows() % s.workgroup() == 0 || s.workgroup() == 2 * s.rows();
    return UnpackHalves::serves(coding) && coding.bits() <= 2 && coding.group >= std::max(coding.values(), s.block) &&
           cols % kAtOnce == 0 && kAtOnce % s.block == 0 && s.block < kAtOnce && s.tile.ahead == 1 &&
           s.tile.splits == 1 && divides_rows;
  }

  RowStage(const HalvesTile& t, const WeightPlanes& w, uint32_t matrix) : t_(t), w_(w), unpack_(w.coding) {
    for (uint32_t first = 0; first < t.c.tile_rows; first += t.c.workgroup()) {
      auto of_tile = let("row_of_tile", (t.tid + first) % t.c.tile_rows);
      auto row = t.row(e(of_tile));
      auto units_at = let("row_units", row * (t.c.cols / w.coding.values()));
      auto to = let("to", (of_tile + matrix * t.c.tile_rows) * t.shape.stride);
      Row made{units_at, to, {}, {}, {}, {}};
      for (uint32_t i = 0; i < n_units(); ++i) made.next.push_back(var("next_units", splat<WeightUnits>(0u)));
      for (uint32_t i = 0; i < n_units() * 4; ++i) made.words.push_back(var("word_of_row", 0u));
      for (uint32_t i = 0; i < n_scales(); ++i) {
        made.next_scales.push_back(var("next_scale", 0u));
        made.scales.push_back(var("scale_of_row", f16(0.0f)));
      }
      rows_.push_back(std::move(made));
    }
    load(let("first_load", 0u));
  }

  // Loads 128 values per row right after those before them were taken over.
  void fetch(const Name<U32>& block, uint32_t) const {
    when(block % blocks() == 1u, [&] { load(let("load", min(block / blocks() + 1u, t_.c.cols / kAtOnce - 1))); });
  }

  void store(const Name<U32>& block, const Name<U32>& base, uint32_t) const {
    when(block % blocks() == 0u, [&] { take_over(); });
    for (const Row& r : rows_) {
      const uint32_t each = t_.shape.block / kPiece / teams();
      for (uint32_t i = 0; i < each; ++i) store_piece(r, block, base, i, each);
      const uint32_t words = t_.shape.block * w_.coding.bits() / 32;
      for (uint32_t i = 0; i + words < r.words.size(); ++i) r.words[i] = e(r.words[i + words]);
    }
  }

 private:
  struct Row {
    Name<U32> units_at, to;  // where the row's units start, where it is staged
    std::vector<Var<WeightUnits>> next;
    std::vector<Var<U32>> words, next_scales;  // words: first those of the block
    std::vector<Var<F16>> scales;
  };

  uint32_t blocks() const { return kAtOnce / t_.shape.block; }                        // of a load
  uint32_t teams() const { return std::max(t_.c.workgroup() / t_.c.tile_rows, 1u); }  // which share a row's pieces
  uint32_t n_units() const { return kAtOnce / w_.coding.values(); }
  uint32_t n_scales() const { return std::max(kAtOnce / w_.coding.group, 1u); }

  void load(const Name<U32>& number) const {
    for (const Row& r : rows_) {
      auto at = let("at", r.units_at + number * n_units());
      for (uint32_t i = 0; i < n_units(); ++i) r.next[i] = w_.unit(at + i);
      for (uint32_t i = 0; i < n_scales(); ++i) {
        auto scale = let("scale_at", (at + i * (n_units() / n_scales())) / w_.coding.units_per_group());
        r.next_scales[i] = w_.scale_word(scale / 2u) >> ((scale & 1u) * 16u);
      }
    }
  }

  void take_over() const {
    for (const Row& r : rows_) {
      for (uint32_t i = 0; i < r.next.size(); ++i) {
        auto unit = let("unit", r.next[i]);
        for (uint32_t k = 0; k < 4; ++k) r.words[4 * i + k] = e(at(unit, k));
      }
      for (uint32_t i = 0; i < n_scales(); ++i) {
        auto halves = let("halves", packed<F16x2>(e(r.next_scales[i])));
        auto pair = let("pair", unpack2x16float(halves));
        r.scales[i] = f16(at(pair, 0));
      }
    }
  }

  // The word of the block that has piece `i`, at its lowest bits.
  Name<U32> word(const Row& r, uint32_t i) const {
    const uint32_t of_word = 32 / w_.coding.bits() / kPiece;
    return let("word", r.words[i / of_word] >> (i % of_word * 4));
  }

  // Piece i of the team's `each` pieces of a block.
  void store_piece(const Row& r, const Name<U32>& block, const Name<U32>& base, uint32_t i, uint32_t each) const {
    auto value = word(r, i);
    auto to = let("to_piece", base + r.to + i * kPiece);
    if (teams() == 2) {
      auto is_second = let("is_second", t_.tid >= t_.c.tile_rows);
      value = let("word_of_team", select(value, word(r, each + i), is_second));
      to = let("to_piece_of_team", to + select(0u, each * kPiece, is_second));
    }
    auto scale = let("first_scale", r.scales.front());
    if (n_scales() == 2) {
      auto other = let("second_scale", r.scales.back());
      scale = let("scale", select(scale, other, block % blocks() >= blocks() / 2));
    }
    for (uint32_t k = 0; k < 4; ++k) {
      auto quad = let("to_quad", to + 4 * k);
      put_halves(t_.staged, quad, let("value", unpack_(value, k, scale)));
    }
  }

  const HalvesTile& t_;
  const WeightPlanes& w_;
  UnpackHalves unpack_;
  std::vector<Row> rows_;
};

// One of the two.
class StagedWeights {
 public:
  StagedWeights(const HalvesTile& t, const WeightPlanes& w, uint32_t matrix) : how_(made(t, w, matrix)) {}
  void fetch(const Name<U32>& block, uint32_t slot) const {
    std::visit([&](const auto& how) { how.fetch(block, slot); }, how_);
  }
  void store(const Name<U32>& block, const Name<U32>& base, uint32_t slot) const {
    std::visit([&](const auto& how) { how.store(block, base, slot); }, how_);
  }

 private:
  using How = std::variant<WeightStage, RowStage>;
  static How made(const HalvesTile& t, const WeightPlanes& w, uint32_t matrix) {
    if (t.by_rows) return RowStage(t, w, matrix);
    return WeightStage(t, w, matrix);
  }
  How how_;
};

}  // namespace tern::gpu
