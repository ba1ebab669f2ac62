// The web build has no megakernel: browsers do not say how many workgroups run at the same time. So its code is not
// part of the download.
#include "backend/gpu/record/megakernel/path.h"

namespace tern::gpu {

Result<std::unique_ptr<LayerPath>> plan_layer_path(const LayerPathContext& /*context*/) {
  return std::make_unique<LayerPath>("pages compute the layers of a token step by step");
}

}  // namespace tern::gpu
