// A plan: the forward pass of a model as a flat list of named steps on named slots.
//
// Models are written once, as a plan (transformer_plan.cc); backends know only steps. A plan fits any batch: a slot has
// one row per token (or per row of logits), and the backend decides how many rows its buffers hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/source/config.h"
#include "model/source/weights.h"
#include "plan/steps.h"

namespace tern {

// What one row of a slot holds.
enum class SlotType {
  kF32,         // width floats
  kInt8,        // width int8 values q; per row the scale s and the sum Σq: x ≈ q / s
  kInt8Blocks,  // width int8 values q; per kInt8Block values the scale d and the sum Σq: x ≈ d · q
  // Statistics of a row of `width` floats that an RMS norm followed by quantization needs before its first value:
  // partial results of Σx² and of max |x·gain|. The backend chooses how many parts there are.
  kNormStats,
};

inline constexpr int kInt8Block = 32;

// How many rows a slot has.
enum class RowsOf {
  kBatch,   // one per token of the batch
  kLogits,  // one per token whose logits are requested
};

struct Slot {
  std::string name;
  SlotType type = SlotType::kF32;
  RowsOf rows = RowsOf::kBatch;
  int width = 0;
  int buffer = -1;  // slots that are never alive together share one (memory_plan.cc)
};

struct Buffer {
  SlotType type = SlotType::kF32;
  RowsOf rows = RowsOf::kBatch;
  int width = 0;  // of its widest slot
};

struct Step {
  std::string name;  // "blk.3.attn_q": after the tensor that it uses, or else its output
  StepBody body;
};

struct Plan {
  Config config;
  std::vector<Slot> slots;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  SlotId logits;
  // [d_model] of all tokens, which the caller may read: the last norm's output (keeps_hidden), or the residual stream
  // after the layers (PlanOptions::layers).
  SlotId hidden = {};
  // Float linear steps with packed weights may quantize their input to int8 blocks themselves (Fusions::int8_on_read).
  bool int8_on_read = false;

  const Slot& slot(SlotId id) const { return slots[static_cast<size_t>(id.index)]; }
};

// Which adjacent steps are fused (fuse.h).
struct Fusions {
  bool norm_quantize = false;
  bool linear_add = false;
  bool glu = false;
  bool biases = false;  // float_linear, and what it becomes, add the bias
  bool adds = false;    // rms_norm and mix_experts add what they compute
  bool qkv = false;
  bool delta = false;  // recurrent layers: their first matrices, and the steps between these and the last
  bool heads = false;  // attention does what float_qkv does after the matrix products
  bool norms = false;  // rms_norm_quantize moves into the steps around it, rms_norm into the step that reads it
  // These two are no fusions. With them, float linears with packed weights (fuse.h) read their input as int8 blocks. A
  // step of its own quantizes the input (hosts), or the linear's kernel does (GPUs, where it can).
  bool int8_blocks = false;
  bool int8_on_read = false;

  static constexpr Fusions none() { return {}; }
  static constexpr Fusions host() {
    return {.norm_quantize = true, .linear_add = true, .glu = true, .int8_blocks = true};
  }
  static constexpr Fusions all() {
    return {.norm_quantize = true,
            .linear_add = true,
            .glu = true,
            .biases = true,
            .adds = true,
            .qkv = true,
            .delta = true,
            .heads = true,
            .norms = true,
            .int8_on_read = true};
  }
};

// The layers from `first` up to `end` of a model.
struct LayerRange {
  int first = 0;
  int end = 0;
};

// The shape of these layers, as a model of its own.
Config config_of(const Config& config, LayerRange layers);

// True if a plan may end before this layer and another begin with it: the layers from there on need only the residual
// stream, and no keys and values of layers before.
bool may_part_before(const Config& config, int layer);

struct PlanOptions {
  Fusions fuse = Fusions::host();
  // Only these layers. Without the first layer, the plan begins with step::Hidden, the residual stream before its
  // layers. Without the last one, it ends with Plan::hidden, the stream after its layers, and has rows of that instead
  // of logits. Layers count from 0 within the plan, but steps have the model's names.
  std::optional<LayerRange> layers = {};
  // The plan ends at the last norm: a row of "logits" is then d_model values, the embedding of the text up to its
  // token.
  bool embeddings = false;
  bool keeps_hidden = false;  // Plan::hidden
};

// The forward pass (transformer_plan.cc). `weights` must outlive the plan.
Plan make_plan(const Config& config, const Weights& weights, const PlanOptions& options = {});

// What a block that predicts computes: rows of logits for the tokens after the batch's tokens. Slice::hidden has the
// hidden rows of the tokens before these.
Plan make_prediction_plan(const PredictionBlock& block, const PlanOptions& options = {});

// One line per step, to be read by people: name, operation, slots and their widths.
std::string describe(const Plan& plan);

}  // namespace tern
