// The model shapes that `tern synth` offers.
#pragma once

#include <span>
#include <string_view>

#include "model/source/config.h"

namespace tern {

// The model family: the structure of the layers and the file's metadata. Llama: linear layers in a ternary format are
// BitLinear, in any other format plain.
enum class SynthFamily {
  kBitnet,
  kQwen3,
  kQwen35,
  kPhi3,
  kLlama,
  kQwen3Moe,
  kQwen35Moe,
  kGptOss,
  kOlmoe,
  kMaple,
  kGemma4
};

// Widths are multiples of 128, so that rows are whole blocks of Q1_0. Shapes for I2_S and MXFP4 need multiples of 32.
struct SynthShape {
  std::string_view name;
  std::string_view description;
  SynthFamily family = SynthFamily::kBitnet;
  int n_vocab;
  int d_model;
  int n_layers;
  int n_heads;
  int n_kv_heads;
  int d_ff;
  int n_ctx;
  float rope_theta;
  float rms_eps;
  int head_width = 0;                            // 0: d_model / n_heads
  int window = 0;                                // attention.sliding_window; 0: none
  bool is_tied = true;                           // the head is the embedding
  std::string_view type = "i2_s", head = "f16";  // defaults
  std::string_view expert_type = {};             // of the experts, if no type is asked for; empty: as `type`
  ExpertConfig experts = {};                     // mixtures of experts
  DeltaConfig delta = {};                        // Qwen3.5: of all layers but every fourth
  int rope_dims = 0;                             // of a head; 0: all
  int whole_head_width = 0, whole_kv_heads = 0;  // Gemma 4: of the layers without a window
  bool copies = false;                           // the weights are not random: see synth_copier.h

  bool is_whole(int layer) const {  // without a window
    return family == SynthFamily::kGemma4 && (layer % 6 == 5 || layer == n_layers - 1);
  }
  bool is_recurrent(int layer) const { return delta.n_v_heads > 0 && layer % 4 != 3; }
  int head_dim() const { return head_width > 0 ? head_width : d_model / n_heads; }
  int q_width() const { return n_heads * head_dim(); }
  int kv_width() const { return n_kv_heads * head_dim(); }
  bool is_qwen35() const { return family == SynthFamily::kQwen35 || family == SynthFamily::kQwen35Moe; }
  bool has_head_norms() const {
    return is_qwen35() || family == SynthFamily::kQwen3 || family == SynthFamily::kQwen3Moe ||
           family == SynthFamily::kMaple;
  }
};

// The GGUF name, such as "qwen3".
std::string_view architecture_of(SynthFamily family);

std::span<const SynthShape> synth_shapes();

// Returns nullptr if there is none.
const SynthShape* find_synth_shape(std::string_view name);

}  // namespace tern
