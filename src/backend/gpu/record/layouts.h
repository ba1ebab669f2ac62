// How kernels are laid out on a device.
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

// How the work of a matrix × vector kernel is laid out (kernels/ternary_linear.h).
struct MatvecLayout {
  uint32_t lanes, rows_per_group, workgroup;
};

// How kernels are laid out on this device. The defaults are what measured best on an NVIDIA H200 (docs/performance.md);
// bench/tune_gpu tries others.
struct Layouts {
  MatvecLayout square = {16, 1, 512};  // attn_output
  MatvecLayout wide = {16, 1, 512};    // ffn_down: more columns than rows
  MatvecLayout glu = {16, 1, 256};     // rows of each of the two matrices
  MatvecLayout qkv = {16, 2, 256};     // always pairs of rows
  MatvecLayout head = {32, 2, 256};
  // Of the head's logits, from its int8 copy (kernels/best_logits.h): of one row, and of several.
  MatvecLayout estimates = {32, 2, 256}, estimates_of_rows = {32, 4, 256};
  MatvecLayout float_square = {16, 1, 256};  // the same layers with float weights
  MatvecLayout float_wide = {32, 1, 256};
  MatvecLayout float_glu = {16, 1, 256};
  MatvecLayout float_qkv = {16, 1, 256};
  // Ternary layers of several tokens (kernels/ternary_columns.h): as many rows in a workgroup as above, whose lanes
  // compute two each. Up to `few_columns` tokens so many at a time, then `columns_of_ternary`, where there is room in
  // workgroup memory; from `most_in_columns` tokens on the matrix kernels run. 0: these do from kMatmulTokens on.
  MatvecLayout ternary_columns = {16, 2, 256};
  uint32_t few_columns = 2, columns_of_ternary = 4;
  int most_in_columns = 32;
  // Where there are int8 matrices: from so many tokens on they are used, with so many subgroups in a workgroup
  // (kernels/ternary_batch.h).
  int batches_from = 5, most_in_batches = 64;
  uint32_t batch_subgroups = 8, batch_glu_subgroups = 2;
  uint32_t stage_bits = 8;  // float weights of at most so many bits: activations go through workgroup memory
  bool int8_x = true;       // where the plan allows: activations become int8 where packed weights meet them
  // Rows of x that a workgroup multiplies with float weights where there are few, from so many on; with a head of more
  // than four bits, which takes its time to be read, from fewer on.
  uint32_t columns = 4;
  int columns_from = 3, head_columns_from = 2;
  // From so many tokens on float weights are multiplied in tiles, where there are none for few tokens; at least
  // kMatmulTokens.
  int float_tiles_from = 13;
  // Of up to so many tokens, tiles on matrices are of few rows and few tokens, so that there are enough of them: where
  // tiles of many tokens are not enough either (big_tiles_from), and up to 32 tokens anyway.
  int most_in_few_tiles = 64;
  // A tile of up to so many tokens and of so many rows of each matrix, both multiples of 16, for runs of up to so many
  // tokens, or of any where it is the last. Up to so many subgroups, a power of two, share a block of up to so many
  // columns.
  struct FewTile {
    uint32_t tokens, rows, splits, columns;
    uint32_t subgroup_rows = 1;  // subgroups beside each other, each with its part of the rows
    bool operator==(const FewTile&) const = default;
  };
  std::vector<FewTile> few_tiles = {{16, 32, 8, 128}, {32, 32, 8, 128}, {64, 64, 4, 64, 2}};
  int few_tiles_from = 9;  // tokens, where there are kernels for several rows; at least kMatmulTokens
  // A head of packed weights, for several rows of logits: from so many on.
  std::vector<FewTile> head_tiles = {{16, 128, 2, 64, 4}, {64, 128, 2, 64, 4}};
  int head_tiles_from = 5;
  uint32_t most_ahead = 8;  // units of float weights that a lane loads before its activations are ready
  uint32_t norm_workgroup = 1024;
  uint32_t attention_workgroup = 1024;
  // Of several tokens smaller ones, for there are enough of them to fill the GPU.
  struct AttentionSize {
    int from_tokens;
    uint32_t workgroup;
  };
  std::vector<AttentionSize> attention_of_batches = {{4, 512}, {12, 256}, {24, 128}};
  // From so many tokens on each workgroup has up to four heads that share keys and values; see group_heads.
  int groups_from = 20;
  uint32_t groups_workgroup = 256, groups_rounds = 2;
  // Attention on subgroup matrices, where sequences have so many tokens (RunShape::typical_slice), at least
  // kMatmulTokens; INT_MAX: never. Subgroups of a workgroup, positions at a time.
  int attention_on_matrices_from = 32;
  uint32_t matrix_attention_subgroups = 4, matrix_attention_chunk = 32;
  int split_attention_from = 513;  // positions
  uint32_t most_splits = 16;       // of a long history; WorkBuffers::kMostSplits at most
  uint32_t split_workgroup = 1024;
  // Long histories: a workgroup has up to four heads that share keys and values, and reads these once for all of them.
  // Attention that makes its heads itself needs a dispatch before it then, which long histories alone pay: those of
  // made_heads_together_from positions, divided by the reads of each key that are spared.
  enum class Group { kNever, kUnlessHeadsAreMade, kAlways };
  Group group_heads = Group::kUnlessHeadsAreMade;
  int made_heads_together_from = 3072;
  uint32_t most_splits_of_groups = 64, group_workgroup = 256;  // in place of the two above
  // Of one token of each sequence, where the plan has them there: else a dispatch before it.
  bool heads_in_attention = true;
  // Of prompts on subgroup matrices; the glu's has rows of two matrices. Where there is no room in workgroup memory for
  // one, PromptTile's own sizes. The big one is taken where it makes so many workgroups.
  PromptTiles float_tiles = {.big = {4, 2, 2, 4, 1, 64}}, float_glu_tiles = {.big = {4, 2, 2, 4, 1, 32}};
  PromptTiles ternary_tiles = {.big = {4, 2, 2, 4, 1}}, ternary_glu_tiles = {.big = {4, 2, 1, 4, 1}};
  uint32_t big_tiles_from = 128;
  bool float_matrices = true;  // float layers of prompts as f16 on subgroup matrices, where there are any
  // From so many rows of logits on an F16 head is multiplied as f16 on subgroup matrices, with f32 activations in two
  // parts, and is read once for 32 of them.
  int head_matrices_from = 5;
  bool software_matrices = false;  // subgroup matrices even where a software driver only imitates them: for tests
  // Kernels without barriers and workgroup memory, short texts with loops, norms as dispatches of their own, prompts
  // token by token: what a driver that runs shaders on a CPU is fastest with, to compile and to run. Takes subgroups.
  bool serial = false;
};

// The layouts for this device: serial ones for software adapters, unless `without` says "serial".
Layouts layouts_for(const Device& device, std::span<const std::string> without);

// The features that kernels may use on this device.
Caps caps_of(const Device& device);

// As many lanes as are wanted, or with which a row is reduced fastest: inside a subgroup.
inline uint32_t lanes_of(const Caps& caps, uint32_t wanted) {
  return std::min(wanted, caps.subgroup == 0 ? 8 : caps.subgroup);
}

// The kernels' name for it.
Activation activation(GluAct act);

// Invocations of a workgroup of attention: those that are wanted, or as many as workgroup memory has room for the sums
// of. `head_dim_of_codes`: of keys and values in codes, whose scales take room as well; 0: they have none.
uint32_t attention_workgroup(const Device& device, uint32_t wanted, uint32_t head_dim_of_codes);

// Of a step that has some.
HeadShape head_shape(const auto& step) {
  return {static_cast<uint32_t>(step.n_heads), static_cast<uint32_t>(step.n_kv_heads),
          static_cast<uint32_t>(step.head_dim)};
}

}  // namespace tern::gpu
