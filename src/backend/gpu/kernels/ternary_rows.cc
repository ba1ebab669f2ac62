#include "backend/gpu/kernels/ternary_rows.h"

#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "backend/gpu/kernels/layers_attention.h"
#include "backend/gpu/kernels/norm_fused.h"

namespace tern::gpu {

using namespace wgsl;
using namespace layers;

namespace {

// Where in a layer a row is normed: before which product.
using Stage = uint32_t;
constexpr Stage kBeforeQkv = 0, kBeforeOutput = 1, kBeforeGlu = 2, kBeforeDown = 3;

class RowsLayers {
 public:
  RowsLayers(const TernaryRowsConfig& c, const In<"w", TernaryWeights>& w, const Vectors& vectors,
             const InOut<"x", F32>& x, const In<"angles", Vec2<F32>>& angles, const ParamsBuffer& params,
             const Cache& kv, const LayerWords& words, const LayerBuiltins& b)
      : c_(c),
        w_(w),
        vectors_(vectors),
        x_(x),
        b_(b),
        exchange_(c_, words),
        staged_(
            shared<QuantizedWords>("staged", c.tokens * std::min(c.most_columns(), whole_blocks(c.widest_row())) / 16)),
        residual_(shared<F32>("residual", c.tokens * c.most_rows)),
        row_stats_(shared<Vec2<F32>>("row_stats", c.subgroups())),
        made_(shared<Vec2<F32>>("made_stats", c.subgroups() * c.tokens)),
        scales_(shared<F32>("row_scales", c.tokens)),
        sums_(shared<I32>("row_sums", c.subgroups())),
        last_tag_(let("last_tag", atomicLoad(words[LayersShape::kTag]))),
        attention_(c_, angles, params, kv, exchange_, b),
        my_row_(let("my_row", b.tid & (c.tokens - 1))),
        is_row_(let("is_row", my_row_ < attention_.n_rows())),
        my_words_(let("my_words", my_row_ * c.row_words())),
        team_(let("team", b.tid / team())),
        lane_(let("lane_of_team", b.tid % team())),
        // Of rows that are not there, teams take the last one's values.
        team_row_(let("row_of_team", min(team_, attention_.n_rows() - 1u))),
        team_words_(let("words_of_team", team_row_ * c.row_words())),
        x_share_(b, c.d_model),
        qkv_(product(c.qkv_width(), c.d_model, c.qkv_lanes, {c.qkv_at}, kBeforeQkv)),
        output_(product(c.d_model, c.q_width(), c.square_lanes, {c.output_at}, kBeforeOutput)),
        glu_(product(c.d_ff, c.d_model, c.glu_lanes, {c.gate_at, c.up_at}, kBeforeGlu)),
        down_(product(c.d_model, c.d_ff, c.wide_lanes, {c.down_at}, kBeforeDown)) {
    const uint32_t n_unfinished = c.tokens * c.most_rows;
    if (std::max(output_.pieces.size(), down_.pieces.size()) == 1) return;
    const bool has_room = n_unfinished <= LayersAttention::idle_values(c);
    unfinished_ = has_room ? attention_.idle_memory() : shared<F32>("unfinished", n_unfinished);
  }

  void run(const LayerWords& words) {
    load_residual();
    loop("layer", 0u, c_.n_layers, 1u, [&](const Name<U32>& layer) {
      auto tag = let("tag", (last_tag_ + 1u + layer) & kTagMask);
      auto next_tag = let("next_tag", (tag + 1u) & kTagMask);
      auto vectors_at = let("vectors_at", layer * c_.layer_values());
      auto next_vectors = let("next_vectors", min(layer + 1u, c_.n_layers - 1) * c_.layer_values());
      const auto w_scale = [&](uint32_t which) { return let("w_scale", vectors_[vectors_at + (c_.scales() + which)]); };
      const Asked for_qkv = ask(qkv_, layer);
      const auto q_scale = w_scale(0), k_scale = w_scale(1), v_scale = w_scale(2);
      multiply(qkv_, layer, for_qkv, tag, [&](const Name<U32>& row, const Dots& dots, const ActivationScale& scale) {
        const uint32_t first_key = c_.q_width(), first_value = first_key + c_.kv_width();
        auto of_k_or_v = let("of_k_or_v", select(v_scale, k_scale, row < first_value));
        auto of_row = let("w_scale_of_row", select(of_k_or_v, q_scale, row < first_key));
        auto place = let("place", row + my_words_ + c_.qkv_words());
        exchange_.put(place, let("value", dequantise(dots[0], scale, of_row)), tag);
      });
      attention_.attend_rows(layer, tag);
      const Asked for_output = ask(output_, layer);
      const auto output_scale = w_scale(3);
      merge(vectors_at, tag);
      const Asked for_glu = ask(glu_, layer);
      const auto gate_scale = w_scale(4), up_scale = w_scale(5);
      {
        Made made(*this, kBeforeGlu, vectors_at, tag);
        multiply(output_, layer, for_output, tag,
                 [&](const Name<U32>& row, const Dots& dots, const ActivationScale& scale) {
                   made.add(row, add_to_residual(row, let("value", dequantise(dots[0], scale, output_scale))));
                 });
        made.tell();
      }
      const Asked for_down = ask(down_, layer);
      const auto down_scale = w_scale(6);
      {
        Made made(*this, kBeforeDown, vectors_at, tag);
        multiply(glu_, layer, for_glu, tag, [&](const Name<U32>& row, const Dots& dots, const ActivationScale& scale) {
          auto gate = let("gate", dequantise(dots[0], scale, gate_scale));
          auto up = let("up", dequantise(dots[1], scale, up_scale));
          made.add(row, let("value", gated(c_.act, gate, up)));
        });
        made.tell();
      }
      Made made(*this, kBeforeQkv, next_vectors, next_tag);
      multiply(down_, layer, for_down, tag, [&](const Name<U32>& row, const Dots& dots, const ActivationScale& scale) {
        made.add(row, add_to_residual(row, let("value", dequantise(dots[0], scale, down_scale))));
      });
      made.tell();
    });
    store_residual();
    keep_last_tag(c_, words, b_, last_tag_);
  }

 private:
  using Dots = std::vector<Name<I32>>;

  uint32_t team() const { return c_.workgroup / c_.tokens; }
  uint32_t subgroups_of_team() const { return team() / c_.caps.subgroup; }

  uint32_t gain_of(Stage stage) const {
    return std::array{c_.qkv_gain(), c_.output_gain(), c_.glu_gain(), c_.down_gain()}[stage];
  }
  uint32_t region_of(Stage stage) const {
    return std::array{c_.x_words(), c_.attention_words(), c_.middle_words(), c_.ffn_words()}[stage];
  }
  // Where part `i` of a row's statistics is: of Σx², and of max |x·gain|.
  std::vector<Name<U32>> stat_places(Stage stage, const Name<U32>& row, const Name<U32>& i) const {
    constexpr uint32_t kMost = LayersShape::kMostWorkgroups;
    auto first = let("stats_at", row * (2 * kMost) + i + (c_.stats_words() + stage * c_.tokens * 2 * kMost));
    auto second = let("stats_at", first + kMost);
    return {first, second};
  }

  // Over the lanes of a subgroup that lie `from`, 2 · from, … apart, up to `to`. (subgroupMax is not asked: on some
  // drivers it was wrong in kernels like this.)
  Name<F32> over_lanes(Reduce how, Name<F32> value, uint32_t from, uint32_t to) const {
    for (uint32_t mask = from; mask < to; mask *= 2) {
      auto other = subgroupShuffleXor(value, mask);
      value = how == Reduce::kSum ? let("both", value + other) : let("both", max(value, other));
    }
    return value;
  }

  // Values of my_row_ that the workgroup makes for the norm before `stage`: as the others are told of them, and their
  // statistics.
  class Made {
   public:
    Made(const RowsLayers& l, Stage stage, const Name<U32>& vectors_at, const Name<U32>& tag)
        : l_(l),
          stage_(stage),
          vectors_at_(vectors_at),
          tag_(tag),
          squares_(var("squares", 0.0f)),
          largest_(var("largest", 0.0f)) {}
    // On the invocations of rows that are there.
    void add(const Name<U32>& col, const Name<F32>& value) const {
      auto gain = let("gain", l_.vectors_[vectors_at_ + col + l_.gain_of(stage_)]);
      auto weighted = let("vg", value * gain);
      squares_ += value * value;
      largest_ = max(largest_, abs(weighted));
      auto place = let("place_in_row", l_.exchange_.place(l_.region_of(stage_), col) + l_.my_words_);
      l_.exchange_.put(place, weighted, tag_);
    }
    // All invocations have to call it.
    void tell() const {
      const TernaryRowsConfig& c = l_.c_;
      const uint32_t subgroup = c.caps.subgroup, n_sub = c.subgroups(), n = n_sub * c.tokens;
      auto my_squares = let("my_squares", squares_);
      auto my_largest = let("my_largest", largest_);
      auto s = l_.over_lanes(Reduce::kSum, my_squares, c.tokens, subgroup);
      auto m = l_.over_lanes(Reduce::kMax, my_largest, c.tokens, subgroup);
      when(l_.b_.tid % subgroup < c.tokens, [&] { l_.made_[l_.my_row_ * n_sub + l_.b_.tid / subgroup] = vec2f(s, m); });
      workgroupBarrier();
      auto of_subgroup = let("made_of_subgroup", l_.made_[l_.b_.tid & (n - 1)]);
      auto all_squares = l_.over_lanes(Reduce::kSum, let("squares_part", at(of_subgroup, 0)), 1, n_sub);
      auto all_largest = l_.over_lanes(Reduce::kMax, let("largest_part", at(of_subgroup, 1)), 1, n_sub);
      auto row = let("made_row", l_.b_.tid / n_sub);
      when(row < l_.attention_.n_rows() && l_.b_.tid % n_sub == 0u, [&] {
        auto group = let("group", e(l_.b_.wg.x));
        const auto places = l_.stat_places(stage_, row, group);
        l_.exchange_.put(places[0], all_squares, tag_);
        l_.exchange_.put(places[1], all_largest, tag_);
      });
    }

   private:
    const RowsLayers& l_;
    Stage stage_;
    Name<U32> vectors_at_, tag_;
    Var<F32> squares_, largest_;
  };

  // ---- The residual: a workgroup has the same columns of x all along.

  Name<U32> residual_at(const Name<U32>& col) const {
    return let("mine_at", my_row_ * c_.most_rows + (col - x_share_.first));
  }
  template <class Body>
  void for_mine(const Body& body) const {
    loop("col", x_share_.first + b_.tid / c_.tokens, x_share_.end, c_.workgroup / c_.tokens,
         [&](const Name<U32>& col) { when(is_row_, [&] { body(col); }); });
  }
  void load_residual() const {
    auto first_tag = let("first_tag", (last_tag_ + 1u) & kTagMask);
    auto first_vectors = let("first_vectors", 0u);
    Made made(*this, kBeforeQkv, first_vectors, first_tag);
    for_mine([&](const Name<U32>& col) {
      auto value = let("x_value", x_[my_row_ * c_.d_model + col]);
      residual_[residual_at(col)] = value;
      made.add(col, value);
    });
    made.tell();
  }
  Name<F32> add_to_residual(const Name<U32>& col, const Name<F32>& value) const {
    auto mine = residual_at(col);
    auto sum = let("x_new", residual_[mine] + value);
    residual_[mine] = sum;
    return sum;
  }
  void store_residual() const {
    workgroupBarrier();
    for_mine([&](const Name<U32>& col) {
      auto value = let("x_value", residual_[residual_at(col)]);
      x_[my_row_ * c_.d_model + col] = value;
    });
  }

  // ---- Products

  // Of a layer's matrices, of as many rows each, with the rows that are normed before them; in pieces of columns.
  struct Product {
    std::vector<TernaryConfig> pieces;
    Share share;
    std::vector<uint32_t> matrices;  // where layer 0's are
    uint32_t cols;
    Stage stage;
    const TernaryConfig& tiling() const { return pieces.front(); }
    uint32_t groups() const { return tiling().workgroup / tiling().lanes; }
  };
  Product product(uint32_t rows, uint32_t cols, uint32_t lanes, std::vector<uint32_t> matrices, Stage stage) const {
    Product p{.pieces = {}, .share = Share(b_, rows), .matrices = std::move(matrices), .cols = cols, .stage = stage};
    for (uint32_t first = 0; first < cols; first += c_.most_columns()) {
      p.pieces.push_back({.rows = rows,
                          .cols = std::min(cols - first, c_.most_columns()),
                          .caps = c_.caps,
                          .lanes = std::min(lanes, c_.caps.subgroup),
                          .rows_per_group = 1,
                          .workgroup = c_.workgroup,
                          .most_ahead = c_.most_ahead,
                          .loops_planes = true});
    }
    return p;
  }

  // The weights of the invocation's first row, asked for before the activations are there.
  struct Asked {
    Name<U32> row;
    std::vector<TernaryDots> dots;               // of each piece
    std::vector<std::vector<Name<U32>>> starts;  // likewise, of each matrix
  };
  auto load() const {
    return [this](size_t, Temp<U32> i) { return w_[std::move(i)]; };
  }
  // is_first: else they are asked for when they are needed.
  Asked ask_for(const Product& p, const Name<U32>& layer, const Name<U32>& row, bool is_first) const {
    Asked asked{.row = row, .dots = {}, .starts = {}};
    auto safe = let("safe_row", min(row, p.share.end - 1u));
    for (uint32_t i = 0; i < p.pieces.size(); ++i) {
      asked.starts.emplace_back();
      for (const uint32_t matrix : p.matrices) {
        asked.starts.back().push_back(let("start", layer * c_.layer_vectors + safe * (whole_blocks(p.cols) / 64) +
                                                       (matrix + i * c_.most_columns() / 64)));
      }
    }
    for (uint32_t i = 0; i < p.pieces.size(); ++i) {
      TernaryConfig tiling = p.pieces[i];
      if (!is_first) tiling.most_ahead = 0;
      asked.dots.emplace_back(tiling, b_.tid);
      asked.dots.back().load_weights(asked.starts[i], load());
    }
    return asked;
  }
  Asked ask(const Product& p, const Name<U32>& layer) const {
    auto group = let("group_of_row", b_.tid / p.tiling().lanes);
    auto row = let("row", p.share.first + group);
    return ask_for(p, layer, row, /*is_first=*/true);
  }
  // body(row, the dot products of it and my_row_, that row's scale), on the lanes that have a row of x.
  template <class Body>
  void multiply(const Product& p, const Name<U32>& layer, const Asked& asked, const Name<U32>& tag,
                const Body& body) const {
    auto factor = prepare(p, tag);
    auto q_sum = var("q_sum", 0);
    const size_t last = p.pieces.size() - 1;
    CHECK(last == 0 || p.matrices.size() == 1);
    for (uint32_t i = 0; i <= last; ++i) {
      if (i > 0) workgroupBarrier();  // the piece before has been read
      stage(p, i, factor, q_sum, tag);
      if (i == last) {
        auto my_sum = let("my_sum", q_sum);
        auto of_subgroup = reduce_lanes(Reduce::kSum, c_.caps, my_sum, b_.tid, c_.caps.subgroup, c_.workgroup);
        when(b_.tid % c_.caps.subgroup == 0u, [&] { sums_[b_.tid / c_.caps.subgroup] = of_subgroup; });
      }
      workgroupBarrier();
      std::optional<ActivationScale> scale;
      if (i == last) scale = my_scale();
      multiply_row(p, i, asked, scale, body);
      loop("more", p.share.first + p.groups(), p.share.end, p.groups(), [&](const Name<U32>& more) {
        auto group = let("group_of_row", b_.tid / p.tiling().lanes);
        auto row = let("row", more + group);
        multiply_row(p, i, ask_for(p, layer, row, /*is_first=*/false), scale, body);
      });
    }
  }
  ActivationScale my_scale() const {
    auto scale = let("x_scale", scales_[my_row_]);
    auto sum = var("x_sum", 0);
    for (uint32_t i = 0; i < subgroups_of_team(); ++i) sum += sums_[my_row_ * subgroups_of_team() + i];
    return {scale, let("x_sum_of_row", sum)};
  }
  template <class Body>
  void multiply_row(const Product& p, uint32_t piece, const Asked& asked, const std::optional<ActivationScale>& scale,
                    const Body& body) const {
    const TernaryConfig& t = p.pieces[piece];
    const TernaryDots& dots = asked.dots[piece];
    const auto quads = [&]<class P>(uint32_t row, const Name<U32>& i, const P& plane) {
      return staged_[i + plane * t.row_vectors() + row * 4 * t.row_vectors()];
    };
    auto totals = dots.multiply_columns(asked.starts[piece], load(), c_.tokens, quads);
    when(dots.lane() < c_.tokens && is_row_ && asked.row < p.share.end, [&] {
      if (p.pieces.size() > 1) {
        auto where = let("unfinished_at", (asked.row - p.share.first) * c_.tokens + my_row_);
        if (piece > 0) totals[0] = let("total_so_far", totals[0] + i32(unfinished_[where]));
        if (!scale) unfinished_[where] = f32(totals[0]);
      }
      if (scale) body(asked.row, totals, *scale);
    });
  }

  // What a team's row is multiplied with before it is rounded, once all have told of their parts of its statistics. All
  // have read what is in workgroup memory then.
  Name<F32> prepare(const Product& p, const Name<U32>& tag) const {
    constexpr uint32_t kAtOnce = 4;
    auto squares = var("row_squares", 0.0f);
    auto largest = var("row_largest", 0.0f);
    loop("from_part", 0u, b_.n_wg.x, kAtOnce * team(), [&](const Name<U32>& from) {
      std::vector<Name<U32>> parts, places;
      for (uint32_t k = 0; k < kAtOnce; ++k) {
        parts.push_back(let("part", from + lane_ + k * team()));
        auto safe = let("safe_part", min(parts.back(), b_.n_wg.x - 1u));
        for (const auto& place : stat_places(p.stage, team_row_, safe)) places.push_back(place);
      }
      const auto found = exchange_.take(places, tag);
      for (uint32_t k = 0; k < kAtOnce; ++k) {
        when(parts[k] < b_.n_wg.x, [&] { squares += found[2 * k]; });
        largest = max(largest, found[2 * k + 1]);  // the last part, once more, changes nothing
      }
    });
    auto my_squares = let("my_squares", squares);
    auto my_largest = let("my_largest", largest);
    const uint32_t subgroup = c_.caps.subgroup, n = subgroups_of_team();
    auto s = over_lanes(Reduce::kSum, my_squares, 1, subgroup);
    auto m = over_lanes(Reduce::kMax, my_largest, 1, subgroup);
    when(b_.tid % subgroup == 0u, [&] { row_stats_[b_.tid / subgroup] = vec2f(s, m); });
    workgroupBarrier();
    auto all_squares = var("all_squares", 0.0f);
    auto all_largest = var("all_largest", 0.0f);
    for (uint32_t i = 0; i < n; ++i) {
      auto part = let("stats_part", row_stats_[team_ * n + i]);
      all_squares += at(part, 0);
      all_largest = max(all_largest, at(part, 1));
    }
    auto row_squares = let("squares_of_row", all_squares);
    auto row_largest = let("largest_of_row", all_largest);
    const auto [factor_and_scale, scale] = norm_scales(row_squares, row_largest, p.cols, c_.eps);
    when(lane_ == 0u, [&] { scales_[team_] = scale; });
    return factor_and_scale;
  }

  // A piece of each row, as int8 in the order in which it is multiplied.
  void stage(const Product& p, uint32_t piece, const Name<F32>& factor, const Var<I32>& q_sum,
             const Name<U32>& tag) const {
    const TernaryConfig& t = p.pieces[piece];
    const uint32_t n_units = t.cols / 16, first = piece * c_.most_columns() / 16, vectors = t.row_vectors();
    loop("from_unit", 0u, n_units, c_.units_at_once * team(), [&](const Name<U32>& from) {
      std::vector<Name<U32>> units, places;
      for (uint32_t k = 0; k < c_.units_at_once; ++k) {
        units.push_back(let("unit", from + lane_ + k * team()));
        auto safe = let("safe_unit", min(units.back(), n_units - 1) + first);
        for (const auto& place : Exchange::places_of_unit(region_of(p.stage), team_words_, safe))
          places.push_back(place);
      }
      const auto found = exchange_.take(places, tag);
      for (uint32_t k = 0; k < c_.units_at_once; ++k) {
        when(units[k] < n_units, [&] {
          std::vector<Name<I8x4>> words;
          for (uint32_t i = 0; i < 4; ++i) {
            const size_t v = 16 * k + 4 * i;
            auto weighted = let("vg4", vec4f(found[v], found[v + 1], found[v + 2], found[v + 3]));
            auto q = to_int8(weighted * factor);
            words.push_back(pack_int8(c_.caps, q));
            q_sum += sum_of(q);
          }
          auto where = let("staged_at", staged_unit(team_ * (4 * vectors), units[k], vectors));
          staged_[where] = call<QuantizedWords>("vec4<u32>", words[0], words[1], words[2], words[3]);
        });
      }
    });
  }

  // Attention's results from their parts, of which as many lanes of a subgroup have one each.
  void merge(const Name<U32>& vectors_at, const Name<U32>& tag) const {
    const HeadShape& h = c_.heads;
    const uint32_t rows = c_.tokens, lanes = c_.most_splits, at_once = c_.workgroup / (rows * lanes);
    const Share share(b_, c_.q_width());
    auto n_splits = attention_.splits();
    auto lane = let("lane_of_value", b_.tid / rows % lanes);
    auto group = let("group_of_value", b_.tid / (rows * lanes));
    auto row = let("safe_my_row", min(my_row_, attention_.n_rows() - 1u) * c_.row_words());
    Made made(*this, kBeforeOutput, vectors_at, tag);
    loop("from_value", share.first, share.end, at_once, [&](const Name<U32>& from) {
      auto out = let("out", min(from + group, share.end - 1u));
      auto head = let("head", out / h.head_dim);
      auto safe_lane = let("safe_lane", min(lane, n_splits - 1u));
      auto part = let("part_at", (head * c_.most_splits + safe_lane) * c_.part_stride() + row + c_.part_words());
      auto place = let("place", part + out % h.head_dim);
      auto top_place = let("place", part + h.head_dim);
      auto sum_place = let("place", part + (h.head_dim + 1));
      const auto found = exchange_.take({place, top_place, sum_place}, tag);
      auto most = over_lanes(Reduce::kMax, found[1], rows, rows * lanes);
      auto shrink = let("shrink", select(0.0f, exp(found[1] - most), lane < n_splits));
      auto my_value = let("my_value", found[0] * shrink);
      auto my_weight = let("my_weight", found[2] * shrink);
      auto value = over_lanes(Reduce::kSum, my_value, rows, rows * lanes);
      auto weight = over_lanes(Reduce::kSum, my_weight, rows, rows * lanes);
      when(lane == 0u && from + group < share.end && is_row_, [&] { made.add(out, let("result", value / weight)); });
    });
    made.tell();
  }

  TernaryRowsConfig c_;
  In<"w", TernaryWeights> w_;
  Vectors vectors_;
  InOut<"x", F32> x_;
  LayerBuiltins b_;
  Exchange exchange_;
  Shared<QuantizedWords> staged_;  // [rows, 4 planes, half blocks]
  Shared<F32> residual_;           // [rows, most_rows]
  Shared<F32> unfinished_;         // [most_rows, rows]: dot products of the pieces so far, exact
  Shared<Vec2<F32>> row_stats_, made_;
  Shared<F32> scales_;
  Shared<I32> sums_;  // of int8 activations, of each subgroup's
  Name<U32> last_tag_;
  LayersAttention attention_;
  // The row whose results this invocation has, and the one that its team stages.
  Name<U32> my_row_;
  Name<Bool> is_row_;
  Name<U32> my_words_, team_, lane_, team_row_, team_words_;
  Share x_share_;
  Product qkv_, output_, glu_, down_;
};

}  // namespace

bool fits(const TernaryRowsConfig& c) {
  constexpr uint32_t kMostExact = (1u << 24) / 256;  // whose dot products are exact as floats: 2 · 128 each
  const uint32_t subgroup = c.caps.subgroup;
  if (!fits(static_cast<const LayersShape&>(c)) || !std::has_single_bit(c.tokens) || c.tokens < 2) return false;
  const uint32_t least_lanes = std::min({c.qkv_lanes, c.square_lanes, c.glu_lanes, c.wide_lanes, subgroup});
  return c.words_in_units && c.tokens <= least_lanes && c.workgroup / c.tokens % subgroup == 0 &&
         c.workgroup >= c.tokens && c.tokens * c.most_splits <= subgroup && c.subgroups() * c.tokens <= c.workgroup &&
         c.most_columns() % (64 * subgroup) == 0 && c.pieces(c.d_model) == 1 && c.widest_row() <= kMostExact;
}

TernaryLayersKernel ternary_rows(const TernaryRowsConfig& c) {
  CHECK(fits(c));
  return kernel(
      "ternary_rows", c.workgroup,
      [&](In<"w", TernaryWeights> w, Vectors vectors, InOut<"x", F32> x, In<"angles", Vec2<F32>> angles,
          ParamsBuffer params, Cache kv, LayerWords words, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
        writer->diagnostic_off("subgroup_uniformity");
        RowsLayers layers(c, w, vectors, x, angles, params, kv, words, {wg, n_wg, tid});
        layers.run(words);
      });
}

}  // namespace tern::gpu
