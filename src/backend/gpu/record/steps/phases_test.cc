// The phases of a layer cover every run once.
#include "backend/gpu/record/steps/phases.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "backend/gpu/record/steps/recording.h"

namespace tern::gpu {
namespace {

struct TokenRun {
  int tokens = 1;
  int pos = 1;
  int slice = 1;  // tokens of the shortest sequence's part
  int rows = 1;   // of the kind that the layer reads
};

bool is_for(const When& when, const TokenRun& run) {
  const bool is_decode_batch = run.slice == 1;
  return run.tokens >= when.min_tokens && run.tokens <= when.max_tokens && run.pos >= when.min_pos &&
         run.pos <= when.max_pos && run.slice >= when.min_slice && run.slice <= when.max_slice &&
         run.rows >= when.min_rows && run.rows <= when.max_rows &&
         (when.slices == Slices::kAny || (when.slices == Slices::kDecodeBatch) == is_decode_batch);
}

template <class Name>
std::vector<Name> phases_for(const std::vector<Phase<Name>>& phases, const TokenRun& run) {
  std::vector<Name> names;
  for (const auto& phase : phases) {
    if (is_for(phase.when, run)) names.push_back(phase.name);
  }
  return names;
}

struct Case {
  std::string name;
  Layouts layouts = {};
  int max_batch = 256;
  PhaseLimits limits() const { return {layouts, max_batch}; }
};

std::vector<Case> cases() {
  std::vector<Case> all = {
      {.name = "defaults"},
      {.name = "one token at a time", .layouts = {.serial = true}},
      {.name = "without columns", .layouts = {.most_in_columns = 0, .columns = 1}},
      {.name = "small batches", .max_batch = 7},
      {.name = "batches as large as tiles begin", .max_batch = 8},
      {.name = "without batches", .layouts = {.batches_from = 100}},
      {.name = "batches from two tokens on", .layouts = {.batches_from = 2}},
      {.name = "batches of one size", .layouts = {.batches_from = 20, .most_in_batches = 64}},
      {.name = "few columns", .layouts = {.few_columns = 4, .columns_of_ternary = 4}},
      {.name = "splits of short histories", .layouts = {.split_attention_from = 20}},
      {.name = "groups from the first token on", .layouts = {.groups_from = 1}},
      {.name = "big tiles always", .layouts = {.big_tiles_from = 1}},
      {.name = "without tiles for few", .layouts = {.few_tiles = {}}},
      {.name = "experts in tiles always", .layouts = {.expert_tiles_from = 0, .expert_float_tiles_from = 0}},
      {.name = "experts in tiles never", .layouts = {.expert_tiles = {}}}};
  return all;
}

TEST(Phases, OfTernaryLayersCoverEveryNumberOfTokens) {
  for (const Case& c : cases()) {
    for (const bool fit : {true, false}) {
      for (const bool batches : {true, false}) {
        const bool has_batches = batches && !batch_phases(c.layouts, INT_MAX).empty();
        const int most_few = most_few_tokens(c.layouts, fit || has_batches, has_batches);
        TernaryKernels kernels{.most_few = most_few, .batches = has_batches};
        if (fit) kernels.columns = {c.layouts.few_columns, c.layouts.columns_of_ternary};
        // Not covered, and no device's layouts: batches that begin after the vector kernels end, without columns.
        if (!fit && has_batches && c.layouts.batches_from > kMatmulTokens) continue;
        for (const auto& phases : {ternary_phases(c.limits(), kernels), ternary_phases(c.limits(), {})}) {
          for (int n = 1; n <= c.max_batch; ++n) {
            EXPECT_EQ(phases_for(phases, {.tokens = n, .rows = n}).size(), 1u) << c.name << ", " << n << " tokens";
          }
        }
      }
    }
  }
}

TEST(Phases, OfTernaryLayersAreInTheirPlaces) {
  const Case c;
  const auto name_for = [&](const TernaryKernels& kernels, int n) {
    return phases_for(ternary_phases(c.limits(), kernels), {.tokens = n, .rows = n}).at(0);
  };
  const TernaryKernels all{.most_few = most_few_tokens(c.layouts, true, true), .batches = true, .columns = {2, 4}};
  EXPECT_EQ(name_for(all, 1), TernaryPhase::kOneToken);
  EXPECT_EQ(name_for(all, 2), TernaryPhase::kColumns);
  EXPECT_EQ(name_for(all, c.layouts.batches_from - 1), TernaryPhase::kColumns);
  EXPECT_EQ(name_for(all, c.layouts.batches_from), TernaryPhase::kBatch);
  EXPECT_EQ(name_for(all, c.layouts.most_in_batches), TernaryPhase::kBatch);
  EXPECT_EQ(name_for(all, c.layouts.most_in_batches + 1), TernaryPhase::kTiles);
  EXPECT_EQ(name_for({}, kMatmulTokens - 1), TernaryPhase::kOneToken);
  EXPECT_EQ(name_for({}, kMatmulTokens), TernaryPhase::kTiles);
}

TEST(Phases, OfFloatLayersCoverEveryNumberOfRows) {
  const std::vector<uint32_t> few = {16, 32, 64};
  struct Kernels {
    FloatKernels layer;
    RowKernels rows;
  };
  std::vector<Kernels> all;
  for (const bool columns : {true, false}) {
    for (const size_t n_few : {size_t{0}, few.size()}) {
      const FloatKernels layer{.columns = columns, .few_tiles = std::span(few).first(n_few)};
      const RowKernels rows{.columns = columns ? 4u : 1u};
      all.push_back({layer, rows});
      all.push_back({layer, rows});
      all.back().layer.is_narrow = true;
      for (const int from : {1, 2, 5}) {
        all.push_back({layer, rows});
        all.back().layer.most_int8_rows = 16;
        all.back().rows.int8_from = from;
      }
    }
  }
  for (const Case& c : cases()) {
    for (const Kernels& kernels : all) {
      const auto phases = float_phases(c.limits(), Rows::kTokens, kernels.layer);
      for (int n = 1; n <= c.max_batch; ++n) {
        const TokenRun run{.tokens = n, .rows = n};
        size_t found = 0;
        for (const auto& phase : phases) {
          if (phase.name == FloatPhase::kTiles) {
            found += is_for(phase.when, run) ? 1 : 0;
          } else {
            found += phases_for(row_phases(c.layouts, phase.when, kernels.rows), run).size();
          }
        }
        EXPECT_EQ(found, 1u) << c.name << ", " << n << " tokens";
      }
    }
  }
}

// Rows are int8 from the wanted number on, as many at a time as there are, up to Layouts::int8_columns.
TEST(Phases, OfInt8RowsTakeThePowerOfTwoThatTheyFill) {
  const Layouts layouts{.int8_columns = 4};
  const auto phases = row_phases(layouts, {.max_tokens = 16}, {.columns = 1, .int8_from = 2});
  const auto phase_for = [&](int n) {
    for (const auto& phase : phases) {
      if (n >= phase.when.min_rows && n <= std::min(phase.when.max_rows, phase.when.max_tokens)) return phase;
    }
    return Phase<RowPhase>{};
  };
  EXPECT_EQ(phase_for(1).name, RowPhase::kOneRow);
  EXPECT_EQ(phase_for(2).name, RowPhase::kInt8);
  EXPECT_EQ(phase_for(2).at_once, 2u);
  EXPECT_EQ(phase_for(3).at_once, 4u);
  EXPECT_EQ(phase_for(16).at_once, 4u);
}

// The runs in which a step leaves its rows as int8, and the others: each run is in one of them.
TEST(Phases, OfRowsThatAreLeftCoverEveryRun) {
  const auto holds = [](const When& when, int tokens, If moves) {
    return tokens >= when.min_tokens && tokens <= when.max_tokens &&
           (when.moves_states == If::kAny || when.moves_states == moves);
  };
  for (const If moves_of_left : {If::kAny, If::kYes}) {
    for (const auto& [from, most] : {std::pair{1, 1}, {1, 16}, {3, 8}}) {
      const LeftInt8 left{.slot = {},
                          .reader = 1,
                          .rows = {},
                          .coding = {},
                          .min_rows = from,
                          .max_rows = most,
                          .moves_states = moves_of_left};
      for (const When& when : {When{}, When{.min_tokens = 2}, When{.max_tokens = 1}}) {
        for (int tokens = when.min_tokens; tokens <= std::min(when.max_tokens, 20); ++tokens) {
          for (const If moves : {If::kYes, If::kNo}) {
            const bool is_left = holds(left.leaving(when), tokens, moves);
            EXPECT_EQ(is_left,
                      tokens >= from && tokens <= most && (moves_of_left == If::kAny || moves == moves_of_left));
            int n = is_left ? 1 : 0;
            for (const When& other : left.others(when)) n += holds(other, tokens, moves) ? 1 : 0;
            EXPECT_EQ(n, 1) << tokens << " tokens, left from " << from << " to " << most;
          }
        }
      }
    }
  }
}

TEST(Phases, OfExpertsCoverEveryNumberOfTokens) {
  for (const Case& c : cases()) {
    for (const auto& [n_experts, n_used] : {std::pair{128, 8}, {8, 2}, {4, 4}, {512, 1}}) {
      for (const bool on_matrices : {false, true}) {
        const auto phases = expert_phases(c.limits(), {n_experts, n_used, c.layouts.expert_tiles, on_matrices});
        for (int n = 1; n <= c.max_batch; ++n) {
          EXPECT_EQ(phases_for(phases, {.tokens = n, .rows = n}).size(), 1u) << c.name << ", " << n << " tokens";
        }
        for (const auto& phase : phases) EXPECT_LE(phase.when.min_tokens, c.max_batch) << c.name;
      }
    }
  }
}

TEST(Phases, OfExpertsGrowWithTheTokensOfEach) {
  const Case c{.name = {}, .layouts = {}, .max_batch = 4096};
  using Begins = std::vector<std::pair<int, uint32_t>>;
  const auto begins = [&](int n_experts, int n_used, bool on_matrices) {
    Begins all;
    for (const auto& phase : expert_phases(c.limits(), {n_experts, n_used, c.layouts.expert_tiles, on_matrices})) {
      all.emplace_back(phase.when.min_tokens, phase.at_once);
    }
    return all;
  };
  EXPECT_EQ(begins(128, 8, true), (Begins{{1, 1}, {32, 16}, {129, 32}, {257, 64}, {513, 128}}));
  EXPECT_EQ(begins(128, 8, false), (Begins{{1, 1}, {64, 16}, {129, 32}, {257, 64}, {513, 128}}));
  EXPECT_EQ(begins(8, 2, true)[1].first, kMatmulTokens);
}

TEST(Phases, OfTilesCoverTheirRuns) {
  const std::vector<uint32_t> few = {16, 32, 64};
  for (const Case& c : cases()) {
    for (const int first : {8, 9, 20, 65, 100}) {
      for (const uint32_t small_tiles : {1u, 1000u}) {
        for (const auto& phase : float_tile_phases(c.layouts, {.min_tokens = first}, few, small_tiles)) {
          if (phase.name != TilePhase::kFew) continue;
          EXPECT_LE(phase.when.min_tokens, phase.when.max_tokens) << c.name;
        }
        const auto phases = float_tile_phases(c.layouts, {.min_tokens = first}, few, small_tiles);
        for (int n = 1; n <= 300; ++n) {
          EXPECT_EQ(phases_for(phases, {.tokens = n}).size(), n < first ? 0u : 1u) << c.name << ", " << n;
        }
      }
      for (const uint32_t rows : {64u, 4096u}) {
        const auto phases =
            prompt_tile_phases(c.layouts, {.min_tokens = first}, rows, TileSize{64, 64}, TileSize{128, 128});
        for (int n = 1; n <= 9000; ++n) {
          EXPECT_EQ(phases_for(phases, {.tokens = n}).size(), n < first ? 0u : 1u) << c.name << ", " << n;
        }
      }
    }
  }
  EXPECT_TRUE(prompt_tile_phases({}, {}, 64, std::nullopt, TileSize{128, 128}).empty());
}

TEST(Phases, OfTheHeadCoverEveryNumberOfRows) {
  const std::vector<uint32_t> tiles = {16, 64};
  for (const Case& c : cases()) {
    for (const bool is_f16 : {true, false}) {
      const auto phases = is_f16 ? f16_head_phases(c.layouts) : packed_head_phases(c.layouts, tiles);
      const When few = before_head_tiles({}, c.layouts, is_f16);
      for (int n = 1; n <= 200; ++n) {
        const TokenRun run{.tokens = 2, .rows = n};
        EXPECT_EQ(phases_for(phases, run).size() + (is_for(few, run) ? 1 : 0), 1u) << c.name << ", " << n << " rows";
        EXPECT_NE(is_for(few, run), is_for(head_in_tiles(c.layouts, is_f16), run));
      }
    }
  }
  for (int n = 1; n <= 20; ++n) EXPECT_EQ(phases_for(estimate_phases(20), {.rows = n}).size(), 1u) << n << " rows";
}

TEST(Phases, OfAttentionCoverTokensAndPositions) {
  for (const Case& c : cases()) {
    for (const int window : {0, 100, 4096}) {
      for (int kernels = 0; kernels < 16; ++kernels) {
        const bool makes_heads = (kernels & 8) != 0;
        AttentionKernels k{.n_ctx = 4096, .window = window, .on_matrices = (kernels & 1) != 0};
        k.groups = (kernels & 2) != 0;
        if ((kernels & 4) != 0) k.split_groups_from = split_groups_from(c.layouts, makes_heads, 4);
        if (!makes_heads) k.sizes_from = {1, 4, 12, 24};
        const auto phases = attention_phases(c.layouts, k);
        for (int n = 1; n <= 80; ++n) {
          for (const int slice : {1, n}) {
            for (const int pos : {1, 19, 20, 512, 513, 1023, 1024, 4096}) {
              EXPECT_EQ(phases_for(phases, {.tokens = n, .pos = pos, .slice = slice, .rows = n}).size(), 1u)
                  << c.name << ", kernels " << kernels << ", window " << window << ", " << n << " tokens at " << pos;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tern::gpu
