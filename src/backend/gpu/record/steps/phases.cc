#include "backend/gpu/record/steps/phases.h"

#include <algorithm>

#include "backend/gpu/kernels/ternary/ternary_batch.h"
#include "base/bytes.h"

namespace tern::gpu {

TernaryPhases batch_phases(const Layouts& layouts, int most_few) {
  const int most = std::min(layouts.most_in_batches, most_few);
  const int from = std::max(2, layouts.batches_from), half = kMostBatchTokens / 2;
  TernaryPhases phases;
  const auto add = [&](uint32_t tokens, int first, int last) {
    if (first > last) return;
    phases.push_back({TernaryPhase::kBatch, {.min_tokens = first, .max_tokens = last}, tokens});
  };
  add(kMostBatchTokens / 2, from, std::min(half, most));
  add(kMostBatchTokens, std::max(from, half + 1), most);
  return phases;
}

When all_batches(const TernaryPhases& phases) {
  When all{.min_tokens = INT_MAX, .max_tokens = 0};
  for (const auto& phase : phases) {
    if (phase.name != TernaryPhase::kBatch) continue;
    all.min_tokens = std::min(all.min_tokens, phase.when.min_tokens);
    all.max_tokens = std::max(all.max_tokens, phase.when.max_tokens);
  }
  return all;
}

TernaryPhases ternary_phases(const PhaseLimits& limits, const TernaryKernels& kernels) {
  constexpr int kMostVectors = kMatmulTokens - 1;
  if (limits.layouts.serial) return {{TernaryPhase::kOneToken, {}}};
  const int most_few = kernels.most_few > 0 ? kernels.most_few : kMostVectors;
  TernaryPhases phases;
  if (kernels.batches) phases = batch_phases(limits.layouts, most_few);
  const int last = phases.empty() ? most_few : phases.front().when.min_tokens - 1;
  int first = 2;
  std::optional<size_t> columns;  // the last phase of this kind
  for (const uint32_t tokens : kernels.columns) {
    if (first > last) break;
    if (tokens == 1 || (columns && tokens == phases[*columns].at_once)) continue;
    if (columns) phases[*columns].when.max_tokens = first - 1;
    columns = phases.size();
    phases.push_back({TernaryPhase::kColumns, {.min_tokens = first, .max_tokens = last}, tokens});
    first = static_cast<int>(tokens) + 1;
  }
  phases.push_back({TernaryPhase::kOneToken, {.max_tokens = columns ? 1 : std::min(kMostVectors, last)}});
  if (limits.has_tiles()) phases.push_back({TernaryPhase::kTiles, {.min_tokens = most_few + 1}});
  return phases;
}

int most_few_tokens(const Layouts& layouts, bool fit, bool in_batches) {
  if (!fit || layouts.most_in_columns < kMatmulTokens) return kMatmulTokens - 1;
  return in_batches ? layouts.most_in_batches : layouts.most_in_columns;
}

When normed_apart(int most_few) { return {.min_tokens = most_few + 1}; }

std::vector<Phase<TilePhase>> few_tile_phases(std::span<const uint32_t> few, const When& when) {
  std::vector<Phase<TilePhase>> phases;
  int first = when.min_tokens;
  for (uint32_t i = 0; i < few.size(); ++i) {
    const bool is_last = i + 1 == few.size();
    const int last = is_last ? when.max_tokens : std::min(static_cast<int>(few[i]), when.max_tokens);
    if (last < first) continue;
    phases.push_back({TilePhase::kFew, when, few[i], i});
    phases.back().when.min_tokens = first;
    phases.back().when.max_tokens = last;
    if (last == when.max_tokens) break;
    first = last + 1;
  }
  return phases;
}

std::vector<Phase<FloatPhase>> float_phases(const PhaseLimits& limits, Rows rows, const FloatKernels& kernels) {
  if (limits.layouts.serial || rows == Rows::kLogits) return {{FloatPhase::kFewRows, {}}};
  int from = kMatmulTokens;
  if (kernels.columns) {
    const Layouts& l = limits.layouts;
    const When few{.min_tokens = kMatmulTokens, .max_tokens = l.most_in_few_tiles};
    const int from_floats = kernels.is_narrow ? l.narrow_tiles_from : l.float_tiles_from;
    from = std::max(few_tile_phases(kernels.few_tiles, few).empty() ? from_floats : l.few_tiles_from, from);
  }
  from = std::max(from, kernels.most_int8_rows + 1);
  std::vector<Phase<FloatPhase>> phases = {{FloatPhase::kFewRows, {.max_tokens = from - 1}}};
  if (limits.has_tiles()) phases.push_back({FloatPhase::kTiles, {.min_tokens = from}});
  return phases;
}

std::vector<Phase<ExpertPhase>> expert_phases(const PhaseLimits& limits, const ExpertKernels& kernels) {
  if (!limits.has_tiles() || kernels.tiles.empty()) return {{ExpertPhase::kOneToken, {}}};
  // The tokens that make this many choices of each expert, on average.
  const auto tokens_for = [&](uint64_t choices) {
    const uint64_t tokens =
        ceil_div(choices * static_cast<uint64_t>(kernels.n_experts), static_cast<uint64_t>(kernels.n_used));
    return static_cast<int>(std::min<uint64_t>(tokens, INT_MAX));
  };
  const Layouts& l = limits.layouts;
  const int from =
      std::max(kMatmulTokens, tokens_for(kernels.on_matrices ? l.expert_tiles_from : l.expert_float_tiles_from));
  std::vector<uint32_t> most;
  for (const Layouts::FewTile& tile : kernels.tiles) most.push_back(static_cast<uint32_t>(tokens_for(tile.tokens / 2)));
  std::vector<Phase<ExpertPhase>> phases = {{ExpertPhase::kOneToken, {.max_tokens = from - 1}}};
  for (const auto& tile : few_tile_phases(most, {.min_tokens = from})) {
    if (tile.when.min_tokens > limits.max_batch) break;
    phases.push_back({ExpertPhase::kTiles, tile.when, kernels.tiles[tile.index].tokens, tile.index});
  }
  return phases;
}

When from_rows(const When& few, int from) {
  When some = few;
  some.min_rows = std::max(few.min_rows, from);
  return some;
}

std::optional<When> both(const When& a, const When& b) {
  When some = a;
  some.min_tokens = std::max(a.min_tokens, b.min_tokens), some.max_tokens = std::min(a.max_tokens, b.max_tokens);
  some.min_rows = std::max(a.min_rows, b.min_rows), some.max_rows = std::min(a.max_rows, b.max_rows);
  if (a.moves_states == If::kAny) some.moves_states = b.moves_states;
  if (some.min_tokens > some.max_tokens || some.min_rows > some.max_rows) return std::nullopt;
  if (b.moves_states != If::kAny && some.moves_states != b.moves_states) return std::nullopt;
  return some;
}

namespace {

// By the rows at a time: the power of two that they fill, up to Layouts::int8_columns.
void add_int8_phases(const Layouts& layouts, const When& when, std::vector<Phase<RowPhase>>& phases) {
  const auto most = static_cast<int>(std::max(layouts.int8_columns, 1u));
  for (int rows = 1; rows <= most; rows *= 2) {
    Phase<RowPhase> phase{RowPhase::kInt8, when, static_cast<uint32_t>(rows)};
    phase.when.min_rows = std::max(when.min_rows, rows / 2 + 1);
    if (rows * 2 <= most) phase.when.max_rows = std::min(when.max_rows, rows);
    if (phase.when.min_rows <= std::min(phase.when.max_rows, when.max_tokens)) phases.push_back(phase);
  }
}

}  // namespace

std::vector<Phase<RowPhase>> row_phases(const Layouts& layouts, const When& few, const RowKernels& kernels) {
  std::vector<Phase<RowPhase>> phases;
  When rest = few;
  if (kernels.int8_from) {
    add_int8_phases(layouts, from_rows(few, *kernels.int8_from), phases);
    rest.max_rows = std::min(few.max_rows, *kernels.int8_from - 1);
    if (rest.max_rows < rest.min_rows) return phases;
  }
  const int from = kernels.slow_head ? layouts.head_columns_from : layouts.columns_from;
  if (kernels.columns == 1 || few.max_tokens == 1 || rest.max_rows < from) {
    phases.push_back({RowPhase::kOneRow, rest});
    return phases;
  }
  phases.push_back({RowPhase::kColumns, rest, kernels.columns});
  phases.back().when.min_rows = from;
  phases.push_back({RowPhase::kOneRow, rest});
  phases.back().when.max_rows = std::min(rest.max_rows, from - 1);
  return phases;
}

std::vector<Phase<TilePhase>> float_tile_phases(const Layouts& layouts, const When& when, std::span<const uint32_t> few,
                                                std::optional<uint32_t> small_tiles) {
  int most = layouts.most_in_few_tiles;
  if (small_tiles && *small_tiles >= layouts.big_tiles_from) most = std::min(most, 32);
  auto phases = few_tile_phases(few, {.min_tokens = when.min_tokens, .max_tokens = most});
  When many = when;
  if (!phases.empty()) many.min_tokens = phases.back().when.max_tokens + 1;
  phases.push_back({TilePhase::kSmall, many});
  return phases;
}

std::vector<Phase<TilePhase>> prompt_tile_phases(const Layouts& layouts, const When& when, uint32_t rows,
                                                 std::optional<TileSize> small, std::optional<TileSize> big) {
  if (!small) return {};
  if (!big || big->rows * big->tokens <= small->rows * small->tokens) return {{TilePhase::kSmall, when}};
  const uint32_t of_tokens = ceil_div(std::max(layouts.big_tiles_from, 1u), ceil_div(rows, big->rows));
  const int first = std::max(when.min_tokens, static_cast<int>((of_tokens - 1) * big->tokens) + 1);
  if (first > when.max_tokens) return {{TilePhase::kSmall, when}};
  std::vector<Phase<TilePhase>> phases;
  if (first > when.min_tokens) {
    phases.push_back({TilePhase::kSmall, when});
    phases.back().when.max_tokens = first - 1;
  }
  phases.push_back({TilePhase::kBig, when});
  phases.back().when.min_tokens = first;
  return phases;
}

int head_tiles_from(const Layouts& layouts, bool is_f16) {
  return std::max(2, is_f16 ? layouts.head_matrices_from : layouts.head_tiles_from);
}

When head_in_tiles(const Layouts& layouts, bool is_f16) {
  return {.min_tokens = 2, .min_rows = head_tiles_from(layouts, is_f16)};
}

When before_head_tiles(const When& when, const Layouts& layouts, bool is_f16) {
  When before = when;
  before.max_rows = head_tiles_from(layouts, is_f16) - 1;
  return before;
}

std::vector<Phase<TilePhase>> packed_head_phases(const Layouts& layouts, std::span<const uint32_t> tiles) {
  auto phases = few_tile_phases(tiles, {.min_tokens = head_tiles_from(layouts, false)});
  for (auto& phase : phases) {  // by rows of logits
    phase.when = {.min_tokens = 2, .min_rows = phase.when.min_tokens, .max_rows = phase.when.max_tokens};
  }
  return phases;
}

std::vector<Phase<TilePhase>> f16_head_phases(const Layouts& layouts) {
  When few = head_in_tiles(layouts, true), many = few;
  few.max_rows = 16;
  many.min_rows = std::max(many.min_rows, few.max_rows + 1);
  return {{TilePhase::kFew, few, 16}, {TilePhase::kFew, many, 32}};
}

std::vector<Phase<RowPhase>> estimate_phases(int most_rows) {
  std::vector<Phase<RowPhase>> phases;
  for (int rows = 1; rows / 2 < most_rows; rows *= 2) {
    phases.push_back({rows == 1 ? RowPhase::kOneRow : RowPhase::kColumns,
                      {.min_rows = rows / 2 + 1, .max_rows = rows},
                      static_cast<uint32_t>(rows)});
  }
  return phases;
}

int split_groups_from(const Layouts& layouts, bool makes_heads, uint32_t n_heads) {
  const int from = layouts.split_attention_from;
  if (layouts.group_heads != Layouts::Group::kUnlessHeadsAreMade || !makes_heads) return from;
  const int n_spared = static_cast<int>(n_heads) - 1;  // reads of each key
  return std::max(from, layouts.made_heads_together_from / std::max(n_spared, 1));
}

namespace {

// True if a token can attend to this many positions.
bool reaches(const AttentionKernels& kernels, int n_pos) {
  return kernels.n_ctx >= n_pos && (kernels.window == 0 || kernels.window >= n_pos);
}

void add_splits(const Layouts& layouts, const AttentionKernels& kernels, std::vector<Phase<AttentionPhase>>& phases) {
  const int from = layouts.split_attention_from;
  const auto add = [&](AttentionPhase name, int first, int last) {
    phases.push_back({name, {.max_tokens = kMatmulTokens - 1, .min_pos = first, .max_pos = last}});
  };
  std::optional<int> groups_from = kernels.split_groups_from;
  if (groups_from && *groups_from > from && !reaches(kernels, *groups_from)) groups_from.reset();
  if (!groups_from || *groups_from > from) add(AttentionPhase::kSplits, from, groups_from ? *groups_from - 1 : INT_MAX);
  if (groups_from) add(AttentionPhase::kSplitGroups, *groups_from, INT_MAX);
}

}  // namespace

When attention_on_matrices(const Layouts& layouts) {
  return {.slices = Slices::kLonger, .min_slice = std::max(layouts.attention_on_matrices_from, kMatmulTokens)};
}

std::vector<Phase<AttentionPhase>> attention_phases(const Layouts& layouts, const AttentionKernels& kernels) {
  if (layouts.serial) return {{AttentionPhase::kAlone, {}}};
  std::vector<Phase<AttentionPhase>> phases;
  When rest;  // of the runs
  if (kernels.on_matrices) {
    phases.push_back({AttentionPhase::kOnMatrices, attention_on_matrices(layouts)});
    rest.max_slice = phases.back().when.min_slice - 1;
  }
  const bool splits = reaches(kernels, layouts.split_attention_from);
  const auto add = [&](AttentionPhase name, uint32_t index, int first, int last, int last_pos = INT_MAX) {
    if (first > last) return;
    phases.push_back({name, rest, 1, index});
    When& when = phases.back().when;
    when.min_tokens = first, when.max_tokens = last, when.max_pos = last_pos;
  };
  const auto add_all = [&](AttentionPhase name, uint32_t index, int first, int last) {
    if (!splits) return add(name, index, first, last);
    add(name, index, first, std::min(last, kMatmulTokens - 1), layouts.split_attention_from - 1);
    add(name, index, std::max(first, kMatmulTokens), last);  // many tokens fill the GPU without splits
  };
  const int last_alone = kernels.groups ? layouts.groups_from - 1 : INT_MAX;
  for (uint32_t i = 0; i < kernels.sizes_from.size(); ++i) {
    const int last = i + 1 < kernels.sizes_from.size() ? kernels.sizes_from[i + 1] - 1 : INT_MAX;
    add_all(AttentionPhase::kAlone, i, kernels.sizes_from[i], std::min(last, last_alone));
  }
  if (kernels.groups) add_all(AttentionPhase::kGroups, 0, layouts.groups_from, INT_MAX);
  if (splits) add_splits(layouts, kernels, phases);
  return phases;
}

}  // namespace tern::gpu
