// What a pass costs on each of two devices, by their curves.
#pragma once

#include <array>
#include <cstdint>

#include "backend/backend.h"
#include "tern/routing.h"

namespace tern {

// For a model on two devices (backend/both). Beside the pass itself counts what comes of it: replies of `n_reply` more
// tokens, written where that is cheapest, and the moving of keys and values there. So a pass of a reply goes to the
// other device only where the rest of it pays for the moving, and a prompt is read where reading and writing together
// cost least. Seconds; or joules where they are preferred and all of them are known, moving then costing none.
class PassCosts {
 public:
  PassCosts(std::array<CostCurve, 2> curves, Prefer prefer, int n_reply);
  double operator()(size_t device, Batch slices, const std::array<int64_t, 2>& missing) const;

 private:
  double amount(const Cost& cost) const { return by_energy_ ? *cost.joules : cost.seconds; }
  double moving(size_t to, int64_t n_positions) const;
  double writing(size_t device, int n_replies, int n_before) const;  // one token of each

  std::array<CostCurve, 2> curves_;
  bool by_energy_;
  int n_reply_;
};

}  // namespace tern
