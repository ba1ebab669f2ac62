// A plan: the forward pass of a model as a flat list of named steps on named slots.
//
// Models are written once, as a plan (transformer_plan.cc); backends know only steps. A plan fits any batch: a slot has
// one row per token (or per row of logits), and the backend decides how many rows its buffers hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/source/config.h"
#include "model/source/weights.h"

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

struct SlotId {
  int index = -1;
  bool operator==(const SlotId&) const = default;
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

// The steps. `in` is read, `out` is written, `x` is read and written. Weights belong to the Model.
namespace step {

// For a step that norms and quantizes its input itself: its `in` is f32 instead of int8. The step that wrote the row
// has left the statistics of the whole row.
struct NormOnRead {
  const Tensor* gain = nullptr;  // null: no norm
  float eps = 0;
  SlotId stats;      // read
  SlotId quantized;  // int8 scratch, for kernels that need it
};
// For a step that leaves `stats` of what it writes, for a later NormOnRead.
struct StatsOnWrite {
  const Tensor* gain = nullptr;  // of the later norm; null: no statistics
  SlotId stats;                  // written
};

// For a float step that norms its `in` itself.
struct FloatNormOnRead {
  const Tensor* gain = nullptr;  // null: no norm
  float eps = 0;
  SlotId normed;  // scratch, for kernels that need it
};

// Post-processing of the float q/k/v projections: head norms if the model has them, RoPE, and the KV-cache write at the
// batch's positions.
struct FloatHeads {
  SlotId q;                        // [n_heads, head_dim]
  SlotId k, v;                     // [n_kv_heads, head_dim] scratch, for kernels that need it
  SlotId qkv;                      // [n_heads + 2 n_kv_heads, head_dim] scratch, for kernels that need it
  const Tensor* q_gain = nullptr;  // null: no norm
  const Tensor* k_gain = nullptr;
  float eps = 0;
  int layer = 0;
  int n_heads = 0;
  int n_kv_heads = 0;
  int head_dim = 0;
  int rope = 0;  // index into Config::ropes
  RopePairs pairs = {};
};

struct Embed {
  const Tensor* table;
  SlotId out;
  float scale = 1;
};  // out = table[token] · scale
struct SelectRows {
  SlotId in;
  SlotId out;
};  // the rows whose logits are requested
struct RmsNorm {
  SlotId in;
  const Tensor* gain;
  float eps;
  SlotId out;
};  // out = in / √(mean in² + eps) · gain
struct Quantize {
  SlotId in;
  SlotId out;
};  // absmax int8 per row
struct TernaryLinear {
  SlotId in;
  const Tensor* w;
  SlotId out;
};  // out = w · in, in is int8
struct QuantizeBlocks {
  SlotId in;
  SlotId out;
};  // absmax int8 per kInt8Block values
struct FloatLinear {
  SlotId in;
  const Tensor* w;
  SlotId out;
  FloatNormOnRead norm = {};
};  // out = w · in, in is f32 or int8 blocks
// x = RMS norm of each head of x.
struct HeadNorm {
  SlotId x;            // [n_heads, head_dim]
  const Tensor* gain;  // [head_dim]
  float eps;
  int n_heads;
  int head_dim;
};
struct Rope {
  SlotId x;
  int n_heads;
  int head_dim;
  int rope;  // index into Config::ropes
  RopePairs pairs;
};
struct KvAppend {
  SlotId k;
  SlotId v;
  int layer;
  int n_kv_heads;
  int head_dim;
};  // writes to the cache, at the batch's positions
struct Attention {
  SlotId q;
  SlotId out;
  int layer;
  int n_heads;
  int n_kv_heads;
  int head_dim;
  int window;         // positions that a row sees, including its own; 0: all
  float softcap = 0;  // a score s becomes softcap · tanh(s / softcap); 0: no cap
  StatsOnWrite next = {};
  std::optional<FloatHeads> heads = {};  // if present, attention makes the heads itself, from what FloatQkv left
};  // causal, scale 1/√head_dim
struct GluMul {
  SlotId gate;
  SlotId up;
  GluAct act;
  SlotId out;
};  // out = act(gate) · up
struct Add {
  SlotId in;
  SlotId x;
};  // x += in

struct AddBias {
  SlotId x;
  const Tensor* bias;
};  // x += bias, in every row
struct Softcap {
  SlotId x;
  float cap;
};  // x = cap · tanh(x / cap)

// Fused steps: they give the same numbers as the steps they replace (fuse.cc).

struct RmsNormQuantize {
  SlotId in;
  const Tensor* gain;
  float eps;
  SlotId out;
};
struct TernaryLinearAdd {
  SlotId in;
  const Tensor* w;
  SlotId x;
  NormOnRead norm = {};
  StatsOnWrite next = {};
};  // x += w · in
struct TernaryGlu {
  SlotId in;
  const Tensor* w_gate;
  const Tensor* w_up;
  GluAct act;
  SlotId out;
  NormOnRead norm = {};
  StatsOnWrite next = {};
};  // act(gate·in) · (up·in)
struct FloatLinearAdd {
  SlotId in;
  const Tensor* w;
  SlotId x;
};  // x += w · in
struct FloatGlu {
  SlotId in;
  const Tensor* w_gate;
  const Tensor* w_up;
  GluAct act;
  SlotId out;
  FloatNormOnRead norm = {};
};  // act(gate·in) · (up·in)
// q = rope(wq·in); the cache gets rope(wk·in) and wv·in at the batch's positions.
struct TernaryQkv {
  SlotId in;
  const Tensor* wq;
  const Tensor* wk;
  const Tensor* wv;
  SlotId q;     // [n_heads, head_dim]
  SlotId k, v;  // [n_kv_heads, head_dim] scratch, for kernels that need it
  int layer;
  int n_heads;
  int n_kv_heads;
  int head_dim;
  int rope;  // index into Config::ropes
  RopePairs pairs;
  NormOnRead norm = {};
};
// The same for float layers, with optional norms of the heads.
struct FloatQkv {
  SlotId in;
  const Tensor* wq;
  const Tensor* wk;
  const Tensor* wv;
  FloatHeads heads;
  bool leaves_heads = false;  // attention post-processes the heads; `qkv`, or q, k and v, hold the raw projections
  FloatNormOnRead norm = {};
};

}  // namespace step

using StepBody =
    std::variant<step::Embed, step::SelectRows, step::RmsNorm, step::Quantize, step::TernaryLinear,
                 step::QuantizeBlocks, step::FloatLinear, step::HeadNorm, step::Rope, step::KvAppend, step::Attention,
                 step::GluMul, step::Add, step::AddBias, step::Softcap, step::RmsNormQuantize, step::TernaryLinearAdd,
                 step::TernaryGlu, step::FloatLinearAdd, step::FloatGlu, step::TernaryQkv, step::FloatQkv>;

struct Step {
  std::string name;  // "blk.3.attn_q": what it computes, after the tensor it uses
  StepBody body;
};

struct SlotUse {
  SlotId slot;
  bool reads = false;
  bool writes = false;
  bool scratch = false;  // written, but no step may read the result
  bool hidden = false;   // written for another step to read, but not a value of the model
  bool is_output() const { return writes && !scratch && !hidden; }
};

// The slots that a step uses, each listed once.
std::vector<SlotUse> slot_uses(const StepBody& body);

struct Plan {
  Config config;
  std::vector<Slot> slots;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  SlotId logits;
  // Float linear steps with packed weights may quantize their input to int8 blocks themselves (Fusions::int8_on_read).
  bool int8_on_read = false;

  const Slot& slot(SlotId id) const { return slots[static_cast<size_t>(id.index)]; }
};

// Which adjacent steps are fused (fuse.h).
struct Fusions {
  bool norm_quantize = false;
  bool linear_add = false;
  bool glu = false;
  bool qkv = false;
  bool heads = false;  // attention does what float_qkv does after the matrix products
  bool norms = false;  // rms_norm_quantize moves into the steps around it, rms_norm into the step that reads it
  // Not fusions but ways to compute: float linears with packed weights read int8 blocks. A separate step quantizes them
  // (hosts), or the linear itself does (GPUs, where the kernel can).
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
            .qkv = true,
            .heads = true,
            .norms = true,
            .int8_on_read = true};
  }
};

struct PlanOptions {
  Fusions fuse = Fusions::host();
  // The plan ends at the last norm: a row of "logits" is then d_model values, the embedding of the text up to its
  // token.
  bool embeddings = false;
};

// The forward pass (transformer_plan.cc). `weights` must outlive the plan.
Plan make_plan(const Config& config, const Weights& weights, const PlanOptions& options = {});

std::string_view op_name(const StepBody& body);  // "rms_norm"

// One line per step, to be read by people: name, operation, slots and their widths.
std::string describe(const Plan& plan);

}  // namespace tern
