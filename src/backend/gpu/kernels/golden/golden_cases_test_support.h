// Every kernel in the configurations whose text is kept in golden/.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backend/gpu/kernels/common.h"
#include "backend/gpu/kernels/kv_cache.h"
#include "backend/gpu/wgsl/module.h"

namespace tern::gpu {

struct GoldenCase {
  std::string file;  // "NAME.MODEL.CAPS.wgsl"; without CAPS if the text does not depend on them
  wgsl::Module module;
};

std::vector<GoldenCase> golden_cases();

// The golden kernels that compute logits or choose among them, for a model of this width and vocabulary: names and
// texts.
std::vector<std::pair<std::string, wgsl::Module>> head_kernels(uint32_t width, uint32_t n_vocab, const Caps& caps);
// Those on subgroup matrices.
std::vector<std::pair<std::string, wgsl::Module>> matrix_kernels(uint32_t width, uint32_t ffn, const HeadShape& heads);
// Those of recurrent layers.
std::vector<std::pair<std::string, wgsl::Module>> delta_kernels(const Caps& caps);
// Those of mixtures of experts; and those among them that depend on no feature's presence.
std::vector<std::pair<std::string, wgsl::Module>> expert_kernels(const Caps& caps);
// Rows that are made int8 before their products (kernels/float/int8_rows.h).
std::vector<std::pair<std::string, wgsl::Module>> int8_kernels(const Caps& caps);
std::vector<std::pair<std::string, wgsl::Module>> expert_tile_kernels();

}  // namespace tern::gpu
