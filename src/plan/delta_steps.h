// The steps of recurrent layers (Gated DeltaNet), the gate of attention, and rotations of a layer's input. They are
// listed in steps.h with all others.
#pragma once

#include "model/source/weights.h"
#include "plan/slot_uses.h"

namespace tern::step {

// For a float step that norms its `in` itself.
struct FloatNormOnRead {
  const Tensor* gain = nullptr;  // null: no norm
  float eps = 0;
  SlotId normed;  // scratch, for kernels that need it

  SlotUses with(SlotUses uses) const {
    if (gain) uses.push_back(scratch(normed));
    return uses;
  }
};

// q and gate = the halves of each head of `in`
struct SplitHeads {
  SlotId in;       // [n_heads, 2, head_dim]
  SlotId q, gate;  // [n_heads, head_dim]
  int n_heads;
  int head_dim;

  SlotUses uses() const { return {reads(in), writes(q), writes(gate)}; }
};
// out = H(signs · in), where H is the normalized Walsh-Hadamard transform of each `block` values: H[r][c] is
// (−1)^popcount(r & c) / √block. Inverse: out = signs · H(in).
struct Rotate {
  SlotId in;
  const Tensor* signs;  // [width]
  int block;
  bool is_inverse;
  // If not 0, the heads of `in` are taken in another order: head r · n_groups + k of `in` is taken as head
  // k · (n_heads / n_groups) + r.
  int n_groups;
  int head_dim;
  SlotId out;
  FloatNormOnRead norm = {};

  SlotUses uses() const { return norm.with({reads(in), writes(out)}); }
};
// x = x · sigmoid(gate)
struct SigmoidMul {
  SlotId gate;
  SlotId x;
  // If present, a device finds the gates here: a row begins with heads of [2, head_dim], of which they are the second
  // halves.
  SlotId rows = {};
  int head_dim = 0;

  SlotUses uses() const {
    if (rows == SlotId{}) return {reads(gate), updates(x)};
    return {reads(gate), reads(rows), updates(x)};
  }
};
// out = silu(Σ_j taps[c][j] · in of the token taps − 1 − j places before): a causal convolution of every channel. The
// last inputs of the sequence are part of its state.
struct CausalConv {
  SlotId in;           // [channels]
  const Tensor* taps;  // [channels, n]
  int layer;
  SlotId out;

  SlotUses uses() const { return {reads(in), writes(out)}; }
};
// The gated delta rule (Yang et al. 2024) for every head of values, with the state S [head_dim of k, head_dim of v] of
// the sequence: q and k are normed to length 1, and q is divided by √head_dim; β = sigmoid(beta);
// S = exp(decay · softplus(alpha + dt_bias)) · S; S += k · β(v − Sᵀk)ᵀ; out = Sᵀq.
struct DeltaRule {
  SlotId in;              // [2 n_k_heads + n_v_heads, head_dim]: queries, keys, values
  SlotId alpha, beta;     // [n_v_heads]
  const Tensor* decay;    // [n_v_heads]
  const Tensor* dt_bias;  // [n_v_heads]
  int layer;
  SlotId out;  // [n_v_heads, head_dim]

  SlotUses uses() const { return {reads(in), reads(alpha), reads(beta), writes(out)}; }
};
// out = RMS norm of each head of `in` · silu(gate)
struct GatedNorm {
  SlotId in, gate;     // [n_heads, head_dim]
  const Tensor* gain;  // [head_dim]
  float eps;
  int n_heads;
  int head_dim;
  SlotId out;

  SlotUses uses() const { return {reads(in), reads(gate), writes(out)}; }
};

// The steps of a recurrent layer between its first matrices and its last: `rows` has their inputs side by side, as
// FloatStack leaves them: those of the convolution, the gate, alpha, beta.
struct GatedDelta {
  SlotId rows;  // [channels + value_width + 2 n_v_heads]
  CausalConv conv;
  DeltaRule rule;
  GatedNorm normed;

  SlotUses uses() const {
    return {reads(rows),        reads(conv.in),    reads(rule.alpha), reads(rule.beta),
            reads(normed.gate), scratch(conv.out), scratch(rule.out), writes(normed.out)};
  }
};

}  // namespace tern::step
