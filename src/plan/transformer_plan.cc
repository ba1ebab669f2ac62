// The forward pass of every model that Tern runs (docs/numerics.md has the equations): Llama's, plus the steps of other
// model families for layers that have their tensors.

#include <array>
#include <map>
#include <optional>

#include "base/check.h"
#include "plan/plan.h"
#include "plan/plan_writer.h"

namespace tern {
namespace {

struct Slots {
  SlotId x;               // [d_model] residual stream
  LinearInput h;          // [d_model] normed
  SlotId q, k, v;         // [n_heads, head_dim], [n_kv_heads, head_dim] twice
  SlotId q_gate;          // [n_heads, 2, head_dim] queries, each with the gate of its head
  SlotId a_gate;          // [n_heads, head_dim] these gates, which scale the attention output
  LinearInput a, a_norm;  // [n_heads, head_dim] attention output, and normed
  SlotId gate, up;        // [d_ff]
  LinearInput f, f_norm;  // [d_ff] gated, and normed
  SlotId o, o_norm;       // [d_model] the layer's contribution to x, and normed
  SlotId input_gate;      // [per_layer_width]
  LinearInput input;      // [per_layer_width] the layer's own input, gated
};

// Slots of recurrent layers (DeltaConfig).
struct DeltaSlots {
  SlotId qkv, conv;    // [channels] before and after the convolution
  SlotId z;            // [value_width] the output's gate
  SlotId alpha, beta;  // [n_v_heads]
  SlotId d;            // [value_width] the output
  LinearInput d_norm;  // [value_width] normed and gated
};

DeltaSlots make_delta_slots(PlanWriter& p, const DeltaConfig& d) {
  LinearInput normed = p.slot("d_norm", d.value_width());
  if (d.rotates_grouped) normed.n_groups = d.n_k_heads, normed.head_dim = d.head_dim;
  return {.qkv = p.slot("delta_qkv", d.channels()),
          .conv = p.slot("delta_conv", d.channels()),
          .z = p.slot("z", d.value_width()),
          .alpha = p.slot("alpha", d.n_v_heads),
          .beta = p.slot("beta", d.n_v_heads),
          .d = p.slot("d", d.value_width()),
          .d_norm = normed};
}

// Slots of mixtures (ExpertConfig).
struct ExpertSlots {
  SlotId scores;                           // [n]
  SlotId chosen;                           // [2, n_used]
  SlotId f;                                // [n_used, d_ff]
  SlotId each;                             // [n_used, d_model]
  SlotId gate = {}, up = {}, shared = {};  // [d_ff_shared] twice, [d_model]
  LinearInput f_shared = {};               // [d_ff_shared]
  SlotId shared_gate = {};                 // [1]
  SlotId both = {};                        // [d_model], with the result of the dense network beside it
};

ExpertSlots make_expert_slots(PlanWriter& p, const Config& c, bool has_dense) {
  const ExpertConfig& e = c.experts;
  ExpertSlots s{.scores = p.slot("scores", e.n),
                .chosen = p.slot("chosen", 2 * e.n_used),
                .f = p.slot("f_each", e.n_used * e.d_ff),
                .each = p.slot("each", e.n_used * c.d_model)};
  if (has_dense) s.both = p.slot("both", c.d_model);
  if (e.d_ff_shared == 0) return s;
  s.gate = p.slot("gate_shared", e.d_ff_shared);
  s.up = p.slot("up_shared", e.d_ff_shared);
  s.f_shared = p.slot("f_shared", e.d_ff_shared);
  s.shared = p.slot("shared", c.d_model);
  s.shared_gate = p.slot("shared_gate", 1);
  return s;
}

// scale: multiplies the stream afterwards.
void add_to_stream(PlanWriter& p, const Tensor& post_norm, const Slots& s, float scale = 1) {
  if (!post_norm.is_present()) return p.add(s.o, s.x, scale);
  p.rms_norm(s.o, post_norm, s.o_norm);
  p.add(s.o_norm, s.x, scale);
}

// `values`, or `out` with their norm if `norm` is present.
LinearInput& normed(PlanWriter& p, LinearInput& values, const Tensor& norm, LinearInput& out) {
  if (!norm.is_present()) return values;
  p.rms_norm(values, norm, out);
  return out;
}

Slots make_slots(PlanWriter& p, const Config& c, const LayerConfig& l, SlotId x) {
  const int q_width = l.n_heads * l.head_dim, kv_width = l.n_kv_heads * l.head_dim;
  return {.x = x,
          .h = p.slot("h", c.d_model),
          .q = p.slot("q", q_width),
          .k = p.slot("k", kv_width),
          .v = p.slot("v", kv_width),
          .q_gate = c.has_gated_attention ? p.slot("q_gate", 2 * q_width) : SlotId{},
          .a_gate = c.has_gated_attention ? p.slot("a_gate", q_width) : SlotId{},
          .a = p.slot("a", q_width),
          .a_norm = p.slot("a_norm", q_width),
          .gate = p.slot("gate", l.d_ff),
          .up = p.slot("up", l.d_ff),
          .f = p.slot("f", l.d_ff),
          .f_norm = p.slot("f_norm", l.d_ff),
          .o = p.slot("o", c.d_model),
          .o_norm = p.slot("o_norm", c.d_model),
          .input_gate = c.per_layer_width > 0 ? p.slot("input_gate", c.per_layer_width) : SlotId{},
          .input = c.per_layer_width > 0 ? p.slot("input", c.per_layer_width) : SlotId{}};
}

// Layers of the same shape share their slots. Other shapes have slots of their own, which share memory with them
// (memory_plan.cc): each buffer is as wide as its widest slot.
class LayerSlots {
 public:
  LayerSlots(PlanWriter& p, const Config& c) : p_(p), c_(c), x_(p.slot("x", c.d_model)) { for_layer(0); }

  SlotId x() const { return x_; }
  Slots& for_layer(int layer) {
    const LayerConfig l = c_.layer(layer);
    const std::array shape = {l.n_heads, l.n_kv_heads, l.head_dim, l.d_ff};
    const auto found = by_shape_.find(shape);
    return found != by_shape_.end() ? found->second : by_shape_.emplace(shape, make_slots(p_, c_, l, x_)).first->second;
  }

 private:
  PlanWriter& p_;
  const Config& c_;
  SlotId x_;
  std::map<std::array<int, 4>, Slots> by_shape_;
};

void norm_heads(PlanWriter& p, const Layer& l, const Slots& s, const LayerConfig& own) {
  if (l.attn_q_norm.is_present()) p.head_norm(s.q, l.attn_q_norm, own.n_heads);
  if (l.attn_k_norm.is_present()) p.head_norm(s.k, l.attn_k_norm, own.n_kv_heads);
  if (l.attn_v_norm.is_present()) p.head_norm(s.v, l.attn_v_norm, own.n_kv_heads);
}

void write_attention(PlanWriter& p, const Layer& l, Slots& s, const LayerConfig& own, int layer) {
  p.rms_norm(s.x, l.attn_norm, s.h);
  const bool is_gated = s.a_gate != SlotId{};
  p.linear_layer(s.h, l.attn_q, is_gated ? s.q_gate : s.q);
  if (is_gated) p.split_heads(s.q_gate, s.q, s.a_gate, own.n_heads);
  const bool has_kv = own.kv_layer == layer;
  if (has_kv) {
    p.linear_layer(s.h, l.attn_k, s.k);
    p.linear_layer(s.h, l.attn_v, s.v);
  }
  if (!p.config().norms_follow_rope) norm_heads(p, l, s, own);
  p.rope(s.q, own.n_heads, layer);
  if (has_kv) p.rope(s.k, own.n_kv_heads, layer);
  if (p.config().norms_follow_rope) norm_heads(p, l, s, own);
  if (has_kv) p.kv_append(s.k, s.v, layer);
  p.attention(s.q, layer, s.a, l.attn_sinks);
  if (is_gated) p.sigmoid_mul(s.a_gate, s.a);
  p.linear_layer(normed(p, s.a, l.attn_sub_norm, s.a_norm), l.attn_output, s.o);
  add_to_stream(p, l.attn_post_norm, s);
}

void write_delta_layer(PlanWriter& p, const Layer& l, Slots& s, DeltaSlots& d, int layer) {
  p.rms_norm(s.x, l.attn_norm, s.h);
  p.linear_layer(s.h, l.delta_qkv, d.qkv);
  p.linear_layer(s.h, l.delta_gate, d.z);
  p.linear_layer(s.h, l.delta_alpha, d.alpha);
  p.linear_layer(s.h, l.delta_beta, d.beta);
  p.causal_conv(d.qkv, l.delta_conv, layer, d.conv);
  p.delta_rule(d.conv, d.alpha, d.beta, l, layer, d.d);
  p.gated_norm(d.d, d.z, l.delta_norm, d.d_norm);
  p.linear_layer(d.d_norm, l.delta_output, s.o);
  add_to_stream(p, l.attn_post_norm, s);
}

// The factor of the layer comes last.
float scale_after_feed_forward(const Layer& l) { return l.input_gate.is_present() ? 1 : l.output_scale; }

// All but the last matrix of a dense network, whose input it returns.
LinearInput& write_dense_input(PlanWriter& p, const Layer& l, Slots& s) {
  p.rms_norm(s.x, l.ffn_norm, s.h);
  p.linear_layer(s.h, l.ffn_gate, s.gate);
  p.linear_layer(s.h, l.ffn_up, s.up);
  p.glu_mul(s.gate, s.up, s.f);
  return normed(p, s.f, l.ffn_sub_norm, s.f_norm);
}

void write_feed_forward(PlanWriter& p, const Layer& l, Slots& s) {
  p.linear_layer(write_dense_input(p, l, s), l.ffn_down, s.o);
  add_to_stream(p, l.ffn_post_norm, s, scale_after_feed_forward(l));
}

void write_layer_input(PlanWriter& p, const Layer& l, Slots& s, SlotId inputs, int first_input) {
  LinearInput x = s.x;
  p.linear_layer(x, l.input_gate, s.input_gate);
  p.glu_mul(s.input_gate, inputs, s.input, first_input);
  p.linear_layer(s.input, l.input_proj, s.o);
  add_to_stream(p, l.input_post_norm, s, l.output_scale);
}

// The router and the experts have norms of their own, and so do the results of both networks. Steps of the two networks
// alternate, since a GPU runs steps side by side that do not wait for each other.
void write_dense_and_experts(PlanWriter& p, const Layer& l, Slots& s, ExpertSlots& e) {
  LinearInput& f = write_dense_input(p, l, s);
  p.rms_norm(s.x, l.ffn_router_norm, s.h);
  p.linear_layer(s.h, l.ffn_router, e.scores);
  p.linear_layer(f, l.ffn_down, s.o);
  p.route(e.scores, l, e.chosen);
  p.rms_norm(s.o, l.ffn_dense_post, e.both);
  p.rms_norm(s.x, l.ffn_experts_norm, s.h);
  p.expert_glu(s.h, e.chosen, l, e.f);
  p.expert_linear(e.f, e.chosen, l.ffn_down_exps, e.each);
  p.mix_experts(e.each, e.chosen, {}, {}, s.o);
  p.rms_norm(s.o, l.ffn_experts_post, s.o_norm);
  p.add(s.o_norm, e.both);
  p.rms_norm(e.both, l.ffn_post_norm, s.o_norm);
  p.add(s.o_norm, s.x, scale_after_feed_forward(l));
}

// The steps of a shared network come between those of the others, since a GPU runs steps side by side that do not wait
// for each other.
void write_experts(PlanWriter& p, const Layer& l, Slots& s, ExpertSlots& e) {
  const bool has_shared = l.ffn_shared_gate.is_present();
  p.rms_norm(s.x, l.ffn_norm, s.h);
  p.linear_layer(s.h, l.ffn_router, e.scores);
  if (has_shared) {
    p.linear_layer(s.h, l.ffn_shared_gate, e.shared_gate);
    p.linear_layer(s.h, l.ffn_gate_shared, e.gate);
    p.linear_layer(s.h, l.ffn_up_shared, e.up);
    p.glu_mul(e.gate, e.up, e.f_shared);
  }
  p.route(e.scores, l, e.chosen);
  if (has_shared) p.linear_layer(e.f_shared, l.ffn_down_shared, e.shared);
  p.expert_glu(s.h, e.chosen, l, e.f);
  p.expert_linear(e.f, e.chosen, l.ffn_down_exps, e.each);
  p.mix_experts(e.each, e.chosen, e.shared, e.shared_gate, s.o);
  add_to_stream(p, l.ffn_post_norm, s);
}

// The layers of one model, with the slots that they share.
class Layers {
 public:
  Layers(PlanWriter& p, const Weights& weights) : p_(p), slots_(p, p.config()) {
    const Config& c = p.config();
    has_dense_ = !weights.layers.empty() && weights.layers.front().ffn_down.is_present();
    if (c.has_recurrent_layers()) delta_ = make_delta_slots(p, c.delta);
    if (c.experts.n > 0) experts_ = make_expert_slots(p, c, has_dense_);
  }

  SlotId x() const { return slots_.x(); }
  Slots& slots(int layer) { return slots_.for_layer(layer); }

  void write(const Layer& l, int layer, SlotId inputs) {
    const Config& c = p_.config();
    Slots& s = slots_.for_layer(layer);
    if (c.layer(layer).is_recurrent) {
      write_delta_layer(p_, l, s, *delta_, layer);
    } else {
      write_attention(p_, l, s, c.layer(layer), layer);
    }
    if (experts_ && has_dense_) {
      write_dense_and_experts(p_, l, s, *experts_);
    } else if (experts_) {
      write_experts(p_, l, s, *experts_);
    } else {
      write_feed_forward(p_, l, s);
    }
    if (l.input_gate.is_present()) write_layer_input(p_, l, s, inputs, layer * c.per_layer_width);
  }

 private:
  PlanWriter& p_;
  LayerSlots slots_;
  bool has_dense_ = false;
  std::optional<DeltaSlots> delta_;
  std::optional<ExpertSlots> experts_;
};

}  // namespace

Config config_of(const Config& config, LayerRange layers) {
  CHECK(0 <= layers.first && layers.first < layers.end && layers.end <= config.n_layers);
  Config part = config;
  part.n_layers = layers.end - layers.first;
  if (config.layers.empty()) return part;
  part.layers.assign(config.layers.begin() + layers.first, config.layers.begin() + layers.end);
  for (LayerConfig& layer : part.layers) {
    if (layer.kv_layer >= 0) layer.kv_layer -= layers.first;
    CHECK(layer.kv_layer >= -1);
  }
  return part;
}

bool may_part_before(const Config& config, int layer) {
  if (config.per_layer_width > 0 || layer < 1 || layer >= config.n_layers) return false;
  for (int i = layer; i < config.n_layers; ++i) {
    if (config.layer(i).kv_layer < layer) return false;
  }
  return true;
}

Plan make_plan(const Config& c, const Weights& weights, const PlanOptions& options) {
  const LayerRange range = options.layers.value_or(LayerRange{0, c.n_layers});
  CHECK((range.first == 0 || may_part_before(c, range.first)) &&
        (range.end == c.n_layers || may_part_before(c, range.end)));
  PlanWriter p(config_of(c, range));
  Layers layers(p, weights);
  return p.decoder(weights, range, layers.x(), options,
                   [&](const Layer& l, int layer, SlotId inputs) { layers.write(l, layer, inputs); });
}

Plan make_prediction_plan(const PredictionBlock& block, const PlanOptions& options) {
  const Weights& w = block.weights;
  PlanWriter p(block.config);
  Layers layers(p, w);
  const Slots& s = layers.slots(0);
  const int width = block.config.d_model;
  const SlotId next = p.slot("next", width), hidden = p.slot("hidden_before", width);
  LinearInput next_normed = p.slot("next_norm", width), hidden_normed = p.slot("hidden_norm", width);
  p.section("nextn.");
  p.hidden(hidden);  // first, so that a device can be given the rows before it runs
  p.embed(w.token_embd, next);
  p.rms_norm(next, w.next_norm, next_normed);
  p.linear_layer(next_normed, w.next_proj, s.x);
  p.rms_norm(hidden, w.hidden_norm, hidden_normed);
  p.linear_layer(hidden_normed, w.hidden_proj, s.o);
  p.add(s.o, s.x);
  p.section("blk.0.");
  layers.write(w.layers.front(), 0, {});
  p.section("");
  return p.head(w, s.x, options);
}

}  // namespace tern
