#include "tools/synth_presets.h"

#include <algorithm>
#include <utility>

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
    {.name = "bonsai-1.7b",
     .description = "PrismML's Bonsai 1.7B, that is Qwen3-1.7B: 0.24 GB with q1_0 and head q1_0",
     .family = SynthFamily::kQwen3,
     .n_vocab = 151669,
     .d_model = 2048,
     .n_layers = 28,
     .n_heads = 16,
     .n_kv_heads = 8,
     .d_ff = 6144,
     .n_ctx = 32768,
     .rope_theta = 1e6f,
     .rms_eps = 1e-6f,
     .head_width = 128,
     .type = "q1_0",
     .head = "q1_0"},
    {.name = "bonsai-8b",
     .description = "PrismML's Bonsai 8B, that is Qwen3-8B: 1.15 GB with q1_0 and head q1_0",
     .family = SynthFamily::kQwen3,
     .n_vocab = 151669,
     .d_model = 4096,
     .n_layers = 36,
     .n_heads = 32,
     .n_kv_heads = 8,
     .d_ff = 12288,
     .n_ctx = 65536,
     .rope_theta = 1e6f,
     .rms_eps = 1e-6f,
     .head_width = 128,
     .is_tied = false,
     .type = "q1_0",
     .head = "q1_0"},
    {.name = "qwen3-4b",
     .description = "Qwen3-4B: 4.3 GB with q8_0 and head q8_0",
     .family = SynthFamily::kQwen3,
     .n_vocab = 151936,
     .d_model = 2560,
     .n_layers = 36,
     .n_heads = 32,
     .n_kv_heads = 8,
     .d_ff = 9728,
     .n_ctx = 40960,
     .rope_theta = 1e6f,
     .rms_eps = 1e-6f,
     .head_width = 128,
     .type = "q8_0",
     .head = "q8_0"},
    {.name = "phi-3-mini",
     .description = "Phi-3-mini-4k: 3.8 B parameters, 2.1 GB with q4_0 and head q4_0",
     .family = SynthFamily::kPhi3,
     .n_vocab = 32064,
     .d_model = 3072,
     .n_layers = 32,
     .n_heads = 32,
     .n_kv_heads = 32,
     .d_ff = 8192,
     .n_ctx = 4096,
     .rope_theta = 1e4f,
     .rms_eps = 1e-5f,
     .head_width = 96,
     .window = 2047,
     .is_tied = false,
     .type = "q4_0",
     .head = "q4_0"},
    {.name = "falcon3-7b-1.58",
     .description = "tiiuae/Falcon3-7B-Instruct-1.58bit: 3.3 GB with i2_s and f16",
     .family = SynthFamily::kLlama,
     .n_vocab = 131072,
     .d_model = 3072,
     .n_layers = 28,
     .n_heads = 12,
     .n_kv_heads = 4,
     .d_ff = 23040,
     .n_ctx = 32768,
     .rope_theta = 1000042.0f,
     .rms_eps = 1e-6f,
     .head_width = 256,
     .is_tied = false},
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
    {.name = "tiny-qwen3",
     .description = "two narrow layers of Qwen3, for tests",
     .family = SynthFamily::kQwen3,
     .n_vocab = 320,
     .d_model = 256,
     .n_layers = 2,
     .n_heads = 4,
     .n_kv_heads = 2,
     .d_ff = 512,
     .n_ctx = 256,
     .rope_theta = 1e6f,
     .rms_eps = 1e-6f,
     .head_width = 128,
     .type = "q8_0",
     .head = "q8_0"},
    {.name = "tiny-phi3",
     .description = "two narrow layers of Phi-3, for tests",
     .family = SynthFamily::kPhi3,
     .n_vocab = 320,
     .d_model = 384,
     .n_layers = 2,
     .n_heads = 4,
     .n_kv_heads = 4,
     .d_ff = 512,
     .n_ctx = 256,
     .rope_theta = 1e4f,
     .rms_eps = 1e-5f,
     .head_width = 96,
     .window = 7,
     .is_tied = false,
     .type = "q4_0",
     .head = "q4_0"},
    {.name = "tiny-llama",
     .description = "two narrow layers of Llama, for tests",
     .family = SynthFamily::kLlama,
     .n_vocab = 320,
     .d_model = 256,
     .n_layers = 2,
     .n_heads = 4,
     .n_kv_heads = 2,
     .d_ff = 512,
     .n_ctx = 256,
     .rope_theta = 1e4f,
     .rms_eps = 1e-5f,
     .is_tied = false},
};

}  // namespace

std::string_view architecture_of(SynthFamily family) {
  switch (family) {
    case SynthFamily::kBitnet:
      return "bitnet-b1.58";
    case SynthFamily::kQwen3:
      return "qwen3";
    case SynthFamily::kPhi3:
      return "phi3";
    case SynthFamily::kLlama:
      return "llama";
  }
  std::unreachable();
}

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
