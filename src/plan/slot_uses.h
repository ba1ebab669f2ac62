// How steps use the slots of a plan.
#pragma once

#include <vector>

namespace tern {

struct SlotId {
  int index = -1;
  bool operator==(const SlotId&) const = default;
};

struct SlotUse {
  SlotId slot;
  bool reads = false;
  bool writes = false;
  bool scratch = false;  // written, but no step may read the result
  bool hidden = false;   // written for another step to read, but not a value of the model
  bool is_output() const { return writes && !scratch && !hidden; }
};
using SlotUses = std::vector<SlotUse>;

namespace step {

// How a step uses a slot. hidden: it writes what only a later step can use, not a value of the model. passes_on: it
// reads such a slot and changes it in place.
inline SlotUse reads(SlotId slot) { return {slot, true, false}; }
inline SlotUse writes(SlotId slot) { return {slot, false, true}; }
inline SlotUse updates(SlotId slot) { return {slot, true, true}; }
inline SlotUse scratch(SlotId slot) { return {slot, false, true, true}; }
inline SlotUse hidden(SlotId slot) { return {.slot = slot, .writes = true, .hidden = true}; }
inline SlotUse passes_on(SlotId slot) { return {.slot = slot, .reads = true, .writes = true, .hidden = true}; }

}  // namespace step

}  // namespace tern
