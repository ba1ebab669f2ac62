// Writes a plan step by step; the calls read as the model's equations.
#pragma once

#include <functional>
#include <string>

#include "plan/plan.h"

namespace tern {

// What linear layers read: floats, and what they make of them first, in slots that come when they are needed. Layers
// that read the same floats share the int8 rows.
struct LinearInput {
  LinearInput() = default;
  LinearInput(SlotId slot) : floats(slot) {}  // NOLINT(*-explicit-*): most need no more than the slot
  operator SlotId() const { return floats; }  // NOLINT(*-explicit-*)

  SlotId floats;
  SlotId normed = {};         // by a layer's own norm
  SlotId quantized = {};      // of `floats`, or of `normed`
  bool is_quantized = false;  // what is in `floats` now
};

class PlanWriter {
 public:
  explicit PlanWriter(const Config& config) { plan_.config = config; }

  SlotId slot(std::string name, int width, SlotType type = SlotType::kF32, RowsOf rows = RowsOf::kBatch);

  void embed(const Tensor& table, SlotId out);
  void select_rows(SlotId in, SlotId out);
  void rms_norm(SlotId in, const Tensor& gain, SlotId out);
  void rms_norm(SlotId in, const Tensor& gain, LinearInput& out);
  void quantize(SlotId in, SlotId out);
  // Ternary or float, as the type of `in` says.
  void linear(SlotId in, const Tensor& w, SlotId out);
  // A linear layer with all that belongs to it: what it reads of `in` is normed and quantised as the model has it.
  void linear_layer(LinearInput& in, const Linear& w, SlotId out);
  void add_bias(SlotId x, const Tensor& bias);
  void softcap(SlotId x, float cap);
  void head_norm(SlotId x, const Tensor& gain, int n_heads);
  void rope(SlotId x, int n_heads, int layer = 0);
  void kv_append(SlotId k, SlotId v, int layer);
  void attention(SlotId q, int layer, LinearInput& out);
  void glu_mul(SlotId gate, SlotId up, LinearInput& out);
  void add(SlotId in, SlotId x);

  // Prefix of the names of the steps that follow, "blk.3."; steps without a tensor are named after their output.
  void section(std::string prefix) { section_ = std::move(prefix); }

  // All of a decoder: the embedding to `x`, write_layer(layer, index) for each layer, the last norm and the head. Gives
  // the plan away, as finish() does.
  using WriteLayer = std::function<void(const Layer& layer, int index)>;
  Plan decoder(const Weights& weights, SlotId x, const PlanOptions& options, const WriteLayer& write_layer);

  // Checks the plan, assigns buffers and gives it away.
  Plan finish(SlotId logits, const PlanOptions& options);

 private:
  void push(std::string name, StepBody body);
  const Slot& at(SlotId id) const { return plan_.slot(id); }

  Plan plan_;
  std::string section_;
};

}  // namespace tern
