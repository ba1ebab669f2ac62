// Which kernel of a layer runs for how many tokens. The phases of every kind of layer are decided here alone: recorders
// say which kernels a layer has on this device, and record one for each phase.
#pragma once

#include <climits>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backend/gpu/record/layouts.h"
#include "backend/gpu/record/program.h"

namespace tern::gpu {

// The number of tokens from which matrix kernels run instead of vector kernels once per token. Layers with kernels for
// several tokens switch later: after most_few_tokens(), or where float_phases() says.
inline constexpr int kMatmulTokens = 8;

inline constexpr When kRunsOfOne{.max_tokens = 1}, kRunsOfSeveral{.min_tokens = 2};

template <class Name>
struct Phase {
  Name name;
  When when;
  uint32_t at_once = 1;  // rows of x that a workgroup takes at a time
  uint32_t index = 0;    // of the layout, where a phase's kernel has several
};

struct PhaseLimits {
  const Layouts& layouts;
  int max_batch;
  bool has_tiles() const { return max_batch >= kMatmulTokens && !layouts.serial; }
};

// Ternary layers: one token at a time, a few tokens as columns of the product, batches of some tokens on subgroup
// matrices, and tiles of many.
enum class TernaryPhase { kOneToken, kColumns, kBatch, kTiles };
using TernaryPhases = std::vector<Phase<TernaryPhase>>;
struct TernaryKernels {
  int most_few = 0;      // most_few_tokens(), for layers that norm what they read; 0: other layers
  bool batches = false;  // what follows exists only for layers that norm what they read
  // The tokens at a time that fit where Layouts::few_columns and columns_of_ternary are wanted; 1: there is no kernel.
  std::vector<uint32_t> columns = {};
};
TernaryPhases ternary_phases(const PhaseLimits& limits, const TernaryKernels& kernels);
// The batches among them; none if `most_few` tokens are too few.
TernaryPhases batch_phases(const Layouts& layouts, int most_few);
// The runs of all batches among some phases.
When all_batches(const TernaryPhases& phases);
// The most tokens for which layers that norm what they read run vector kernels or batches; the same for a whole plan,
// since each layer writes the statistics that the next one needs. `fit`: all of the layers have kernels for several
// tokens. `in_batches`: all of them have batches.
int most_few_tokens(const Layouts& layouts, bool fit, bool in_batches);
// The runs for which a separate kernel norms the input of such a layer.
When normed_apart(int most_few);

// Float layers: a few rows with vector kernels (row_phases()), or tiles of many tokens (float_tile_phases()).
enum class FloatPhase { kFewRows, kTiles };
struct FloatKernels {
  bool columns = false;                      // as many rows at a time as Layouts::columns
  bool is_narrow = false;                    // few rows of weights (Layouts::narrow)
  int most_int8_rows = 0;                    // rows that are multiplied as int8 (RowPhase::kInt8); 0: none
  std::span<const uint32_t> few_tiles = {};  // the tokens of each tile for few tokens
};
std::vector<Phase<FloatPhase>> float_phases(const PhaseLimits& limits, Rows rows, const FloatKernels& kernels);

// kInt8: a dispatch before it makes the rows int8 (int8_rows()).
enum class RowPhase { kColumns, kOneRow, kInt8 };
struct RowKernels {
  uint32_t columns = 1;               // rows at a time; 1: there is no such kernel
  bool slow_head = false;             // a head of many bits
  std::optional<int> int8_from = {};  // the rows from which they are int8; none: there is no such kernel
};
// The phases within `few`.
std::vector<Phase<RowPhase>> row_phases(const Layouts& layouts, const When& few, const RowKernels& kernels);
// The runs within `few` of at least `from` rows.
When from_rows(const When& few, int from);
// The runs of both, which differ in rows, tokens and moves_states only; none if there are none.
std::optional<When> both(const When& a, const When& b);

// Mixtures of experts: each token reads its own experts, or each expert is multiplied with tiles of tokens (the layout
// `index`, of `at_once` tokens). The last phases are left out where batches are smaller.
enum class ExpertPhase { kOneToken, kTiles };
struct ExpertKernels {
  int n_experts, n_used;  // all; those of a token
  std::span<const Layouts::FewTile> tiles;
  bool on_matrices;
};
std::vector<Phase<ExpertPhase>> expert_phases(const PhaseLimits& limits, const ExpertKernels& kernels);

// Tiles on subgroup matrices. kFew: of the layout `index` among those for few tokens, where tiles for many would leave
// most of the GPU idle. kSmall, kBig: PromptTiles.
enum class TilePhase { kFew, kSmall, kBig };
struct TileSize {
  uint32_t rows, tokens;
};
// `few`: the tokens of each tile for few. `small_tiles`: the number of small tiles that a few tokens make.
std::vector<Phase<TilePhase>> float_tile_phases(const Layouts& layouts, const When& when, std::span<const uint32_t> few,
                                                std::optional<uint32_t> small_tiles);
// Those tiles alone, for the runs of `when`. Each tile is for up to its own number of tokens, the last one for all
// beyond.
std::vector<Phase<TilePhase>> few_tile_phases(std::span<const uint32_t> few, const When& when);
// For a matrix of `rows` rows. The big tile is for runs in which it makes at least Layouts::big_tiles_from workgroups.
std::vector<Phase<TilePhase>> prompt_tile_phases(const Layouts& layouts, const When& when, uint32_t rows,
                                                 std::optional<TileSize> small, std::optional<TileSize> big);

// The head: rows of logits from which it is computed in tiles, and the runs with fewer.
int head_tiles_from(const Layouts& layouts, bool is_f16);
When head_in_tiles(const Layouts& layouts, bool is_f16);
When before_head_tiles(const When& when, const Layouts& layouts, bool is_f16);
// The tiles of a packed head, for numbers of rows of logits.
std::vector<Phase<TilePhase>> packed_head_phases(const Layouts& layouts, std::span<const uint32_t> tiles);
// An F16 head, by the rows that a workgroup takes at once.
std::vector<Phase<TilePhase>> f16_head_phases(const Layouts& layouts);
// Estimates of logits from the head's copy, for up to `most_rows` rows.
std::vector<Phase<RowPhase>> estimate_phases(int most_rows);

// Attention: each head in a workgroup of its own (kAlone, by workgroup size), several heads in one (kGroups), both with
// a long history in splits, and on subgroup matrices.
enum class AttentionPhase { kOnMatrices, kAlone, kGroups, kSplits, kSplitGroups };
struct AttentionKernels {
  int n_ctx = 0, window = 0;
  bool on_matrices = false;
  std::vector<int> sizes_from = {1};          // tokens from which each workgroup size is for
  bool groups = false;                        // for many tokens
  std::optional<int> split_groups_from = {};  // positions; none: histories are split for single heads only
};
std::vector<Phase<AttentionPhase>> attention_phases(const Layouts& layouts, const AttentionKernels& kernels);
// The runs whose attention is on subgroup matrices, where there is such a kernel.
When attention_on_matrices(const Layouts& layouts);
// The positions from which split histories are attended to in groups of `n_heads` heads.
int split_groups_from(const Layouts& layouts, bool makes_heads, uint32_t n_heads);

}  // namespace tern::gpu
