// What every megakernel does in a layer, and in which order.
#pragma once

#include "backend/gpu/kernels/megakernel/mailbox.h"

namespace tern::gpu::layers {

// Runs the layers of `k`, a kernel with the operations below. A product's weights are requested before the wait for the
// activations of the product ahead of it, so that they have arrived when its own activations do.
template <class Kernel>
void run_layers(Kernel& k, const LayersShape& c, const Name<U32>& last_tag) {
  loop("layer", 0u, c.n_layers, 1u, [&](const Name<U32>& layer) {
    auto tag = let("tag", (last_tag + 1u + layer) & kTagMask);
    auto next_tag = let("next_tag", (tag + 1u) & kTagMask);
    const auto at = k.at_layer(layer, tag, next_tag);
    const auto newest = k.multiply_qkv(at);
    k.attend(at, newest);
    const auto for_output = k.prefetch_output(at);
    k.merge(at);
    const auto x_of_output = k.stage_output(for_output, at);
    const auto for_glu = k.prefetch_glu(at);
    k.multiply_output(for_output, x_of_output, at);
    const auto x_of_glu = k.stage_glu(for_glu, at);
    const auto for_down = k.prefetch_down(at);
    k.multiply_glu(for_glu, x_of_glu, at);
    const auto x_of_down = k.stage_down(for_down, at);
    k.prefetch_qkv_of_next(at);
    k.multiply_down(for_down, x_of_down, at);
  });
}

// For a kernel that has nothing to hand from one operation to the next.
struct Nothing {};

}  // namespace tern::gpu::layers
