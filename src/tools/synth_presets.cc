#include "tools/synth_presets.h"

#include <algorithm>

#include "tern/tools.h"

namespace tern {
namespace {

constexpr SynthShape kShapes[] = {
    {.name = "bitnet-2b-4t",
     .description = "microsoft/bitnet-b1.58-2B-4T: 2.4 B parameters, 1.2 GB with i2_s and f16",
     .n_vocab = 128256,
     .d_model = 2560,
     .n_layers = 30,
     .n_heads = 20,
     .n_kv_heads = 5,
     .d_ff = 6912,
     .n_ctx = 4096,
     .rope_theta = 5e5f,
     .rms_eps = 1e-5f},
    {.name = "bitnet-large",
     .description = "1bitLLM/bitnet_b1_58-large: 0.7 B parameters, 0.3 GB with i2_s and f16",
     .n_vocab = 32002,
     .d_model = 1536,
     .n_layers = 24,
     .n_heads = 16,
     .n_kv_heads = 16,
     .d_ff = 4096,
     .n_ctx = 2048,
     .rope_theta = 1e4f,
     .rms_eps = 1e-5f},
    {.name = "stories",
     .description = "the model that comes with Tern: 34 M parameters, 16 MB with i2_s and f16",
     .n_vocab = 8192,
     .d_model = 512,
     .n_layers = 10,
     .n_heads = 8,
     .n_kv_heads = 2,
     .d_ff = 1536,
     .n_ctx = 512,
     .rope_theta = 1e4f,
     .rms_eps = 1e-5f},
    {.name = "tiny",
     .description = "two narrow layers, for tests: 0.3 M parameters, 0.2 MB",
     .n_vocab = 320,
     .d_model = 128,
     .n_layers = 2,
     .n_heads = 2,
     .n_kv_heads = 1,
     .d_ff = 256,
     .n_ctx = 256,
     .rope_theta = 1e4f,
     .rms_eps = 1e-5f},
};

}  // namespace

std::span<const SynthShape> synth_shapes() { return kShapes; }

const SynthShape* find_synth_shape(std::string_view name) {
  const auto* found = std::ranges::find(kShapes, name, &SynthShape::name);
  return found == std::end(kShapes) ? nullptr : found;
}

std::vector<SynthPreset> synth_presets() {
  std::vector<SynthPreset> presets;
  for (const SynthShape& shape : kShapes)
    presets.push_back({.name = std::string(shape.name), .description = std::string(shape.description)});
  return presets;
}

}  // namespace tern
