// The kernels of recurrent layers (Gated DeltaNet), and the gate of attention.
//
// A layer's states are in one buffer, state after state: the matrices S [n_v_heads, head_dim of k, head_dim of v], then
// the last n_taps − 1 inputs of the convolution, [n_taps − 1, channels]. This is the host's order (state_layout.h).
#pragma once

#include <algorithm>

#include "backend/gpu/kernels/common.h"
#include "backend/gpu/kernels/elementwise.h"
#include "backend/gpu/kernels/float/int8_rows.h"

namespace tern::gpu {

// The sequences of a batch: kSequenceWords words for each of them, at most kMostSequences, then the number of its
// sequence for each row of the batch.
using SequencesBuffer = wgsl::In<"sequences", wgsl::U32>;
inline constexpr uint32_t kMostSequences = 64, kSequenceWords = 5;
// kStateOf: the state that is continued; kIsNew: it counts as zero. kStateTo: where the new state goes, in the end the
// same place or another one.
inline constexpr uint32_t kFirstRowOf = 0, kRowsOf = 1, kStateOf = 2, kStateTo = 3, kIsNew = 4;
inline constexpr uint32_t kSequenceOfRow = kMostSequences * kSequenceWords;

struct DeltaShape {
  uint32_t n_k_heads, n_v_heads, head_dim, n_taps;
  bool is_tiled = false;  // head h of the values belongs to key head h % n_k_heads
  // The inputs of the convolution, the gate, alpha and beta of a token are one row; otherwise each has rows of its own.
  bool are_side_by_side = false;

  uint32_t key_width() const { return n_k_heads * head_dim; }
  uint32_t value_width() const { return n_v_heads * head_dim; }
  uint32_t channels() const { return 2 * key_width() + value_width(); }
  uint32_t columns_at() const { return value_width() * head_dim; }
  uint32_t state_floats() const { return columns_at() + (n_taps - 1) * channels(); }
  uint32_t row_width() const { return channels() + value_width() + 2 * n_v_heads; }
  uint32_t conv_stride() const { return are_side_by_side ? row_width() : channels(); }
  uint32_t gate_stride() const { return are_side_by_side ? row_width() : value_width(); }
  uint32_t gate_at() const { return are_side_by_side ? channels() : 0; }
  uint32_t alpha_stride() const { return are_side_by_side ? row_width() : n_v_heads; }
  uint32_t alpha_at() const { return are_side_by_side ? channels() + value_width() : 0; }
  uint32_t beta_at() const { return are_side_by_side ? alpha_at() + n_v_heads : 0; }
  bool operator==(const DeltaShape&) const = default;
};

using CausalConvKernel =
    wgsl::Kernel<wgsl::In<"x", wgsl::F32>, wgsl::In<"taps", wgsl::F32>, SequencesBuffer, wgsl::In<"state", wgsl::F32>,
                 wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y = silu(Σ_j taps[c][j] · the input of channel c n_taps − 1 − j tokens before). x: [n_rows, conv_stride()], y:
// [n_rows, channels]. Grid: [⌈channels / 128⌉, n_rows].
CausalConvKernel causal_conv(const DeltaShape& c);

using KeepColumnsKernel = wgsl::Kernel<wgsl::In<"x", wgsl::F32>, SequencesBuffer, wgsl::InOut<"state", wgsl::F32>,
                                       wgsl::WorkgroupId, wgsl::LocalIndex>;
// Writes the last inputs of each sequence to its state, after causal_conv has read those before. Grid:
// [⌈channels / 128⌉, n_sequences].
KeepColumnsKernel keep_columns(const DeltaShape& c);

struct DeltaRuleConfig {
  DeltaShape shape;
  Caps caps;

  static constexpr uint32_t kParts = 4;                                    // invocations that share a column of S
  uint32_t columns() const { return shape.head_dim % 32 == 0 ? 32 : 16; }  // of S, of a workgroup
  uint32_t workgroup() const { return kParts * columns(); }
  uint32_t parts_of_head() const { return shape.head_dim / columns(); }  // workgroups of a head
  bool operator==(const DeltaRuleConfig&) const = default;
};
using DeltaRuleKernel =
    wgsl::Kernel<wgsl::In<"x", wgsl::Vec4<wgsl::F32>>, wgsl::In<"alpha", wgsl::F32>, wgsl::In<"beta", wgsl::F32>,
                 wgsl::In<"decay", wgsl::F32>, wgsl::In<"dt_bias", wgsl::F32>, SequencesBuffer,
                 wgsl::InOut<"state", wgsl::F32>, wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// alpha, beta: [n_rows, alpha_stride()], of which they are the values from alpha_at() and beta_at() on.
// The delta rule (step::DeltaRule), token by token, so that results do not depend on how a text is divided into passes:
// an invocation keeps its part of a column of S in registers. x: [n_rows, channels], y: [n_rows, value_width].
// Grid: [n_v_heads · parts_of_head(), n_sequences].
DeltaRuleKernel delta_rule(const DeltaRuleConfig& c);

using GatedNormKernel = wgsl::Kernel<wgsl::In<"x", wgsl::F32>, wgsl::In<"gate", wgsl::F32>, wgsl::In<"gain", wgsl::F32>,
                                     wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
struct GatedNormConfig {
  uint32_t n_heads, head_dim;
  float eps;
  Caps caps;
  uint32_t gate_stride, gate_at = 0;  // of the gate's rows, and where a row begins

  static constexpr uint32_t kLanes = 32;  // invocations that sum up a head
  bool operator==(const GatedNormConfig&) const = default;
};
// y = RMS norm of each head of x · silu(gate). Grid: [n_heads, n_rows].
GatedNormKernel gated_norm(const GatedNormConfig& c);

struct GatedDeltaConfig {
  DeltaShape shape;  // are_side_by_side
  GatedNormConfig norm;
  uint32_t workgroup;  // 4 · head_dim, or a part of it: then invocations have several columns of S
  bool operator==(const GatedDeltaConfig&) const = default;
};
using GatedDeltaKernel =
    wgsl::Kernel<wgsl::In<"rows", wgsl::F32>, wgsl::In<"taps", wgsl::F32>, wgsl::In<"decay", wgsl::F32>,
                 wgsl::In<"dt_bias", wgsl::F32>, wgsl::In<"gain", wgsl::F32>, SequencesBuffer,
                 wgsl::InOut<"state", wgsl::F32>, wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// All of the above for one token of each sequence, with the same bits: the convolution and its columns, the delta rule,
// the gated norm. New states must go to other places: workgroups read columns that another one replaces.
// Grid: [n_v_heads, n_sequences].
GatedDeltaKernel gated_delta(const GatedDeltaConfig& c);
// The same, which leaves y as int8, too.
using GatedDeltaLeavingKernel =
    wgsl::Kernel<wgsl::In<"rows", wgsl::F32>, wgsl::In<"taps", wgsl::F32>, wgsl::In<"decay", wgsl::F32>,
                 wgsl::In<"dt_bias", wgsl::F32>, wgsl::In<"gain", wgsl::F32>, SequencesBuffer,
                 wgsl::InOut<"state", wgsl::F32>, wgsl::Out<"y", wgsl::F32>, LeftX, LeftRuns, wgsl::WorkgroupId,
                 wgsl::LocalIndex>;
GatedDeltaLeavingKernel gated_delta_leaving(const GatedDeltaConfig& c, const WeightCoding& coding);
bool has_gated_delta(const GatedDeltaConfig& c, uint32_t most_invocations);

struct SplitHeadsConfig {
  uint32_t n_heads, head_dim;
  bool operator==(const SplitHeadsConfig&) const = default;
};
using SplitHeadsKernel = wgsl::Kernel<wgsl::In<"x", wgsl::F32>, wgsl::Out<"q", wgsl::F32>, wgsl::Out<"gate", wgsl::F32>,
                                      wgsl::WorkgroupId, wgsl::LocalIndex>;
// q, gate: the halves of each head of x. Grid: [⌈n_heads · head_dim / 128⌉, n_rows].
SplitHeadsKernel split_heads(const SplitHeadsConfig& c);

// For a loop of tokens on the device: the next step continues the states that this one has written, and writes where
// this one has read. Grid: 1.
using TurnStatesKernel = wgsl::Kernel<wgsl::InOut<"sequences", wgsl::U32>, wgsl::LocalIndex>;
TurnStatesKernel turn_states();

struct RotateConfig {
  uint32_t width, block;
  bool is_inverse = false;
  uint32_t n_groups = 0, head_dim = 0;  // see step::Rotate
  bool normed = false;                  // x is normed first; otherwise the gain is not read
  float eps = 0;
  Caps caps = {};

  uint32_t workgroup() const { return std::min(block / 2, 256u); }
  bool operator==(const RotateConfig&) const = default;
};
using RotateKernel = wgsl::Kernel<wgsl::In<"x", wgsl::F32>, wgsl::In<"gain", wgsl::F32>, wgsl::In<"signs", wgsl::F32>,
                                  wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// The Walsh-Hadamard transform of each block (step::Rotate). Grid: [width / block, n_rows].
RotateKernel rotate(const RotateConfig& c);
// The same, which leaves y as int8, too.
using RotateLeavingKernel =
    wgsl::Kernel<wgsl::In<"x", wgsl::F32>, wgsl::In<"gain", wgsl::F32>, wgsl::In<"signs", wgsl::F32>,
                 wgsl::Out<"y", wgsl::F32>, LeftX, LeftRuns, wgsl::WorkgroupId, wgsl::LocalIndex>;
RotateLeavingKernel rotate_leaving(const RotateConfig& c, const WeightCoding& coding);

using SigmoidMulKernel =
    wgsl::Kernel<wgsl::In<"gate", wgsl::F32>, wgsl::InOut<"x", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
struct SigmoidMulConfig {
  uint32_t width;
  // If not 0, a row of `gate` has this many values and begins with heads of [2, head_dim]: the gates are their second
  // halves.
  uint32_t stride = 0, head_dim = 0;
  bool operator==(const SigmoidMulConfig&) const = default;
};
SigmoidMulKernel sigmoid_mul(const SigmoidMulConfig& c);  // x = x · sigmoid(gate). Grid: [⌈width / 128⌉, n_rows]
// The same, which leaves x as int8, too. The width is whole workgroups.
using SigmoidMulLeavingKernel = wgsl::Kernel<wgsl::In<"gate", wgsl::F32>, wgsl::InOut<"x", wgsl::F32>, LeftX, LeftRuns,
                                             wgsl::WorkgroupId, wgsl::LocalIndex>;
SigmoidMulLeavingKernel sigmoid_mul_leaving(const SigmoidMulConfig& c, const WeightCoding& coding, const Caps& caps);

}  // namespace tern::gpu
