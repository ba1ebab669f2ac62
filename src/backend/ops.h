// The arguments of every op that runs in host memory: the plan's slots, resolved to addresses. The reference and the
// CPU backend take the same arguments, and the conform tests give them to both.
//
// Rows are dense: row r of an [n, width] array starts at r·width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/state_layout.h"
#include "model/source/config.h"
#include "model/source/weights.h"
#include "plan/plan.h"
#include "tern/options.h"

namespace tern {

inline constexpr int kKvBlock = 64;  // positions in a block of a host's store

}  // namespace tern

namespace tern::ops {

// int8 rows: x[r][i] ≈ q[r][i] / scale[r]. Read-only and writable views.
struct QuantizedRows {
  const int8_t* q;     // [n, width]
  const float* scale;  // [n]
  const int32_t* sum;  // [n], Σ_i q[r][i]
};
struct MutableQuantizedRows {
  int8_t* q;
  float* scale;
  int32_t* sum;
};

// int8 rows in blocks of kInt8Block: x[r][i] ≈ q[r][i] · scale[r][i / kInt8Block], q in −127 … 127. Read-only and
// writable views.
struct BlockRows {
  const int8_t* q = nullptr;     // [n, width]
  const float* scale = nullptr;  // [n, width / kInt8Block]
  const int32_t* sum = nullptr;  // [n, width / kInt8Block], Σ q of the block
  const int* rows = nullptr;     // [n], which rows of the arrays are meant; null: all, in order

  size_t row(size_t i) const { return rows ? static_cast<size_t>(rows[i]) : i; }
};
struct MutableBlockRows {
  int8_t* q;
  float* scale;
  int32_t* sum;
};

// The input of a float linear layer: one of the two is set.
struct FloatRows {
  const float* x = nullptr;  // [n, width]
  BlockRows blocks = {};
};

struct Embed {
  const Tensor* table;              // [n_vocab, width]
  std::span<const TokenId> tokens;  // n
  float* out;                       // [n, width]
  float scale = 1;                  // multiplies the rows
};

struct SelectRows {
  const float* in;            // [n, width]
  std::span<const int> rows;  // which rows of `in`
  int width;
  float* out;  // [rows.size(), width]
};

struct RmsNorm {
  const float* in;    // [n, width]
  const float* gain;  // [width]
  float eps;
  int n, width;
  float* out;  // [n, width]
};

struct Quantize {
  const float* in;  // [n, width]
  int n, width;
  MutableQuantizedRows out;
};

struct QuantizeBlocks {
  const float* in;  // [n, width], width a multiple of kInt8Block
  int n, width;
  MutableBlockRows out;
};

struct RmsNormQuantize {
  const float* in;
  const float* gain;
  float eps;
  int n, width;
  MutableQuantizedRows out;
};

// What happens to a result: y = w·x, or y += w·x.
enum class Store { kSet, kAdd };

struct TernaryLinear {
  QuantizedRows in;  // [n, w->cols]
  int n;
  const Tensor* w;
  Store store;
  float* out;  // [n, w->rows]
};

struct TernaryGlu {
  QuantizedRows in;  // [n, cols]
  int n;
  const Tensor* w_gate;
  const Tensor* w_up;
  GluAct act;
  float* out;  // [n, rows]
};

struct FloatLinear {
  FloatRows in;  // [n, w->cols]
  int n;
  const Tensor* w;
  Store store;
  float* out;  // [n, w->rows]
};

struct FloatGlu {
  FloatRows in;  // [n, cols]
  int n;
  const Tensor* w_gate;
  const Tensor* w_up;
  GluAct act;
  float* out;  // [n, rows]
};

struct Rope {
  float* x;  // [n, n_heads, head_dim]
  int n, n_heads, head_dim;
  const float* cos;  // [n, rotated() / 2], for the position of each row (rope_table.h)
  const float* sin;
  RopePairs pairs;
  int n_dims = 0;  // only the first dimensions of a head rotate; 0: all

  int rotated() const { return n_dims > 0 ? n_dims : head_dim; }
};

// Where one layer's keys and values lie in a block of the store (kKvBlock positions): byte offsets from the start of
// the block. The order of the values is given in kv_layout.h.
struct KvLayer {
  KvType type;
  int n_kv_heads, head_dim;
  size_t k_offset, v_offset;
};

// A row of a batch: the blocks of its sequence, and its position in it.
struct KvRow {
  std::byte* const* blocks;
  int pos;
};

// Up to kTileRows rows at consecutive positions of one sequence.
inline constexpr int kTileRows = 4;
struct RowTile {
  int first, n;
};

struct KvAppend {
  const float* k;  // [n, n_kv_heads, head_dim]
  const float* v;
  std::span<const KvRow> rows;  // n
  KvLayer cache;
};

struct Attention {
  const float* q;                  // [n, n_heads, head_dim]
  std::span<const KvRow> rows;     // n; each sees positions 0 … pos of its sequence
  std::span<const RowTile> tiles;  // all rows, in order
  int n_heads;
  int window;  // only the last `window` positions are seen; 0: all
  KvLayer cache;
  float* out;                    // [n, n_heads, head_dim]
  float softcap = 0;             // scores s become softcap · tanh(s / softcap); 0: unchanged
  const float* sinks = nullptr;  // [n_heads], one more score of each head, without a value
};

struct GluMul {
  const float* gate;
  const float* up;
  GluAct act;
  size_t count;
  float* out;
  // Rows of `up` are up_stride values apart, and those of the others have `width`. 0: all are dense.
  int width = 0, up_stride = 0;
};

struct Add {
  const float* in;
  size_t count;
  float* x;  // x = (x + in) · scale
  float scale = 1;
};

struct AddBias {
  const float* bias;  // [width]
  int n, width;
  float* x;  // [n, width], x += bias in every row
};

struct SplitHeads {
  const float* in;  // [n, n_heads, 2, head_dim]
  int n, n_heads, head_dim;
  float* q;  // [n, n_heads, head_dim]
  float* gate;
};

struct Rotate {
  const float* in;     // [n, width]
  const float* signs;  // [width]
  int n, width, block;
  bool is_inverse;
  int n_groups, head_dim;  // see step::Rotate
  float* out;

  // Where value i of a row that is to be rotated lies in the row of `in`.
  int source(int i) const {
    if (n_groups == 0) return i;
    const int head = i / head_dim, per_group = width / head_dim / n_groups;
    return (head % per_group * n_groups + head / per_group) * head_dim + i % head_dim;
  }
};

struct SigmoidMul {
  const float* gate;
  size_t count;
  float* x;  // x = x · sigmoid(gate)
};

// The rows of one sequence in the batch, and its state (state_layout.h). The first n_confirmed pending tokens of one
// set join the state before these rows. If is_check is true, these rows do not change the state: they are left pending
// in the other set.
struct StateRows {
  int first, n;
  std::byte* state;
  bool is_new;  // the state counts as zero
  int n_confirmed;
  int confirmed_set;
  bool is_check;
};

struct CausalConv {
  const float* in;    // [n, channels]
  const float* taps;  // [channels, n_taps]
  int channels, n_taps;
  std::span<const StateRows> rows;  // all rows
  StateLayer state;
  float* out;  // [n, channels]
};

struct DeltaRule {
  const float* in;     // [n, 2 n_k_heads + n_v_heads, head_dim]
  const float* alpha;  // [n, n_v_heads]
  const float* beta;
  const float* decay;  // [n_v_heads]
  const float* dt_bias;
  DeltaConfig shape;
  std::span<const StateRows> rows;  // all rows
  StateLayer state;
  float* out;  // [n, n_v_heads, head_dim]
};

struct GatedNorm {
  const float* in;  // [n, n_heads, head_dim]
  const float* gate;
  const float* gain;  // [head_dim]
  float eps;
  int n, head_dim;  // n: heads of all rows
  float* out;
};

// What Route wrote for each of n rows: the numbers of n_used experts, and then their weights.
struct Chosen {
  const float* values;  // [n, 2, n_used]
  int n, n_used;

  int expert(int row, int i) const { return static_cast<int>(values[at(row) + static_cast<size_t>(i)]); }
  float weight(int row, int i) const { return values[at(row) + static_cast<size_t>(n_used + i)]; }
  size_t at(int row) const { return static_cast<size_t>(row) * 2 * static_cast<size_t>(n_used); }
};

struct Route {
  const float* in;  // [n, n_experts]
  int n;
  ExpertConfig experts;
  float* out;                           // [n, 2, n_used]
  const float* expert_scale = nullptr;  // [n_experts] or null
};

struct ExpertGlu {
  FloatRows in;  // [n, cols]
  Chosen chosen;
  const Tensor* w_gate;
  const Tensor* w_up;
  const float* gate_bias;  // [n_experts, rows] or null
  const float* up_bias;
  float limit;
  GluAct act;
  float* out;  // [n, n_used, rows]
};

struct ExpertLinear {
  FloatRows in;  // [n, n_used, cols]
  Chosen chosen;
  const Tensor* w;
  const float* bias;  // [n_experts, rows] or null
  float* out;         // [n, n_used, rows]
};

struct MixExperts {
  const float* in;  // [n, n_used, width]
  Chosen chosen;
  const float* shared;  // [n, width] or null
  const float* gate;    // [n]
  int width;
  float* out;  // [n, width]
};

struct Softcap {
  float cap;
  size_t count;
  float* x;  // x = cap · tanh(x / cap)
};

}  // namespace tern::ops

// Every op whose function has the same arguments in each host backend: its arguments and its function.
#define TERN_OPS(X)                     \
  X(Embed, embed)                       \
  X(SelectRows, select_rows)            \
  X(RmsNorm, rms_norm)                  \
  X(Quantize, quantize)                 \
  X(RmsNormQuantize, rms_norm_quantize) \
  X(TernaryLinear, ternary_linear)      \
  X(TernaryGlu, ternary_glu)            \
  X(QuantizeBlocks, quantize_blocks)    \
  X(FloatLinear, float_linear)          \
  X(FloatGlu, float_glu)                \
  X(Rope, rope)                         \
  X(KvAppend, kv_append)                \
  X(GluMul, glu_mul)                    \
  X(Add, add)                           \
  X(AddBias, add_bias)                  \
  X(SplitHeads, split_heads)            \
  X(Rotate, rotate)                     \
  X(SigmoidMul, sigmoid_mul)            \
  X(CausalConv, causal_conv)            \
  X(DeltaRule, delta_rule)              \
  X(GatedNorm, gated_norm)              \
  X(Route, route)                       \
  X(ExpertGlu, expert_glu)              \
  X(ExpertLinear, expert_linear)        \
  X(MixExperts, mix_experts)            \
  X(Softcap, softcap)
