// The model's layers on two devices: the first layers on one, the others on the other.
#pragma once

#include <array>
#include <memory>

#include "backend/backend.h"

namespace tern::hybrid {

// Joins executables of two plans that are the parts of one model (PlanOptions::layers): the first with its first
// layers, the second with the others. A pass runs on one after the other, and the residual stream is copied between
// them. A block, and a state of recurrent layers, is in both, each with its own layers. Their bytes are those of the
// whole model, so that they can be saved and read by an executable that is not split. A state leaves no tokens pending.
std::unique_ptr<Executable> join_layers(std::array<std::unique_ptr<Executable>, 2> parts);

}  // namespace tern::hybrid
