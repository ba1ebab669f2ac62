// Writes a plan step by step. The calls read like the model's equations.
#pragma once

#include <functional>
#include <string>

#include "plan/plan.h"

namespace tern {

// The input of linear layers: floats, and slots for their normed or quantized form, which are made when first needed.
// Layers that read the same floats share the int8 rows.
struct LinearInput {
  LinearInput() = default;
  LinearInput(SlotId slot) : floats(slot) {}  // NOLINT(*-explicit-*): most inputs are only a slot
  operator SlotId() const { return floats; }  // NOLINT(*-explicit-*)

  SlotId floats;
  SlotId normed = {};         // the result of the layer's own input norm
  SlotId rotated = {};        // `floats`, rotated
  bool is_rotated = false;    // `rotated` is the rotated form of the present `floats`
  SlotId quantized = {};      // the int8 form of `floats` or of `normed`
  bool is_quantized = false;  // `quantized` is the int8 form of the present `floats`
  // If n_groups is not 0, rotations of this input take its heads in another order (step::Rotate).
  int n_groups = 0, head_dim = 0;

  void has_changed() { is_quantized = is_rotated = false; }
};

class PlanWriter {
 public:
  explicit PlanWriter(const Config& config) { plan_.config = config; }
  const Config& config() const { return plan_.config; }

  SlotId slot(std::string name, int width, SlotType type = SlotType::kF32, RowsOf rows = RowsOf::kBatch);

  void embed(const Tensor& table, SlotId out);
  // The same with a factor, by the host.
  void embed_on_host(const Tensor& table, float scale, SlotId out);
  void select_rows(SlotId in, SlotId out);
  void hidden(SlotId out);
  void rms_norm(SlotId in, const Tensor& gain, SlotId out);
  void rms_norm(SlotId in, const Tensor& gain, LinearInput& out);
  void quantize(SlotId in, SlotId out);
  void rotate(const LinearInput& in, const Tensor& w, bool is_inverse, SlotId out);
  // A ternary or a float product, depending on the type of `in`.
  void linear(SlotId in, const Tensor& w, SlotId out);
  // A complete linear layer: norms and quantizes `in` as the model requires, multiplies, and adds the bias.
  void linear_layer(LinearInput& in, const Linear& w, SlotId out);
  void add_bias(SlotId x, const Tensor& bias);
  void softcap(SlotId x, float cap);
  // The norm of each head or, if the gain is that wide, of all heads together. eps_factor: multiplies the model's
  // epsilon, for values that are not scaled yet.
  void head_norm(SlotId x, const Tensor& gain, int n_heads, float eps_factor = 1);
  void rope(SlotId x, int n_heads, int layer = 0);
  void kv_append(SlotId k, SlotId v, int layer);
  void attention(SlotId q, int layer, LinearInput& out, const Tensor& sinks = {});
  void split_heads(SlotId in, SlotId q, SlotId gate, int n_heads);
  void sigmoid_mul(SlotId gate, LinearInput& x);
  void causal_conv(SlotId in, const Tensor& taps, int layer, SlotId out);
  void delta_rule(SlotId in, SlotId alpha, SlotId beta, const Layer& weights, int layer, SlotId out);
  void gated_norm(SlotId in, SlotId gate, const Tensor& gain, LinearInput& out);
  void glu_mul(SlotId gate, SlotId up, LinearInput& out, int first_up = 0);
  void route(SlotId scores, const Layer& weights, SlotId chosen);
  void expert_glu(SlotId in, SlotId chosen, const Layer& weights, SlotId out);
  void expert_linear(SlotId in, SlotId chosen, const Linear& w, SlotId out);
  // Without a shared network, `shared` and `gate` are SlotId{}.
  void mix_experts(SlotId in, SlotId chosen, SlotId shared, SlotId gate, SlotId out);
  void add(SlotId in, SlotId x, float scale = 1);

  // Sets the prefix of the names of later steps, such as "blk.3."; steps without a tensor are named after their output.
  void section(std::string prefix) { section_ = std::move(prefix); }

  // Writes a whole decoder: the embedding to `x`, write_layer(layer, index) for each layer, the last norm and the head;
  // or the part with `layers`. Returns the finished plan, as finish() does. Layers' inputs are in the slot
  // `layer_inputs`.
  using WriteLayer = std::function<void(const Layer& layer, int index, SlotId layer_inputs)>;
  Plan decoder(const Weights& weights, LayerRange layers, SlotId x, const PlanOptions& options,
               const WriteLayer& write_layer);

  // The end of a decoder: the last norm of `x`, and the head. Returns the finished plan.
  Plan head(const Weights& weights, SlotId x, const PlanOptions& options);

  // Fuses and checks the plan, assigns buffers, and moves the plan out of the writer.
  Plan finish(SlotId logits, const PlanOptions& options);

 private:
  void write_embedding(const Tensor& table, SlotId x);
  // The end of a part without the last layer.
  Plan end_with_stream(SlotId x, const PlanOptions& options);
  SlotId write_layer_inputs(const Weights& weights, SlotId x);
  void push(std::string name, StepBody body);
  SlotId slot_beside(const LinearInput& in, std::string_view end, SlotType type);
  // What `w` is multiplied with: the floats of `in`, rotated if the matrix is.
  SlotId input_of(LinearInput& in, const Tensor& w);
  const Slot& at(SlotId id) const { return plan_.slot(id); }

  Plan plan_;
  std::string section_;
};

}  // namespace tern
