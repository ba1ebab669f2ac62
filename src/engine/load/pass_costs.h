// The costs of a pass on each of two devices, from their curves.
#pragma once

#include <array>
#include <cstdint>

#include "backend/backend.h"
#include "tern/routing.h"

namespace tern {

// For a model on two devices (backend/hybrid). The cost of a pass includes its consequences: decoding n_reply more
// tokens on the cheaper device, and moving the KV blocks there. So a decode pass changes the device only if the rest of
// the reply repays the move, and a prompt goes where prefill and decode together cost least. In seconds, or in joules
// if these are preferred and all known; moving then costs 0.
class PassCosts {
 public:
  PassCosts(std::array<CostCurve, 2> curves, Prefer prefer, int n_reply);
  double operator()(size_t device, Batch slices, const std::array<int64_t, 2>& missing) const;

 private:
  double amount(const Cost& cost) const { return by_energy_ ? *cost.joules : cost.seconds; }
  double moving(size_t to, int64_t n_positions) const;
  double decoding(size_t device, int n_replies, int n_before) const;  // one token for each reply

  std::array<CostCurve, 2> curves_;
  bool by_energy_;
  int n_reply_;
};

}  // namespace tern
