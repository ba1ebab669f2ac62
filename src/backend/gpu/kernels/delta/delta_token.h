// One token in the kernels of recurrent layers. Included only by the files of such kernels, so that all of them compute
// the same bits.
#pragma once

#include <cmath>
#include <vector>

#include "backend/gpu/kernels/delta/delta.h"

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

// Rows of S that an invocation multiplies with a token's key and query: its part of these, not normed yet.
struct TokenPart {
  std::vector<Name<F32>> key, query;
};
// The factors that norm them; 1 / √head_dim is included in the query's.
struct NormFactors {
  Name<F32> key, query;
};

// Σ a(i) · b(i) over the rows of all parts. Four sums per part: a chain of additions would take four times as long.
template <class A, class B>
Name<F32> sum_over_parts(uint32_t n_rows, const A& a, const B& b, const Caps& caps, const LocalIndex& tid,
                         uint32_t workgroup) {
  std::vector<Var<F32>> sums;
  for (uint32_t i = 0; i < 4; ++i) sums.push_back(var("sum", 0.0f));
  for (uint32_t i = 0; i < n_rows; ++i) sums[i % 4] += a(i) * b(i);
  auto mine = let("mine", (sums[0] + sums[1]) + (sums[2] + sums[3]));
  return reduce_lanes(Reduce::kSum, caps, mine, tid, DeltaRuleConfig::kParts, workgroup);
}

inline NormFactors norm_factors(const DeltaShape& shape, const TokenPart& token, const Caps& caps,
                                const LocalIndex& tid, uint32_t workgroup) {
  const auto squares = [&](const std::vector<Name<F32>>& v) {
    const auto value = [&](uint32_t i) { return v[i]; };
    return sum_over_parts(static_cast<uint32_t>(v.size()), value, value, caps, tid, workgroup);
  };
  const float per_dim = 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
  auto of_key = let("k_scale", inverseSqrt(squares(token.key) + 1e-6f));
  return {of_key, let("q_scale", inverseSqrt(squares(token.query) + 1e-6f) * per_dim)};
}

// What a token's gates and norms come to. It goes through workgroup memory in all kernels: compilers would otherwise
// combine its factors with others in some of them, and results would differ in the last bits.
struct TokenFactors {
  DeltaGates gates;
  NormFactors norms;
};
template <class I>
void store_factors(const Shared<Vec4<F32>>& memory, const I& at, const TokenFactors& f) {
  memory[at] = vec4f(f.gates.shrink, f.gates.strength, f.norms.key, f.norms.query);
}
template <class I>
TokenFactors load_factors(const Shared<Vec4<F32>>& memory, const I& index) {
  auto f = let("f", memory[index]);
  return {{let("shrink", at(f, 0)), let("strength", at(f, 1))}, {let("k_scale", at(f, 2)), let("q_scale", at(f, 3))}};
}

// One token: reads what S predicts for its key, writes the difference from its value, and reads for its query. The
// factors that norm keys and queries are applied to the results.
inline Name<F32> take_token(const ColumnPart& mine, const TokenPart& token, const TokenFactors& factors,
                            const Name<F32>& value, const Caps& caps, const LocalIndex& tid, uint32_t workgroup) {
  const auto& [gates, scales] = factors;
  const auto key = [&](uint32_t i) { return token.key[i]; };
  const auto query = [&](uint32_t i) { return token.query[i]; };
  const auto row = [&](uint32_t i) { return let("row_of_s", mine.s[i]); };
  auto predicted = sum_over_parts(mine.n_rows, key, row, caps, tid, workgroup);
  auto delta = let("delta", gates.strength * (value - gates.shrink * (predicted * scales.key)) * scales.key);
  for (uint32_t i = 0; i < mine.n_rows; ++i) {
    auto updated = let("updated", gates.shrink * mine.s[i] + token.key[i] * delta);
    mine.s[i] = updated;
  }
  return let("result", sum_over_parts(mine.n_rows, query, row, caps, tid, workgroup) * scales.query);
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
