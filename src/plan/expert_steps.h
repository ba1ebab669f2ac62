// The steps of mixtures of experts (ExpertConfig). They are listed in steps.h with all others.
#pragma once

#include "model/source/config.h"
#include "model/source/weights.h"
#include "plan/delta_steps.h"
#include "plan/slot_uses.h"

namespace tern::step {

// Chooses the experts with the greatest scores, of equal ones the first. `out` has their numbers, in descending order
// of their scores, and then their weights (ExpertConfig::weighs_chosen), times `expert_scale` of each.
struct Route {
  SlotId in;   // [n_experts] scores
  SlotId out;  // [2, n_used]
  ExpertConfig experts;
  const Tensor* expert_scale = nullptr;  // [n_experts] or null

  SlotUses uses() const { return {reads(in), writes(out)}; }
};
// For each chosen expert e: out = act(gate_e·in) · (up_e·in). Biases are added to both products first, and
// ExpertConfig::limit bounds them.
struct ExpertGlu {
  SlotId in;      // [cols]
  SlotId chosen;  // what Route wrote
  const Tensor* w_gate;
  const Tensor* w_up;
  const Tensor* gate_bias;  // [n_experts, rows] or null
  const Tensor* up_bias;
  ExpertConfig experts;
  GluAct act;
  SlotId out;  // [n_used, rows]
  FloatNormOnRead norm = {};

  SlotUses uses() const { return norm.with({reads(in), reads(chosen), writes(out)}); }
};
// For each chosen expert e, with an input of its own: out = w_e·in + bias_e.
struct ExpertLinear {
  SlotId in;  // [n_used, cols]
  SlotId chosen;
  const Tensor* w;
  const Tensor* bias;  // [n_experts, rows] or null
  ExpertConfig experts;
  SlotId out;  // [n_used, rows]

  SlotUses uses() const { return {reads(in), reads(chosen), writes(out)}; }
};
// out = the sum of the experts' results times their weights, in the order of `chosen`, then sigmoid(gate) times the
// result of the shared network if there is one.
struct MixExperts {
  SlotId in;  // [n_used, width]
  SlotId chosen;
  SlotId shared = {};  // [width]
  SlotId gate = {};    // [1]
  SlotId out;          // [width]

  bool has_shared() const { return shared != SlotId{}; }
  SlotUses uses() const {
    if (!has_shared()) return {reads(in), reads(chosen), writes(out)};
    return {reads(in), reads(chosen), reads(shared), reads(gate), writes(out)};
  }
};
// x += what MixExperts computes, whose `out` only hosts need.
struct MixExpertsAdd {
  MixExperts mix;
  SlotId x;

  SlotUses uses() const {
    SlotUses uses = mix.uses();
    uses.back() = scratch(mix.out);
    uses.push_back(updates(x));
    return uses;
  }
};

}  // namespace tern::step
