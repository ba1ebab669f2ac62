// What the rules of fusion ask about the steps of a plan. Included only by their files.
#pragma once

#include <span>
#include <variant>

#include "plan/plan.h"

namespace tern {

using Steps = std::span<const Step>;

// Step i of `steps`; null if it is of another kind.
template <class T>
const T* as(Steps steps, size_t i) {
  return i < steps.size() ? std::get_if<T>(&steps[i].body) : nullptr;
}

// True if no step of `rest` reads what `slot` holds now: its next use is a write, or it is not used again.
inline bool is_dead_after(SlotId slot, Steps rest) {
  for (const Step& step : rest) {
    for (const SlotUse& use : slot_uses(step.body)) {
      if (use.slot == slot) return !use.reads;
    }
  }
  return true;
}

// The slot of this name and width, which is added to the plan if need be: layers of one shape share it.
SlotId shared_slot(Plan& plan, std::string_view name, const Slot& like, int width);

// Fuses recurrent layers (Fusions::delta), biases (Fusions::biases), and sums (Fusions::adds).
void fuse_delta(Plan& plan);
void fuse_biases(Plan& plan);
void fuse_adds(Plan& plan);

}  // namespace tern
