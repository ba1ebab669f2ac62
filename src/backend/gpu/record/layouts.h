// How kernels divide their work into workgroups and rows on a device.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/common.h"
#include "backend/gpu/kernels/kv_cache.h"
#include "backend/gpu/kernels/prompt_tile.h"
#include "plan/plan.h"

namespace tern::gpu {

// The layout of a matrix × vector kernel (kernels/ternary/ternary_linear.h).
struct MatvecLayout {
  uint32_t lanes, rows_per_group, workgroup;
};

// All kernel layouts for a device. The defaults measured best on an NVIDIA H200 (docs/measurements/gpu.md);
// bench/tune_gpu tries others.
struct Layouts {
  MatvecLayout square = {16, 1, 512};  // attn_output
  MatvecLayout wide = {16, 1, 512};    // ffn_down: more columns than rows
  MatvecLayout glu = {16, 1, 256};     // rows of each of the two matrices
  MatvecLayout qkv = {16, 2, 256};     // always pairs of rows
  MatvecLayout head = {32, 2, 256};
  // Estimates of the logits from the head's int8 copy (kernels/head/best_logits.h), for one row and for several.
  MatvecLayout estimates = {32, 2, 256}, estimates_of_rows = {32, 4, 256};
  MatvecLayout float_square = {16, 1, 256};  // the same layers with float weights
  MatvecLayout float_wide = {32, 1, 256};
  MatvecLayout float_glu = {16, 1, 256};
  MatvecLayout float_qkv = {16, 1, 256};
  // Ternary layers for several tokens (kernels/ternary/ternary_columns.h). Of this layout only `workgroup` counts: a
  // workgroup has as many rows of weights as above, so a smaller one has more per group of lanes. Up to `few_columns`
  // tokens the kernel takes that many at a time, then `columns_of_ternary`, if workgroup memory allows. Above
  // `most_in_columns` tokens, or from kMatmulTokens on if it is 0, the matrix kernels run.
  MatvecLayout ternary_columns = {16, 2, 256};
  uint32_t few_columns = 2, columns_of_ternary = 4;
  int most_in_columns = 32;
  // On devices with int8 matrices: the range of token counts for which they are used, and the subgroups per workgroup
  // (kernels/ternary/ternary_batch.h).
  int batches_from = 5, most_in_batches = 64;
  uint32_t batch_subgroups = 8, batch_glu_subgroups = 2;
  uint32_t stage_bits = 8;  // float weights of at most this many bits: activations go through workgroup memory
  bool int8_x = true;       // if the plan allows it, activations become int8 when multiplied with packed weights
  // Rows that a dispatch of its own makes int8 before products read them: `from` … `most` rows for weights of at most
  // `bits` bits, the first that fits. Rows of at least wide_int8_rows values cost each workgroup more to convert, so
  // they are int8 from `from_wide` rows on.
  struct Int8Rows {
    uint32_t bits;
    int from_wide, from, most;
  };
  std::vector<Int8Rows> int8_rows = {{2, 1, 3, 16}, {4, 4, 4, 16}, {8, 5, 5, 8}};
  uint32_t wide_int8_rows = 5120;
  // Then up to this many rows are multiplied at once, with these layouts for one row and for several.
  uint32_t int8_columns = 2;
  MatvecLayout int8_row = {32, 1, 256}, int8_glu_row = {16, 2, 256};
  MatvecLayout int8_columns_layout = {16, 2, 256}, int8_glu_columns_layout = {16, 1, 256};
  // For a few rows: the rows of x that a workgroup multiplies with float weights at once, from columns_from rows on. A
  // head of more than four bits, which is slow to read, uses them from head_columns_from rows on.
  uint32_t columns = 4;
  int columns_from = 3, head_columns_from = 2;
  // Tokens from which float weights are multiplied in tiles, if there are no tiles for few tokens; at least
  // kMatmulTokens.
  int float_tiles_from = 13;
  // The same for matrices of at most `narrow` rows, as those that choose experts, of which tiles are too few.
  int narrow_tiles_from = 65;
  uint32_t narrow = 256;
  // Up to this many tokens, tiles on subgroup matrices are small, so that there are enough of them to fill the GPU. If
  // PromptTiles::small already gives enough tiles (big_tiles_from), only up to 32 tokens.
  int most_in_few_tiles = 64;
  // A tile of up to `tokens` tokens and `rows` rows of each matrix, both multiples of 16. It is used for runs of up to
  // `tokens` tokens; the last one in a list is used for any number. Up to `splits` subgroups, a power of two, share a
  // block of up to `columns` columns.
  struct FewTile {
    uint32_t tokens, rows, splits, columns;
    uint32_t subgroup_rows = 1, subgroup_tokens = 1;  // subgroups along each side, each with its part of the tile
    uint32_t ahead = 1;                               // PromptTile::ahead at most; a power of two
    bool operator==(const FewTile&) const = default;
  };
  std::vector<FewTile> few_tiles = {{16, 32, 8, 128}, {32, 32, 8, 128}, {64, 64, 4, 64, 2}};
  // The same for weights of at most two bits, which take longer to unpack than to load.
  std::vector<FewTile> few_tiles_of_two_bits = {{16, 64, 8, 128, 2, 1, 8}, {32, 32, 8, 128}, {64, 64, 4, 64, 2}};
  // Batches of decode with weights of at most two bits (kernels/float/float_matmul_few.h): tiles for up to `tokens`
  // tokens and, together, `rows` rows of all matrices of a step, if these have at least from_rows rows. For each number
  // of tokens the first one that fits is used.
  struct FewTokens {
    uint32_t tokens, from_rows, rows, splits, teams;
    bool operator==(const FewTokens&) const = default;
  };
  std::vector<FewTokens> few_tokens = {{16, 24576, 32, 4, 1}, {16, 8192, 64, 4, 1},  {16, 0, 48, 8, 2},
                                       {16, 0, 64, 8, 2},     {32, 24576, 64, 8, 1}, {32, 8192, 64, 4, 1},
                                       {32, 0, 48, 8, 2},     {32, 0, 64, 4, 1}};
  int few_tokens_from = 9;  // smaller batches are int8
  int few_tiles_from = 9;   // tokens, if there are kernels for several rows; at least kMatmulTokens
  // A head of packed weights for several rows of logits, from head_tiles_from rows on.
  std::vector<FewTile> head_tiles = {{16, 128, 2, 64, 4}, {64, 128, 2, 64, 4}};
  int head_tiles_from = 5;
  // Mixtures of experts: from expert_tiles_from tokens per expert on, on average, an expert's matrices are multiplied
  // with tiles of the tokens that chose it; without subgroup matrices, where only the tiles' tokens count, from
  // expert_float_tiles_from on. Each tile is for up to half as many tokens per expert, the last one for all beyond.
  // None: each token reads its own experts.
  uint32_t expert_tiles_from = 2, expert_float_tiles_from = 4;
  std::vector<FewTile> expert_tiles = {
      {16, 128, 2, 64, 4}, {32, 128, 1, 64, 4}, {64, 128, 1, 64, 4}, {128, 128, 1, 64, 4, 2}};
  uint32_t most_ahead = 8;  // units of float weights that a lane loads before its activations are ready
  uint32_t norm_workgroup = 256;
  uint32_t attention_workgroup = 1024;
  // Smaller workgroups for several tokens, which give enough of them to fill the GPU.
  struct AttentionSize {
    int from_tokens;
    uint32_t workgroup;
  };
  std::vector<AttentionSize> attention_of_batches = {{4, 512}, {12, 256}, {24, 128}};
  // From this many tokens on, each workgroup takes up to seven heads that share keys and values; see group_heads.
  int groups_from = 20;
  uint32_t groups_workgroup = 256, groups_rounds = 2;
  // Attention on subgroup matrices: used from this many tokens per sequence on (RunShape::slice_tokens_estimate), at
  // least kMatmulTokens; INT_MAX: never. Then the subgroups of a workgroup, and the positions processed at a time.
  int attention_on_matrices_from = 32;
  uint32_t matrix_attention_subgroups = 4, matrix_attention_chunk = 32;
  int split_attention_from = 513;  // positions
  uint32_t most_splits = 16;       // of a long history; WorkBuffers::kMostSplits at most
  uint32_t split_workgroup = 1024;
  // Long histories: a workgroup takes up to seven heads that share keys and values, and reads these once for all of
  // them. Attention that would make its heads itself then needs a dispatch before it, which pays off only from
  // made_heads_together_from / (reads saved per key) positions on.
  enum class Group { kNever, kUnlessHeadsAreMade, kAlways };
  Group group_heads = Group::kUnlessHeadsAreMade;
  int made_heads_together_from = 3072;
  uint32_t most_splits_of_groups = 64;  // replaces most_splits
  // The workgroups of such groups: `lanes` invocations share a position's scores, each of `rounds` positions.
  struct SplitGroups {
    uint32_t workgroup, lanes, rounds;
  };
  SplitGroups split_groups = {128, 8, 4}, split_groups_of_large_heads = {256, 8, 2};  // of more than 128 dimensions
  // With one token per sequence, attention makes its heads itself, if the plan allows it; otherwise a dispatch before
  // it does.
  bool heads_in_attention = true;
  // Tiles of prompts on subgroup matrices; a glu tile has rows of two matrices. If one does not fit into workgroup
  // memory, PromptTile's own sizes are used. The big tile is used if it gives at least big_tiles_from workgroups.
  PromptTiles float_tiles = {.big = {2, 2, 4, 4, 1, 32}}, float_glu_tiles = {.big = {4, 2, 2, 4, 1, 32}};
  PromptTiles ternary_tiles = {.small = {2, 2, 2, 2, 1, 128}, .big = {2, 2, 4, 2, 1, 64}};
  PromptTiles ternary_glu_tiles = {.small = {2, 2, 2, 2, 1, 128}, .big = {2, 2, 2, 4, 1, 128}};
  uint32_t big_tiles_from = 128;
  bool float_matrices = true;  // float layers of prompts run as f16 on subgroup matrices, if there are any
  // Rows of logits from which an F16 head is multiplied as f16 on subgroup matrices, with the f32 activations in two
  // f16 parts. The head is then read once per 32 rows.
  int head_matrices_from = 5;
  bool software_matrices = false;  // use subgroup matrices even if a software driver only emulates them: for tests
  // For drivers that run shaders on a CPU, where these are fastest to compile and run: kernels without barriers and
  // workgroup memory, short texts with loops, norms as separate dispatches, prompts token by token. Requires subgroups.
  bool serial = false;
};

// The layouts for this device; serial for software adapters, unless `without` contains "serial"; without tiles of
// experts if it contains "expert-tiles".
Layouts layouts_for(const Device& device, std::span<const std::string> without);

// True if the device has f16 subgroup matrices and they are worth using.
bool has_f16_matrices(const Device& device, const Layouts& layouts);

// The features that kernels may use on this device.
Caps caps_of(const Device& device);

// The wanted number of lanes, but at most a subgroup's, within which a row is reduced fastest.
inline uint32_t lanes_of(const Caps& caps, uint32_t wanted) {
  return std::min(wanted, caps.subgroup == 0 ? 8 : caps.subgroup);
}

// Converts to the kernels' type.
Activation activation(GluAct act);

// Invocations of an attention workgroup: `wanted`, or fewer if workgroup memory has no room for their sums.
// head_dim_of_codes: head_dim if keys and values are quantized, since their scales take room as well; otherwise 0.
uint32_t attention_workgroup(const Device& device, uint32_t wanted, uint32_t head_dim_of_codes);

// The head shape of a step that has heads.
HeadShape head_shape(const auto& step) {
  return {static_cast<uint32_t>(step.n_heads), static_cast<uint32_t>(step.n_kv_heads),
          static_cast<uint32_t>(step.head_dim)};
}

}  // namespace tern::gpu
