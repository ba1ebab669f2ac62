// A web page has no folder for tuned layouts.
#include "backend/gpu/record/tuned_layouts.h"

namespace tern::gpu {

Layouts tuned_layouts(const Device& device, const Plan& /*plan*/, const GpuOptions& options) {
  return layouts_for(device, options.without);
}

}  // namespace tern::gpu
