// The steps of plans. Each is declared once: its operands and the slots it uses in its struct, its name and the op that
// computes it on a host in the list below. The memory plan, the CPU's barriers, observers and backends read these.
#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "model/source/config.h"
#include "model/source/weights.h"
#include "plan/delta_steps.h"
#include "plan/expert_steps.h"
#include "plan/slot_uses.h"

namespace tern {

// The steps. Each reads `in`, writes `out`, and does both with `x`. Tensors belong to the model's Weights, which must
// outlive the plan.
namespace step {

// For a step that norms and quantizes its input itself: its `in` is f32 instead of int8. The step that wrote the row
// has left the statistics of the whole row.
struct NormOnRead {
  const Tensor* gain = nullptr;  // null: no norm
  float eps = 0;
  SlotId stats;      // read
  SlotId quantized;  // int8 scratch, for kernels that need it

  SlotUses with(SlotUses uses) const {
    if (gain) uses.insert(uses.end(), {reads(stats), scratch(quantized)});
    return uses;
  }
};
// For a step that leaves `stats` of what it writes, for a later NormOnRead.
struct StatsOnWrite {
  const Tensor* gain = nullptr;  // of the later norm; null: no statistics
  SlotId stats;                  // written

  SlotUses with(SlotUses uses) const {
    if (gain) uses.push_back(hidden(stats));
    return uses;
  }
};

// How heads are made from the float q/k/v projections: by head norms if the model has them, RoPE, and the KV-cache
// write at the batch's positions.
struct FloatHeads {
  SlotId q;                        // [n_heads, head_dim]
  SlotId k, v;                     // [n_kv_heads, head_dim] scratch, for kernels that need it
  SlotId qkv;                      // [n_heads + 2 n_kv_heads, head_dim] scratch, for kernels that need it
  const Tensor* q_gain = nullptr;  // null: no norm
  const Tensor* k_gain = nullptr;
  const Tensor* v_gain = nullptr;  // all 1: values are normed too, if q and k are
  float eps = 0;
  int layer = 0;
  int n_heads = 0;
  int n_kv_heads = 0;
  int head_dim = 0;
  int rope = 0;  // index into Config::ropes
  RopePairs pairs = {};
  int n_dims = 0;  // see Rope
  // If the model gates attention: wq gives each query's head followed by its gate, `q_gate` [n_heads, 2, head_dim].
  // `gate` [n_heads, head_dim] is where a host splits the gates off.
  SlotId q_gate, gate;

  bool is_gated() const { return gate != SlotId{}; }
};

// out = table[token] · scale
struct Embed {
  const Tensor* table;
  SlotId out;
  float scale = 1;
  bool on_host = false;  // the table is too large for a device: the host looks up its rows

  SlotUses uses() const { return {writes(out)}; }
};
// out = the rows of `in` whose logits are requested
struct SelectRows {
  SlotId in;
  SlotId out;

  SlotUses uses() const { return {reads(in), writes(out)}; }
};
// out = the rows that come with the batch (Slice::hidden)
struct Hidden {
  SlotId out;

  SlotUses uses() const { return {writes(out)}; }
};
// out = in / √(mean in² + eps) · gain
struct RmsNorm {
  SlotId in;
  const Tensor* gain;
  float eps;
  SlotId out;

  SlotUses uses() const { return {reads(in), writes(out)}; }
};
// Each row becomes int8, scaled by its greatest magnitude.
struct Quantize {
  SlotId in;
  SlotId out;

  SlotUses uses() const { return {reads(in), writes(out)}; }
};
// out = w · in, in is int8
struct TernaryLinear {
  SlotId in;
  const Tensor* w;
  SlotId out;

  SlotUses uses() const { return {reads(in), writes(out)}; }
};
// Each run of kInt8Block values becomes int8, scaled by its greatest magnitude.
struct QuantizeBlocks {
  SlotId in;
  SlotId out;

  SlotUses uses() const { return {reads(in), writes(out)}; }
};
// out = w · in + bias, in is f32 or int8 blocks
struct FloatLinear {
  SlotId in;
  const Tensor* w;
  SlotId out;
  FloatNormOnRead norm = {};
  const Tensor* bias = nullptr;  // null: none, as in plans for hosts

  SlotUses uses() const { return norm.with({reads(in), writes(out)}); }
};
// x = RMS norm of each head of x.
struct HeadNorm {
  SlotId x;            // [n_heads, head_dim]
  const Tensor* gain;  // [head_dim]
  float eps;
  int n_heads;
  int head_dim;

  SlotUses uses() const { return {updates(x)}; }
};
struct Rope {
  SlotId x;
  int n_heads;
  int head_dim;
  int rope;  // index into Config::ropes
  RopePairs pairs;
  int n_dims = 0;  // only the first dimensions of a head rotate; 0: all

  SlotUses uses() const { return {updates(x)}; }
};
// Writes k and v to the cache, at the batch's positions.
struct KvAppend {
  SlotId k;
  SlotId v;
  int layer;
  int n_kv_heads;
  int head_dim;

  SlotUses uses() const { return {reads(k), reads(v)}; }
};
// Causal attention with the scale 1/√head_dim.
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
  std::optional<FloatHeads> heads = {};  // if present, attention makes the heads, from what FloatQkv left
  // [n_heads] or null: one more score of each head, which counts in the softmax but has no value.
  const Tensor* sinks = nullptr;

  SlotUses uses() const {
    if (!heads) return next.with({reads(q), writes(out)});
    return next.with({passes_on(heads->q), passes_on(heads->k), reads(heads->v), reads(heads->qkv), writes(out)});
  }
};
// out = act(gate) · up
struct GluMul {
  SlotId gate;
  SlotId up;
  GluAct act;
  SlotId out;
  int first_up = 0;  // the first column of `up`, which may be wider than the others

  SlotUses uses() const { return {reads(gate), reads(up), writes(out)}; }
};
// x = (x + in) · scale
struct Add {
  SlotId in;
  SlotId x;
  float scale = 1;

  SlotUses uses() const { return {reads(in), updates(x)}; }
};

// x += bias, in every row
struct AddBias {
  SlotId x;
  const Tensor* bias;

  SlotUses uses() const { return {updates(x)}; }
};
// x = cap · tanh(x / cap)
struct Softcap {
  SlotId x;
  float cap;

  SlotUses uses() const { return {updates(x)}; }
};

// Fused steps: each replaces several of the steps above (fuse.h).

struct RmsNormQuantize {
  SlotId in;
  const Tensor* gain;
  float eps;
  SlotId out;

  SlotUses uses() const { return {reads(in), writes(out)}; }
};
// x += w · in
struct TernaryLinearAdd {
  SlotId in;
  const Tensor* w;
  SlotId x;
  NormOnRead norm = {};
  StatsOnWrite next = {};

  SlotUses uses() const { return next.with(norm.with({reads(in), updates(x)})); }
};
// out = act(gate·in) · (up·in)
struct TernaryGlu {
  SlotId in;
  const Tensor* w_gate;
  const Tensor* w_up;
  GluAct act;
  SlotId out;
  NormOnRead norm = {};
  StatsOnWrite next = {};

  SlotUses uses() const { return next.with(norm.with({reads(in), writes(out)})); }
};
// x += w · in + bias
struct FloatLinearAdd {
  SlotId in;
  const Tensor* w;
  SlotId x;
  const Tensor* bias = nullptr;  // null: none, as in plans for hosts
  SlotId sum = {};               // where a host computes w · in + bias

  SlotUses uses() const {
    if (!bias) return {reads(in), updates(x)};
    return {reads(in), updates(x), scratch(sum)};
  }
};
// x = (x + norm of `in`) · scale
struct RmsNormAdd {
  RmsNorm norm;
  SlotId x;
  float scale = 1;

  SlotUses uses() const { return {reads(norm.in), scratch(norm.out), updates(x)}; }
};
// out = act(gate·in) · (up·in)
struct FloatGlu {
  SlotId in;
  const Tensor* w_gate;
  const Tensor* w_up;
  GluAct act;
  SlotId out;
  FloatNormOnRead norm = {};

  SlotUses uses() const { return norm.with({reads(in), writes(out)}); }
};
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

  SlotUses uses() const { return norm.with({reads(in), writes(q), scratch(k), scratch(v)}); }
};
// The same for float layers, with optional norms of the heads.
struct FloatQkv {
  SlotId in;
  const Tensor* wq;
  const Tensor* wk;
  const Tensor* wv;
  FloatHeads heads;
  bool leaves_heads = false;  // attention makes the heads; `qkv`, or q, k and v, have the raw projections
  FloatNormOnRead norm = {};
  const Tensor *q_bias = nullptr, *k_bias = nullptr, *v_bias = nullptr;  // all or none

  SlotUses uses() const {
    const FloatHeads& h = heads;
    SlotUses uses = {reads(in), writes(h.q), scratch(h.k), scratch(h.v), scratch(h.qkv)};
    if (leaves_heads) uses = {reads(in), hidden(h.q), hidden(h.k), hidden(h.v), hidden(h.qkv)};
    if (h.is_gated()) uses.back() = hidden(h.qkv), uses.insert(uses.end(), {scratch(h.q_gate), hidden(h.gate)});
    return norm.with(std::move(uses));
  }
};

// Several matrices times `in`: their results lie side by side in `out`, from value `first` on.
struct FloatStack {
  struct Part {
    const Tensor* w;
    SlotId out;  // of its own, where a host computes it
  };
  SlotId in;
  std::vector<Part> parts;
  SlotId out;
  int first = 0;
  bool is_rest = false;  // another one has begun `out`
  FloatNormOnRead norm = {};

  SlotUses uses() const {
    SlotUses uses = {reads(in), is_rest ? passes_on(out) : hidden(out)};
    for (const Part& part : parts) uses.push_back(hidden(part.out));
    return norm.with(std::move(uses));
  }
};

}  // namespace step

// The steps that hosts run as they are: type, name, and the op (backend/ops.h) that computes the step.
#define TERN_HOST_STEPS(X)                                 \
  X(Embed, "embed", Embed)                                 \
  X(SelectRows, "select_rows", SelectRows)                 \
  X(Hidden, "hidden", SelectRows)                          \
  X(RmsNorm, "rms_norm", RmsNorm)                          \
  X(Quantize, "quantize", Quantize)                        \
  X(TernaryLinear, "ternary_linear", TernaryLinear)        \
  X(QuantizeBlocks, "quantize_blocks", QuantizeBlocks)     \
  X(FloatLinear, "float_linear", FloatLinear)              \
  X(HeadNorm, "head_norm", RmsNorm)                        \
  X(Rope, "rope", Rope)                                    \
  X(KvAppend, "kv_append", KvAppend)                       \
  X(Attention, "attention", Attention)                     \
  X(GluMul, "glu_mul", GluMul)                             \
  X(Add, "add", Add)                                       \
  X(AddBias, "add_bias", AddBias)                          \
  X(SplitHeads, "split_heads", SplitHeads)                 \
  X(Rotate, "rotate", Rotate)                              \
  X(SigmoidMul, "sigmoid_mul", SigmoidMul)                 \
  X(CausalConv, "causal_conv", CausalConv)                 \
  X(DeltaRule, "delta_rule", DeltaRule)                    \
  X(GatedNorm, "gated_norm", GatedNorm)                    \
  X(Route, "route", Route)                                 \
  X(ExpertGlu, "expert_glu", ExpertGlu)                    \
  X(ExpertLinear, "expert_linear", ExpertLinear)           \
  X(MixExperts, "mix_experts", MixExperts)                 \
  X(Softcap, "softcap", Softcap)                           \
  X(RmsNormQuantize, "rms_norm_quantize", RmsNormQuantize) \
  X(TernaryLinearAdd, "ternary_linear_add", TernaryLinear) \
  X(TernaryGlu, "ternary_glu", TernaryGlu)                 \
  X(FloatLinearAdd, "float_linear_add", FloatLinear)       \
  X(FloatGlu, "float_glu", FloatGlu)
// Steps that hosts run as several others (plan/expand.h), so they have no op.
#define TERN_GPU_STEPS(X)         \
  X(TernaryQkv, "ternary_qkv", )  \
  X(FloatQkv, "float_qkv", )      \
  X(FloatStack, "float_stack", )  \
  X(GatedDelta, "gated_delta", )  \
  X(RmsNormAdd, "rms_norm_add", ) \
  X(MixExpertsAdd, "mix_experts_add", )
#define TERN_STEPS(X) TERN_HOST_STEPS(X) TERN_GPU_STEPS(X)

template <class First, class... Steps>
struct VariantOfSteps {
  using Type = std::variant<Steps...>;
};
#define TERN_STEP_TYPE(Type, name, Op) , step::Type
using StepBody = VariantOfSteps<void TERN_STEPS(TERN_STEP_TYPE)>::Type;
#undef TERN_STEP_TYPE

// The slots that a step uses, each listed once.
SlotUses slot_uses(const StepBody& body);

std::string_view op_name(const StepBody& body);  // "rms_norm"

}  // namespace tern
