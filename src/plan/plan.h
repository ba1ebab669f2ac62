// A plan: the forward pass of a model as a flat list of named steps on named slots.
//
// Models are written once, as a plan (transformer_plan.cc). Backends only know steps. A plan is made for any batch: a
// slot has one row per token (or per row of logits), and a backend decides how many rows its buffers hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/config.h"
#include "model/weights.h"

namespace tern {

// What a row of a slot is.
enum class SlotType {
  kF32,         // width floats
  kInt8,        // width int8 values q, and per row the scale s and the sum Σq: x ≈ q / s
  kInt8Blocks,  // width int8 values q, and for every kInt8Block of them the scale d and the sum Σq: x ≈ d · q
  // What an RMS norm followed by quantisation has to know of a row of `width` floats before it can take the first of
  // them: parts of Σx² and of max |x·gain|. How many parts is the backend's business.
  kNormStats,
};

inline constexpr int kInt8Block = 32;

// How many rows a slot has.
enum class RowsOf {
  kBatch,   // one per token of the batch
  kLogits,  // one per token whose logits are wanted
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

// A step that takes floats and norms and quantises them itself: its `in` is f32 instead of int8. What it has to know of
// the whole row comes from the step that made the row.
struct NormOnRead {
  const Tensor* gain = nullptr;  // null: no norm
  float eps = 0;
  SlotId stats;      // read
  SlotId quantized;  // int8 scratch, for kernels that need it
};
// A step that leaves `stats` of what it writes for a NormOnRead.
struct StatsOnWrite {
  const Tensor* gain = nullptr;  // of the norm to come; null: none
  SlotId stats;                  // written
};

// A float step that norms its `in` itself.
struct FloatNormOnRead {
  const Tensor* gain = nullptr;  // null: no norm
  float eps = 0;
  SlotId normed;  // scratch, for kernels that need it
};

// What becomes of the rows of float projections on their way to attention: norms of the heads where a model has any,
// RoPE, and the write to the cache at the batch's positions.
struct FloatHeads {
  SlotId q;                        // [n_heads, head_dim]
  SlotId k, v;                     // [n_kv_heads, head_dim] scratch, for kernels that need it
  SlotId qkv;                      // [n_heads + 2 n_kv_heads, head_dim] likewise
  const Tensor* q_gain = nullptr;  // null: no norm
  const Tensor* k_gain = nullptr;
  float eps = 0;
  int layer = 0;
  int n_heads = 0;
  int n_kv_heads = 0;
  int head_dim = 0;
  int rope = 0;  // of Config::ropes
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
};  // the rows whose logits are wanted
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
  int rope;  // of Config::ropes
  RopePairs pairs;
};
struct KvAppend {
  SlotId k;
  SlotId v;
  int layer;
  int n_kv_heads;
  int head_dim;
};  // to the cache, at the batch's positions
struct Attention {
  SlotId q;
  SlotId out;
  int layer;
  int n_heads;
  int n_kv_heads;
  int head_dim;
  int window;         // positions that a row sees, its own included; 0: all
  float softcap = 0;  // scores s become softcap · tanh(s / softcap); 0: as they are
  StatsOnWrite next = {};
  std::optional<FloatHeads> heads = {};  // which it makes itself, from what a FloatQkv left
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

// Fused: the same numbers as the steps they replace (fuse.cc).

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
  int rope;  // of Config::ropes
  RopePairs pairs;
  NormOnRead norm = {};
};
// The same of float layers, and between them the norms of the heads.
struct FloatQkv {
  SlotId in;
  const Tensor* wq;
  const Tensor* wk;
  const Tensor* wv;
  FloatHeads heads;
  bool leaves_heads = false;  // to attention: `qkv`, or q, k and v, hold what the matrices give
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
  bool scratch = false;  // written, but what it holds afterwards means nothing and is not read
  bool hidden = false;   // written for another step to read, but no value of the model
  bool is_output() const { return writes && !scratch && !hidden; }
};

// The slots that a step touches, all different.
std::vector<SlotUse> slot_uses(const StepBody& body);

struct Plan {
  Config config;
  std::vector<Slot> slots;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  SlotId logits;
  // Float linear steps with packed weights may read their input as int8 in blocks (Fusions::int8_on_read).
  bool int8_on_read = false;

  const Slot& slot(SlotId id) const { return slots[static_cast<size_t>(id.index)]; }
};

// Which steps are fused where they follow each other (fuse.h).
struct Fusions {
  bool norm_quantize = false;
  bool linear_add = false;
  bool glu = false;
  bool qkv = false;
  bool heads = false;  // what float_qkv does after the matrices goes into attention
  bool norms = false;  // rms_norm_quantize goes into the steps around it, rms_norm into the one that reads it
  // Not fusions, but ways to compute: float linears with packed weights read int8 blocks, which a step makes before
  // them (hosts), or which they make themselves (GPUs, where their kernels can).
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
  // End at the last norm: a row of "logits" is then d_model values, what the model makes of the text up to there.
  bool embeddings = false;
};

// The forward pass (transformer_plan.cc). `weights` must outlive the plan.
Plan make_plan(const Config& config, const Weights& weights, const PlanOptions& options = {});

std::string_view op_name(const StepBody& body);  // "rms_norm"

// One line per step, for people: name, operation, slots and their shapes.
std::string describe(const Plan& plan);

}  // namespace tern
