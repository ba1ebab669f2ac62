// Which slots share memory, and the rules that every plan keeps.
#pragma once

#include "plan/plan.h"

namespace tern {

// Aborts unless every slot is written before it is read and no step reads and writes one slot through different names
// (WebGPU refuses that, and no kernel is written for it).
void check_data_flow(const Plan& plan);

// Gives every slot a buffer. Two slots share one when they have the same type and kind of rows and are never alive at
// the same time; a step's inputs and outputs are alive together.
void assign_buffers(Plan& plan);

}  // namespace tern
