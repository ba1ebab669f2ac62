// Decides which slots share memory, and checks the rules that every plan must keep.
#pragma once

#include "plan/plan.h"

namespace tern {

// Aborts unless every slot is written before it is read and no step lists a slot twice if it writes that slot (WebGPU
// refuses that, and no kernel supports it).
void check_data_flow(const Plan& plan);

// Gives every slot a buffer. Two slots share a buffer if they have the same type and kind of rows and are never alive
// at the same time. A step's inputs and outputs are alive together.
void assign_buffers(Plan& plan);

}  // namespace tern
