// Decides for which plans and devices a megakernel computes all layers of a token (record/layer_path.h), and how it
// is laid out.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "backend/gpu/kernels/megakernel/float_layers.h"
#include "backend/gpu/kernels/megakernel/ternary_layers.h"
#include "backend/gpu/kernels/megakernel/ternary_rows.h"
#include "backend/gpu/memory/weights/weight_store.h"
#include "plan/plan.h"

namespace tern::gpu {

// The steps of a plan that the megakernel can compute, and their common shape.
struct MegakernelLayers {
  struct Layer {
    SlotId x;
    std::array<const Tensor*, 7> matrices;  // of queries, keys, values, output, gate, up, down
    std::vector<const Tensor*> gains;       // in the kernel's order
    HeadShape heads;
    int rope = 0;  // of Config::ropes
    RopePairs pairs = {};
    int window = 0;  // 0: all positions are seen
    GluAct act = {};
    float eps = 0;
    std::optional<float> head_eps = {};  // for the norms of the heads of queries and keys
    bool is_ternary = false;
  };
  std::vector<Layer> layers;
  int first_step = 0, end_step = 0;  // of the plan
  std::variant<TernaryLayersConfig, FloatLayersConfig, TernaryRowsConfig> config;
  WeightStore::Together matrices;

  const LayersShape& shape() const {
    return std::visit([](const auto& c) -> const LayersShape& { return c; }, config);
  }
};
// kNotSupported, with the reason. int8_x: Layouts::int8_x.
Result<MegakernelLayers> megakernel_layers(const Device& device, const Plan& plan, bool int8_x);
// The same for a token of each of up to `rows` sequences.
Result<TernaryRowsConfig> megakernel_rows(const Device& device, const MegakernelLayers& layers, uint32_t rows);

// A layer's matrices in the groups that WeightStore keeps together: queries, keys and values are one group.
std::array<std::span<const Tensor* const>, 5> bound_matrices(const MegakernelLayers::Layer& layer);

}  // namespace tern::gpu
