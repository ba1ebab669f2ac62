// The weights of a step, listed once for all code that uploads, replaces or counts them.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "base/result.h"
#include "plan/plan.h"

namespace tern {

enum class WeightRole {
  kTernary,  // a matrix that is multiplied with int8 rows
  kMatrix,   // a matrix that is multiplied with floats, or with int8 blocks of them
  kTable,    // an embedding table: a token reads one row
  kVector,   // the values of a norm, a bias or a recurrent layer
};

// Steps that multiply their matrices with int8 rows.
template <class S>
inline constexpr bool kHasInt8Rows =
    std::is_same_v<S, step::TernaryLinear> || std::is_same_v<S, step::TernaryLinearAdd> ||
    std::is_same_v<S, step::TernaryGlu> || std::is_same_v<S, step::TernaryQkv>;

template <class S, class Vector>
void for_each_bias(S& s, const Vector& vector) {
  if constexpr (requires { s.bias; }) vector(s.bias);
  if constexpr (requires { s.q_bias; }) {
    vector(s.q_bias);
    vector(s.k_bias);
    vector(s.v_bias);
  }
  if constexpr (requires { s.gate_bias; }) {
    vector(s.gate_bias);
    vector(s.up_bias);
  }
}

// Calls f(weight, role) for every weight that the step reads, always in the same order, except tables that are looked
// up on the host. A weight named twice is visited twice. If `body` is not const, f takes a `const Tensor*&` and may
// replace the pointer.
template <class Body, class F>
void for_each_weight(Body& body, F&& f) {
  static_assert(std::is_same_v<std::remove_const_t<Body>, StepBody>);
  const auto vector = [&](auto& gain) {
    if (gain) f(gain, WeightRole::kVector);
  };
  const auto gains_of = [&](auto& heads) {
    vector(heads.q_gain);
    vector(heads.k_gain);
    vector(heads.v_gain);
  };
  std::visit(
      [&](auto& s) {
        using S = std::remove_cvref_t<decltype(s)>;
        constexpr WeightRole kMatrix = kHasInt8Rows<S> ? WeightRole::kTernary : WeightRole::kMatrix;
        if constexpr (requires { s.table; }) {
          if (!s.on_host) f(s.table, WeightRole::kTable);
        }
        if constexpr (requires { s.gain; }) vector(s.gain);
        for_each_bias(s, vector);
        if constexpr (requires { s.expert_scale; }) vector(s.expert_scale);
        if constexpr (requires { s.taps; }) vector(s.taps);
        if constexpr (requires { s.signs; }) vector(s.signs);
        if constexpr (requires { s.sinks; }) vector(s.sinks);
        if constexpr (requires { s.decay; }) {
          vector(s.decay);
          vector(s.dt_bias);
        }
        if constexpr (requires { s.norm; }) vector(s.norm.gain);
        if constexpr (requires { s.w; }) f(s.w, kMatrix);
        if constexpr (requires { s.w_gate; }) {
          f(s.w_gate, kMatrix);
          f(s.w_up, kMatrix);
        }
        if constexpr (requires { s.wq; }) {
          f(s.wq, kMatrix);
          f(s.wk, kMatrix);
          f(s.wv, kMatrix);
        }
        if constexpr (std::is_same_v<S, step::FloatStack>) {
          for (auto& part : s.parts) f(part.w, kMatrix);
        }
        if constexpr (std::is_same_v<S, step::GatedDelta>) {
          vector(s.conv.taps);
          vector(s.rule.decay);
          vector(s.rule.dt_bias);
          vector(s.normed.gain);
        }
        if constexpr (std::is_same_v<S, step::FloatQkv>) {
          if (!s.leaves_heads) gains_of(s.heads);
        }
        if constexpr (std::is_same_v<S, step::Attention>) {
          if (s.heads) gains_of(*s.heads);
        }
        if constexpr (requires { s.next; }) vector(s.next.gain);
      },
      body);
}

// The same with an f that may fail. Returns the first error and stops calling f.
template <class Body, class F>
Result<void> try_each_weight(Body& body, F&& f) {
  Result<void> result;
  for_each_weight(body, [&](auto& weight, WeightRole role) {
    if (result) result = f(weight, role);
  });
  return result;
}

}  // namespace tern
