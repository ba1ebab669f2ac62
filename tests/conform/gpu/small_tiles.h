// Prompts on subgroup matrices, for tests on any device.
#pragma once

#include "backend/gpu/device/device.h"
#include "backend/gpu/record/layouts.h"

namespace tern {

// `layouts` with subgroup matrices, if the device has any. A software driver expands each product of two matrices to
// some two thousand instructions, and takes minutes to compile a GPU's tiles. So its tiles have few matrices.
inline gpu::Layouts with_matrices(const gpu::Device& device, gpu::Layouts layouts = {}) {
  layouts.software_matrices = true;
  if (device.adapter().type != gpu::AdapterType::kSoftware) return layouts;
  constexpr gpu::PromptTiles kTiles = {.small = {2, 2, 1, 1, 1, 32}, .big = {4, 2, 1, 1, 1, 32}};
  layouts.float_tiles = layouts.float_glu_tiles = layouts.ternary_tiles = layouts.ternary_glu_tiles = kTiles;
  layouts.few_tiles = {{16, 8, 4, 64}, {32, 16, 4, 64, 2}};
  layouts.few_tiles_of_two_bits = {{16, 8, 4, 64, 1, 1, 2}, {32, 16, 4, 32, 2, 1, 4}};
  if (!layouts.few_tokens.empty()) layouts.few_tokens = {{16, 0, 16, 4, 1}, {32, 0, 16, 4, 1}};
  layouts.head_tiles = {{16, 32, 2, 32, 4}, {32, 32, 2, 32, 4}};
  layouts.expert_tiles = {{16, 16, 1, 32, 2}};
  layouts.matrix_attention_chunk = 8;
  return layouts;
}

}  // namespace tern
