// Rotates all matrices of a test model that published rotated models rotate.
#pragma once

#include "backend/ref/ops.h"
#include "conform/delta_model.h"
#include "model/gguf/rotation.h"

namespace tern::conform {

// Marks the matrices as rotated, whatever they hold, and returns them.
inline std::vector<Tensor*> mark_rotated(DeltaModel& model) {
  Rotation rotation{.block = 32, .signs = {}, .weights = {}, .tables = {}, .groups_heads = true};
  Weights& w = model.weights;
  w.output.name = "the head";  // not the embedding, which is rotated back
  std::vector<Tensor*> all = {&w.token_embd, &w.output};
  for (Layer& l : w.layers) {
    for (Linear* linear : l.linears()) {
      if (!linear->is_present() || linear == &l.delta_alpha || linear == &l.delta_beta) continue;
      all.push_back(linear);
    }
  }
  for (Tensor* tensor : all) {
    if (tensor == &w.token_embd) {
      rotation.tables.push_back(tensor->name);
    } else {
      rotation.weights.push_back(tensor->name);
    }
    auto& signs = rotation.signs[tensor->cols];
    if (!signs.empty()) continue;
    signs = random(static_cast<size_t>(tensor->cols), static_cast<uint64_t>(tensor->cols));
    for (float& sign : signs) sign = sign < 0 ? -1.0f : 1.0f;
  }
  CHECK(apply_rotation(rotation, "test", model.config, w).has_value());
  return all;
}

// Replaces the matrices, which must be F32, by their rotated form and marks them.
inline void rotate(DeltaModel& model) {
  Weights& w = model.weights;
  const std::vector<Tensor*> all = mark_rotated(model);
  const DeltaConfig& d = model.config.delta;
  for (Tensor* tensor : all) {
    const auto n = static_cast<size_t>(tensor->rows) * static_cast<size_t>(tensor->cols);
    auto rotated = std::make_unique<float[]>(n);
    const bool is_output = std::ranges::any_of(w.layers, [&](Layer& l) { return tensor == &l.delta_output; });
    ref::rotate({reinterpret_cast<const float*>(tensor->data.data()),
                 reinterpret_cast<const float*>(tensor->rotation->data.data()), tensor->rows, tensor->cols, 32, false,
                 is_output ? d.n_k_heads : 0, d.head_dim, rotated.get()});
    tensor->data = std::as_bytes(std::span<const float>(rotated.get(), n));
    w.made.push_back(std::move(rotated));
  }
}

}  // namespace tern::conform
