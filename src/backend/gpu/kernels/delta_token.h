// One token in the kernels of recurrent layers. Included only by the files of such kernels, so that all of them compute
// the same bits.
#pragma once

#include <cmath>
#include <vector>

#include "backend/gpu/kernels/delta.h"

namespace tern::gpu::delta {

using namespace wgsl;

// A sequence of the batch.
struct SequenceOf {
  SequenceOf(const SequencesBuffer& sequences, const DeltaShape& c, const Name<U32>& number)
      : first(let("first", sequences[number * kSequenceWords + kFirstRowOf])),
        n(let("n", sequences[number * kSequenceWords + kRowsOf])),
        state_at(let("state_at", sequences[number * kSequenceWords + kStateOf] * c.state_floats())),
        to(let("to_state", sequences[number * kSequenceWords + kStateTo] * c.state_floats())),
        is_new(let("is_new", sequences[number * kSequenceWords + kIsNew] != 0u)) {}
  Name<U32> first, n, state_at, to;
  Name<Bool> is_new;
};

inline Temp<U32> key_head_of(const DeltaShape& s, const Name<U32>& head) {
  return s.is_tiled ? head % s.n_k_heads : head / (s.n_v_heads / s.n_k_heads);
}

// The part of a column of S that an invocation keeps in registers: n_rows rows from first_row on.
struct ColumnPart {
  ColumnPart(const DeltaShape& shape, const SequenceOf& sequence, const Name<U32>& head, const Name<U32>& part,
             const Name<U32>& column)
      : dim(shape.head_dim),
        n_rows(dim / DeltaRuleConfig::kParts),
        first_row(let("first_row", part * n_rows)),
        in_state(let("in_state", (head * dim + first_row) * dim + column)),
        place(let("place", sequence.state_at + in_state)),
        to_place(let("to_place", sequence.to + in_state)) {
    for (uint32_t i = 0; i < n_rows; ++i) s.push_back(var("s", 0.0f));
  }
  void load(const InOut<"state", F32>& state) const {
    for (uint32_t i = 0; i < n_rows; ++i) s[i] = state[place + i * dim];
  }
  void store(const InOut<"state", F32>& state) const {
    for (uint32_t i = 0; i < n_rows; ++i) state[to_place + i * dim] = s[i];
  }

  uint32_t dim, n_rows;
  Name<U32> first_row;
  Name<U32> in_state, place, to_place;  // of the first row: within its state; in the states before and after
  std::vector<Var<F32>> s;
};

// How much of S stays, and how much of a token is written.
struct DeltaGates {
  Name<F32> shrink, strength;
};
inline DeltaGates delta_gates(const Name<F32>& alpha, const Name<F32>& beta, const Name<F32>& decay,
                              const Name<F32>& bias) {
  auto dt = let("dt", alpha + bias);
  auto softplus = let("softplus", select(log(1.0f + exp(min(dt, 20.0f))), dt, dt > 20.0f));
  auto shrink = let("shrink", exp(decay * softplus));
  return {shrink, let("strength", 1.0f / (1.0f + exp(-beta)))};
}

// A token's key and query in workgroup memory: the rows of this invocation.
struct Staged {
  const Shared<F32>& keys;
  const Name<U32>& k_at;
  const Shared<F32>& queries;
  const Name<U32>& q_at;
};

// One token: reads what S predicts for its key, writes the difference from its value, and reads for its query. Queries
// and keys are not normed yet, so the factors that norm them are applied to the results.
inline Name<F32> take_token(const DeltaShape& shape, const Caps& caps, uint32_t workgroup, const ColumnPart& mine,
                            const Staged& token, const DeltaGates& gates, const Name<F32>& value,
                            const LocalIndex& tid) {
  const auto sum_of_parts = [&](const Var<F32>& part) {
    auto v = let("mine", part);
    return reduce_lanes(Reduce::kSum, caps, v, tid, DeltaRuleConfig::kParts, workgroup);
  };
  auto predicted = var("predicted", 0.0f);
  auto k_squares = var("k_squares", 0.0f);
  auto q_squares = var("q_squares", 0.0f);
  for (uint32_t i = 0; i < mine.n_rows; ++i) {
    auto k = let("k", token.keys[token.k_at + i]);
    auto q = let("q", token.queries[token.q_at + i]);
    predicted += k * mine.s[i];
    k_squares += k * k;
    q_squares += q * q;
  }
  auto all_predicted = sum_of_parts(predicted);
  auto k_scale = let("k_scale", inverseSqrt(sum_of_parts(k_squares) + 1e-6f));
  const float per_dim = 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
  auto q_scale = let("q_scale", inverseSqrt(sum_of_parts(q_squares) + 1e-6f) * per_dim);
  auto delta = let("delta", gates.strength * (value - gates.shrink * (all_predicted * k_scale)) * k_scale);
  auto out = var("out", 0.0f);
  for (uint32_t i = 0; i < mine.n_rows; ++i) {
    auto k = let("k", token.keys[token.k_at + i]);
    auto q = let("q", token.queries[token.q_at + i]);
    auto updated = let("updated", gates.shrink * mine.s[i] + k * delta);
    mine.s[i] = updated;
    out += q * updated;
  }
  return let("result", sum_of_parts(out) * q_scale);
}

// 1 / √(mean value(i)² + eps) of a head, by kLanes invocations. All invocations of the workgroup must call it.
template <class Value>
Name<F32> inverse_rms_over_lanes(const GatedNormConfig& c, const Value& value, const Name<U32>& lane,
                                 const LocalIndex& tid, uint32_t workgroup) {
  auto squares = var("squares", 0.0f);
  loop("i", lane, c.head_dim, GatedNormConfig::kLanes, [&](const Name<U32>& i) {
    auto v = let("v", value(i));
    squares += v * v;
  });
  auto mine = let("mine", squares);
  auto total = reduce_lanes(Reduce::kSum, c.caps, mine, tid, GatedNormConfig::kLanes, workgroup);
  return let("factor", 1.0f / sqrt(total / static_cast<float>(c.head_dim) + c.eps));
}

}  // namespace tern::gpu::delta
