// A page asks for the backend that it wants, and keeps no curves.
#include "engine/device_choice.h"

namespace tern {

std::optional<ChosenDevice> choose_by_curves(const Model& /*model*/, const LoadOptions& /*options*/,
                                             int /*n_threads*/) {
  return std::nullopt;
}

}  // namespace tern
