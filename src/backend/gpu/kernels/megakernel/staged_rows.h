// The rows of x between the products of a kernel for several tokens (ternary_rows.h): how workgroups publish the values
// that they compute, and how these become int8 in workgroup memory.
#pragma once

#include <array>
#include <vector>

#include "backend/gpu/kernels/megakernel/layers_attention.h"
#include "backend/gpu/kernels/megakernel/ternary_rows.h"
#include "backend/gpu/kernels/ternary/norm_fused.h"

namespace tern::gpu::layers {

// The place in a layer where a row is normed, named after the product that follows.
using Stage = uint32_t;
constexpr Stage kBeforeQkv = 0, kBeforeOutput = 1, kBeforeGlu = 2, kBeforeDown = 3;

// Each invocation has the results of one row, and belongs to a team that stages one row.
class StagedRows {
 public:
  StagedRows(const TernaryRowsConfig& c, const Vectors& vectors, const Mailbox& mailbox, const LayerBuiltins& b,
             const Name<U32>& n_rows)
      : c_(c),
        vectors_(vectors),
        mailbox_(mailbox),
        b_(b),
        n_rows_(n_rows),
        dot4_(c.caps),
        memory_{.staged = shared<QuantizedWords>(
                    "staged", c.tokens * std::min(c.most_columns(), whole_blocks(c.widest_row())) / 16),
                .row_stats = shared<Vec2<F32>>("row_stats", c.subgroups()),
                .made = shared<Vec2<F32>>("made_stats", c.subgroups() * c.tokens),
                .scales = shared<F32>("row_scales", c.tokens),
                .sums = shared<I32>("row_sums", c.subgroups())},
        my_row_(let("my_row", b.tid & (c.tokens - 1))),
        is_row_(let("is_row", my_row_ < n_rows)),
        my_words_(let("my_words", my_row_ * c.row_words())),
        team_(let("team", b.tid / team())),
        lane_(let("lane_of_team", b.tid % team())),
        // Teams whose row does not exist use the last row's values.
        team_row_(let("row_of_team", min(team_, n_rows - 1u))),
        team_words_(let("words_of_team", team_row_ * c.row_words())) {}

  const Name<U32>& my_row() const { return my_row_; }
  const Name<Bool>& is_row() const { return is_row_; }     // whether the row exists
  const Name<U32>& my_words() const { return my_words_; }  // distance of its words from those of the first row

  // Reduces over the lanes of a subgroup that are `from`, 2 · from, … apart, up to `to`. (subgroupMax is not used: on
  // some drivers it was wrong in kernels like this.)
  Name<F32> over_lanes(Reduce how, Name<F32> value, uint32_t from, uint32_t to) const {
    for (uint32_t mask = from; mask < to; mask *= 2) {
      auto other = subgroupShuffleXor(value, mask);
      value = how == Reduce::kSum ? let("both", value + other) : let("both", max(value, other));
    }
    return value;
  }

  // Values of my_row_ that the workgroup computes for the norm before `stage`. Publishes them and collects their
  // statistics.
  class RowProducer {
   public:
    RowProducer(const StagedRows& l, Stage stage, const Name<U32>& vectors_at, const Name<U32>& tag)
        : l_(l),
          stage_(stage),
          vectors_at_(vectors_at),
          tag_(tag),
          squares_(var("squares", 0.0f)),
          largest_(var("largest", 0.0f)) {}
    // Only for invocations whose row exists.
    void add(const Name<U32>& col, const Name<F32>& value) const {
      auto gain = let("gain", l_.vectors_[vectors_at_ + col + l_.gain_of(stage_)]);
      auto weighted = let("vg", value * gain);
      squares_ += value * value;
      largest_ = max(largest_, abs(weighted));
      auto place = let("place_in_row", l_.mailbox_.place(l_.region_of(stage_), col) + l_.my_words_);
      l_.mailbox_.publish(place, weighted, tag_);
    }
    // Publishes the statistics. All invocations must call it.
    void publish_stats() const {
      const TernaryRowsConfig& c = l_.c_;
      const uint32_t subgroup = c.caps.subgroup, n_sub = c.subgroups(), n = n_sub * c.tokens;
      auto my_squares = let("my_squares", squares_);
      auto my_largest = let("my_largest", largest_);
      auto s = l_.over_lanes(Reduce::kSum, my_squares, c.tokens, subgroup);
      auto m = l_.over_lanes(Reduce::kMax, my_largest, c.tokens, subgroup);
      when(l_.b_.tid % subgroup < c.tokens,
           [&] { l_.memory_.made[l_.my_row_ * n_sub + l_.b_.tid / subgroup] = vec2f(s, m); });
      workgroupBarrier();
      auto of_subgroup = let("made_of_subgroup", l_.memory_.made[l_.b_.tid & (n - 1)]);
      auto all_squares = l_.over_lanes(Reduce::kSum, let("squares_part", at(of_subgroup, 0)), 1, n_sub);
      auto all_largest = l_.over_lanes(Reduce::kMax, let("largest_part", at(of_subgroup, 1)), 1, n_sub);
      auto row = let("made_row", l_.b_.tid / n_sub);
      when(row < l_.n_rows_ && l_.b_.tid % n_sub == 0u, [&] {
        auto group = let("group", e(l_.b_.wg.x));
        const auto places = l_.stat_places(stage_, row, group);
        l_.mailbox_.publish(places[0], all_squares, tag_);
        l_.mailbox_.publish(places[1], all_largest, tag_);
      });
    }

   private:
    const StagedRows& l_;
    Stage stage_;
    Name<U32> vectors_at_, tag_;
    Var<F32> squares_, largest_;
  };

  // The factor of a team's row before it is rounded, and the invocation's first runs of 16 values.
  struct Prepared {
    Name<F32> factor;
    std::vector<Name<U32>> units;
    std::vector<Name<F32>> values;
  };
  // Waits until all workgroups have published their parts of the row's statistics. When it returns, all invocations
  // have finished reading workgroup memory. `t`: the tiling of the first piece.
  Prepared prepare(Stage stage, const TernaryConfig& t, uint32_t cols, const Name<U32>& tag) const {
    auto squares = var("row_squares", 0.0f);
    auto largest = var("row_largest", 0.0f);
    Prepared prepared;
    // The statistics come last among the places, because the other words usually arrive before them.
    const auto take = [&](const Name<U32>& from, std::vector<Name<U32>> places) {
      constexpr uint32_t kAtOnce = 3;
      const size_t n_values = places.size();
      std::vector<Name<U32>> parts;
      for (uint32_t k = 0; k < kAtOnce; ++k) {
        parts.push_back(let("part", from + lane_ + k * team()));
        auto safe = let("safe_part", min(parts.back(), b_.n_wg.x - 1u));
        for (const auto& place : stat_places(stage, team_row_, safe)) places.push_back(place);
      }
      auto found = mailbox_.wait(places, tag);
      for (uint32_t k = 0; k < kAtOnce; ++k) {
        const size_t at_part = n_values + size_t{2} * k;
        when(parts[k] < b_.n_wg.x, [&] { squares += found[at_part]; });
        largest = max(largest, found[at_part + 1]);  // reading the last part again changes nothing
      }
      found.resize(n_values);
      return std::pair(std::move(found), kAtOnce * team());
    };
    std::vector<Name<U32>> places;
    for (uint32_t k = 0; k < c_.units_ahead && k * team() < t.cols / 16; ++k) {
      prepared.units.push_back(let("unit", lane_ + k * team()));
      append_places(places, stage, t, 0, prepared.units.back());
    }
    auto first_part = let("first_part", 0u);
    const auto [values, n_parts] = take(first_part, std::move(places));
    prepared.values = values;
    loop("from_part", n_parts, b_.n_wg.x, n_parts, [&](const Name<U32>& from) { take(from, {}); });
    auto my_squares = let("my_squares", squares);
    auto my_largest = let("my_largest", largest);
    const uint32_t subgroup = c_.caps.subgroup, n = subgroups_of_team();
    auto s = over_lanes(Reduce::kSum, my_squares, 1, subgroup);
    auto m = over_lanes(Reduce::kMax, my_largest, 1, subgroup);
    when(b_.tid % subgroup == 0u, [&] { memory_.row_stats[b_.tid / subgroup] = vec2f(s, m); });
    workgroupBarrier();
    auto all_squares = var("all_squares", 0.0f);
    auto all_largest = var("all_largest", 0.0f);
    for (uint32_t i = 0; i < n; ++i) {
      auto part = let("stats_part", memory_.row_stats[team_ * n + i]);
      all_squares += at(part, 0);
      all_largest = max(all_largest, at(part, 1));
    }
    auto row_squares = let("squares_of_row", all_squares);
    auto row_largest = let("largest_of_row", all_largest);
    const auto [factor_and_scale, scale] = norm_scales(row_squares, e(row_largest), cols, c_.eps);
    when(lane_ == 0u, [&] { memory_.scales[team_] = scale; });
    prepared.factor = factor_and_scale;
    return prepared;
  }

  // Stages a piece of each row, t.cols columns wide, as int8 in the order in which it is multiplied. Adds the
  // invocation's int8 values to q_sum.
  void put(Stage stage, const TernaryConfig& t, uint32_t piece, const Prepared& prepared, const Var<I32>& q_sum,
           const Name<U32>& tag) const {
    const uint32_t n_units = t.cols / 16;
    uint32_t done = 0;
    if (piece == 0) {
      done = static_cast<uint32_t>(prepared.units.size()) * team();
      for (size_t k = 0; k < prepared.units.size(); ++k) {
        put_unit(t, prepared.units[k], std::span(prepared.values).subspan(16 * k, 16), prepared.factor, q_sum);
      }
    }
    if (done >= n_units) return;
    // Once the statistics have arrived, the values usually have, too.
    loop("from_unit", done, n_units, team(), [&](const Name<U32>& from) {
      auto unit = let("unit", from + lane_);
      std::vector<Name<U32>> places;
      append_places(places, stage, t, piece, unit);
      put_unit(t, unit, mailbox_.wait(places, tag, {.first = Mailbox::FirstPoller::kNone}), prepared.factor, q_sum);
    });
  }

  // To be called after all pieces are stored, before a barrier.
  void put_sum(const Var<I32>& q_sum) const {
    auto my_sum = let("my_sum", q_sum);
    auto of_subgroup = reduce_lanes(Reduce::kSum, c_.caps, my_sum, b_.tid, c_.caps.subgroup, c_.workgroup);
    when(b_.tid % c_.caps.subgroup == 0u, [&] { memory_.sums[b_.tid / c_.caps.subgroup] = of_subgroup; });
  }
  // The scale of my_row(), after put_sum() and the barrier.
  ActivationScale scale() const {
    auto scale = let("x_scale", memory_.scales[my_row_]);
    auto sum = var("x_sum", 0);
    for (uint32_t i = 0; i < subgroups_of_team(); ++i) sum += memory_.sums[my_row_ * subgroups_of_team() + i];
    return {scale, let("x_sum_of_row", sum)};
  }
  // The quads that TernaryDots multiplies with a piece of this tiling.
  auto quads(const TernaryConfig& t) const {
    return [this, vectors = t.row_vectors()]<class P>(uint32_t row, const Name<U32>& i, const P& plane) {
      return memory_.staged[i + plane * vectors + row * 4 * vectors];
    };
  }

 private:
  struct Memory {
    Shared<QuantizedWords> staged;  // [rows, 4 planes, half blocks]
    Shared<Vec2<F32>> row_stats, made;
    Shared<F32> scales;
    Shared<I32> sums;  // of int8 activations, one per subgroup
  };

  uint32_t team() const { return c_.workgroup / c_.tokens; }
  uint32_t subgroups_of_team() const { return team() / c_.caps.subgroup; }

  // Appends the places of a run of 16 values of a piece; past the end, of its last run.
  void append_places(std::vector<Name<U32>>& places, Stage stage, const TernaryConfig& t, uint32_t piece,
                     const Name<U32>& unit) const {
    auto safe = let("safe_unit", min(unit, t.cols / 16 - 1) + piece * c_.most_columns() / 16);
    places.append_range(Mailbox::places_of_unit(region_of(stage), team_words_, safe));
  }
  void put_unit(const TernaryConfig& t, const Name<U32>& unit, std::span<const Name<F32>> values,
                const Name<F32>& factor, const Var<I32>& q_sum) const {
    const uint32_t vectors = t.row_vectors();
    when(unit < t.cols / 16, [&] {
      std::vector<Name<I8x4>> words;
      auto ones = let("ones", packed<I8x4>(e(0x01010101u)));
      for (size_t i = 0; i < 16; i += 4) {
        auto weighted = let("vg4", vec4f(values[i], values[i + 1], values[i + 2], values[i + 3]));
        words.push_back(packed_by_adding(c_.caps, weighted * factor));
        q_sum += dot4_(words.back(), ones);
      }
      auto where = let("staged_at", staged_unit(team_ * (4 * vectors), unit, vectors));
      memory_.staged[where] = call<QuantizedWords>("vec4<u32>", words[0], words[1], words[2], words[3]);
    });
  }

  uint32_t gain_of(Stage stage) const {
    return std::array{c_.qkv_gain(), c_.output_gain(), c_.glu_gain(), c_.down_gain()}[stage];
  }
  uint32_t region_of(Stage stage) const {
    return std::array{c_.x_words(), c_.attention_words(), c_.middle_words(), c_.ffn_words()}[stage];
  }
  // Where part `i` of a row's statistics is: Σx², and max |x·gain|.
  std::vector<Name<U32>> stat_places(Stage stage, const Name<U32>& row, const Name<U32>& i) const {
    constexpr uint32_t kMost = LayersShape::kMostWorkgroups;
    auto first = let("stats_at", row * (2 * kMost) + i + (c_.stats_words() + stage * c_.tokens * 2 * kMost));
    auto second = let("stats_at", first + kMost);
    return {first, second};
  }

  const TernaryRowsConfig& c_;
  Vectors vectors_;
  const Mailbox& mailbox_;
  LayerBuiltins b_;
  Name<U32> n_rows_;
  Dot4 dot4_;
  Memory memory_;
  Name<U32> my_row_;
  Name<Bool> is_row_;
  Name<U32> my_words_, team_, lane_, team_row_, team_words_;
};

}  // namespace tern::gpu::layers
