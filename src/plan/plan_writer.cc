#include "plan/plan_writer.h"

#include <cmath>

#include "base/check.h"
#include "base/text/format_text.h"
#include "plan/fuse.h"
#include "plan/memory_plan.h"

namespace tern {
namespace {

std::string without_suffix(const std::string& name) {
  const std::string suffix = ".weight";
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

}  // namespace

SlotId PlanWriter::slot(std::string name, int width, SlotType type, RowsOf rows) {
  plan_.slots.push_back({.name = std::move(name), .type = type, .rows = rows, .width = width});
  return {static_cast<int>(plan_.slots.size()) - 1};
}

void PlanWriter::push(std::string name, StepBody body) { plan_.steps.push_back({std::move(name), std::move(body)}); }

void PlanWriter::embed(const Tensor& table, SlotId out) {
  CHECK(at(out).width == table.cols);
  push(without_suffix(table.name), step::Embed{&table, out, plan_.config.embedding_scale});
}

void PlanWriter::embed_on_host(const Tensor& table, float scale, SlotId out) {
  CHECK(at(out).width == table.cols);
  push(without_suffix(table.name), step::Embed{&table, out, scale, /*on_host=*/true});
}

void PlanWriter::select_rows(SlotId in, SlotId out) {
  CHECK(at(in).width == at(out).width && at(out).rows == RowsOf::kLogits);
  push(section_ + at(out).name, step::SelectRows{in, out});
}

void PlanWriter::hidden(SlotId out) {
  CHECK(at(out).width == plan_.config.d_model);
  push(section_ + at(out).name, step::Hidden{out});
}

void PlanWriter::rms_norm(SlotId in, const Tensor& gain, SlotId out) {
  CHECK(at(in).width == gain.cols && at(out).width == gain.cols);
  push(without_suffix(gain.name), step::RmsNorm{in, &gain, plan_.config.rms_eps, out});
}

void PlanWriter::rms_norm(SlotId in, const Tensor& gain, LinearInput& out) {
  rms_norm(in, gain, out.floats);
  out.has_changed();
}

void PlanWriter::quantize(SlotId in, SlotId out) {
  CHECK(at(in).width == at(out).width && at(out).type == SlotType::kInt8);
  push(section_ + at(out).name, step::Quantize{in, out});
}

void PlanWriter::rotate(const LinearInput& in, const Tensor& w, bool is_inverse, SlotId out) {
  CHECK(w.rotation && at(in).width == w.rotation->cols && at(out).width == at(in).width);
  push(section_ + at(out).name, step::Rotate{.in = in,
                                             .signs = w.rotation,
                                             .block = plan_.config.rotation_block,
                                             .is_inverse = is_inverse,
                                             .n_groups = in.n_groups,
                                             .head_dim = in.head_dim,
                                             .out = out});
}

void PlanWriter::linear(SlotId in, const Tensor& w, SlotId out) {
  CHECK(at(in).width == w.cols && at(out).width == w.rows);
  if (at(in).type == SlotType::kInt8) {
    push(without_suffix(w.name), step::TernaryLinear{in, &w, out});
  } else {
    push(without_suffix(w.name), step::FloatLinear{in, &w, out});
  }
}

SlotId PlanWriter::slot_beside(const LinearInput& in, std::string_view end, SlotType type) {
  const Slot floats = at(in.floats);
  return slot(floats.name + std::string(end), floats.width, type, floats.rows);
}

SlotId PlanWriter::input_of(LinearInput& in, const Tensor& w) {
  if (!w.rotation) return in.floats;
  if (in.rotated == SlotId{}) in.rotated = slot_beside(in, "_rotated", SlotType::kF32);
  if (!in.is_rotated) rotate(in, w, /*is_inverse=*/false, in.rotated);
  in.is_rotated = true;
  return in.rotated;
}

void PlanWriter::linear_layer(LinearInput& in, const Linear& w, SlotId out) {
  const bool has_norm = w.input_norm.is_present();
  CHECK(!w.rotation || (!has_norm && !plan_.config.int8_activations));  // apply_rotation() refuses such models
  SlotId from = input_of(in, w);
  if (has_norm) {
    if (in.normed == SlotId{}) in.normed = slot_beside(in, "_norm", SlotType::kF32);
    rms_norm(from, w.input_norm, in.normed);
    from = in.normed;
  }
  if (plan_.config.int8_activations) {
    if (in.quantized == SlotId{}) in.quantized = slot_beside(in, "_q", SlotType::kInt8);
    if (has_norm || !in.is_quantized) quantize(from, in.quantized);
    in.is_quantized = !has_norm;
    from = in.quantized;
  }
  linear(from, w, out);
  if (w.bias.is_present()) add_bias(out, w.bias);
}

void PlanWriter::add_bias(SlotId x, const Tensor& bias) {
  CHECK(at(x).width == bias.cols);
  push(bias.name, step::AddBias{x, &bias});
}

void PlanWriter::softcap(SlotId x, float cap) { push(section_ + at(x).name + ".softcap", step::Softcap{x, cap}); }

void PlanWriter::head_norm(SlotId x, const Tensor& gain, int n_heads, float eps_factor) {
  const int n_norms = at(x).width / gain.cols;
  CHECK(at(x).width == n_norms * gain.cols && (n_norms == n_heads || n_norms == 1));
  push(without_suffix(gain.name), step::HeadNorm{x, &gain, plan_.config.rms_eps * eps_factor, n_norms, gain.cols});
}

void PlanWriter::rope(SlotId x, int n_heads, int layer) {
  const Config& c = plan_.config;
  const int rope = c.layer(layer).rope, head_dim = c.layer(layer).head_dim;
  CHECK(at(x).width == n_heads * head_dim);
  if (rope == kNoRope) return;
  push(section_ + at(x).name + ".rope", step::Rope{x, n_heads, head_dim, rope, c.ropes[static_cast<size_t>(rope)].pairs,
                                                   c.ropes[static_cast<size_t>(rope)].n_dims});
}

void PlanWriter::kv_append(SlotId k, SlotId v, int layer) {
  const Config& c = plan_.config;
  CHECK(at(k).width == c.kv_width(layer) && at(v).width == c.kv_width(layer));
  push(section_ + "kv_append", step::KvAppend{k, v, layer, c.layer(layer).n_kv_heads, c.layer(layer).head_dim});
}

void PlanWriter::attention(SlotId q, int layer, LinearInput& out, const Tensor& sinks) {
  const Config& c = plan_.config;
  const LayerConfig l = c.layer(layer);
  CHECK(at(q).width == c.q_width(layer) && at(out).width == c.q_width(layer));
  push(section_ + "attention", step::Attention{.q = q,
                                               .out = out,
                                               .layer = l.kv_layer,
                                               .n_heads = l.n_heads,
                                               .n_kv_heads = l.n_kv_heads,
                                               .head_dim = l.head_dim,
                                               .window = l.window,
                                               .softcap = c.attention_softcap,
                                               .sinks = sinks.is_present() ? &sinks : nullptr});
  out.has_changed();
}

void PlanWriter::split_heads(SlotId in, SlotId q, SlotId gate, int n_heads) {
  CHECK(at(in).width == 2 * at(q).width && at(gate).width == at(q).width);
  push(section_ + at(in).name + ".split", step::SplitHeads{in, q, gate, n_heads, plan_.config.head_dim});
}

void PlanWriter::sigmoid_mul(SlotId gate, LinearInput& x) {
  CHECK(at(gate).width == at(x).width);
  push(section_ + at(x).name + ".gated", step::SigmoidMul{gate, x});
  x.has_changed();
}

void PlanWriter::causal_conv(SlotId in, const Tensor& taps, int layer, SlotId out) {
  CHECK(at(in).width == taps.rows && at(out).width == taps.rows);
  push(without_suffix(taps.name), step::CausalConv{in, &taps, layer, out});
}

void PlanWriter::delta_rule(SlotId in, SlotId alpha, SlotId beta, const Layer& weights, int layer, SlotId out) {
  const DeltaConfig& d = plan_.config.delta;
  CHECK(at(in).width == d.channels() && at(out).width == d.value_width());
  push(section_ + "delta_rule",
       step::DeltaRule{in, alpha, beta, &weights.delta_decay, &weights.delta_dt_bias, layer, out});
}

void PlanWriter::gated_norm(SlotId in, SlotId gate, const Tensor& gain, LinearInput& out) {
  const int n_heads = at(in).width / gain.cols;
  CHECK(at(gate).width == at(in).width && at(out).width == at(in).width && at(in).width % gain.cols == 0);
  push(without_suffix(gain.name), step::GatedNorm{in, gate, &gain, plan_.config.rms_eps, n_heads, gain.cols, out});
  out.has_changed();
}

void PlanWriter::glu_mul(SlotId gate, SlotId up, LinearInput& out, int first_up) {
  CHECK(at(gate).width == at(out).width && at(up).width >= first_up + at(out).width);
  push(section_ + at(out).name, step::GluMul{gate, up, plan_.config.glu_act, out, first_up});
  out.has_changed();
}

void PlanWriter::route(SlotId scores, const Layer& l, SlotId chosen) {
  const ExpertConfig& e = plan_.config.experts;
  CHECK(at(scores).width == e.n && at(chosen).width == 2 * e.n_used);
  push(section_ + at(chosen).name,
       step::Route{scores, chosen, e, l.ffn_experts_scale.is_present() ? &l.ffn_experts_scale : nullptr});
}

void PlanWriter::expert_glu(SlotId in, SlotId chosen, const Layer& l, SlotId out) {
  const Config& c = plan_.config;
  const Tensor &gate = l.ffn_gate_exps, &up = l.ffn_up_exps;
  CHECK(at(in).width == gate.cols && gate.rows == up.rows && at(out).width == c.experts.n_used * gate.expert_rows());
  const auto bias = [](const Linear& w) { return w.bias.is_present() ? &w.bias : nullptr; };
  push(without_suffix(gate.name) + "_up", step::ExpertGlu{.in = in,
                                                          .chosen = chosen,
                                                          .w_gate = &gate,
                                                          .w_up = &up,
                                                          .gate_bias = bias(l.ffn_gate_exps),
                                                          .up_bias = bias(l.ffn_up_exps),
                                                          .experts = c.experts,
                                                          .act = c.glu_act,
                                                          .out = out});
}

void PlanWriter::expert_linear(SlotId in, SlotId chosen, const Linear& w, SlotId out) {
  const ExpertConfig& e = plan_.config.experts;
  CHECK(at(in).width == e.n_used * w.cols && at(out).width == e.n_used * w.expert_rows());
  push(without_suffix(w.name), step::ExpertLinear{.in = in,
                                                  .chosen = chosen,
                                                  .w = &w,
                                                  .bias = w.bias.is_present() ? &w.bias : nullptr,
                                                  .experts = e,
                                                  .out = out});
}

void PlanWriter::mix_experts(SlotId in, SlotId chosen, SlotId shared, SlotId gate, SlotId out) {
  CHECK(at(in).width == plan_.config.experts.n_used * at(out).width);
  push(section_ + "mix_experts", step::MixExperts{in, chosen, shared, gate, out});
}

void PlanWriter::add(SlotId in, SlotId x, float scale) {
  CHECK(at(in).width == at(x).width);
  push(section_ + at(x).name + " += " + at(in).name, step::Add{in, x, scale});
}

void PlanWriter::write_embedding(const Tensor& table, SlotId x) {
  if (!table.rotation) return embed(table, x);
  const SlotId stored = slot("x_stored", plan_.config.d_model);
  embed(table, stored);
  rotate(stored, table, /*is_inverse=*/true, x);
}

// The part from the embedding is normed as if it were divided by √d_model before. The norm's gain and the table's
// factor hold the 1/√2 of the sum.
SlotId PlanWriter::write_layer_inputs(const Weights& weights, SlotId x) {
  const Config& c = plan_.config;
  const int width = c.n_layers * c.per_layer_width;
  const SlotId inputs = slot("layer_inputs", width), rows = slot("layer_rows", width);
  embed_on_host(weights.per_layer_embd, std::sqrt(static_cast<float>(c.per_layer_width) / 2), rows);
  write_embedding(weights.token_embd, x);
  LinearInput in = x;
  linear_layer(in, weights.per_layer_proj, inputs);
  head_norm(inputs, weights.per_layer_norm, c.n_layers, static_cast<float>(c.d_model));
  add(rows, inputs);
  return inputs;
}

Plan PlanWriter::decoder(const Weights& weights, LayerRange layers, SlotId x, const PlanOptions& options,
                         const WriteLayer& write_layer) {
  SlotId layer_inputs;
  if (layers.first > 0) {
    hidden(x);
  } else if (plan_.config.per_layer_width > 0) {
    layer_inputs = write_layer_inputs(weights, x);
  } else {
    write_embedding(weights.token_embd, x);
  }
  for (int i = layers.first; i < layers.end; ++i) {
    section(format_text("blk.{}.", i));
    write_layer(weights.layers[static_cast<size_t>(i)], i - layers.first, layer_inputs);
  }
  section("");
  return layers.end == std::ssize(weights.layers) ? head(weights, x, options) : end_with_stream(x, options);
}

Plan PlanWriter::end_with_stream(SlotId x, const PlanOptions& options) {
  const SlotId last = slot("last", plan_.config.d_model, SlotType::kF32, RowsOf::kLogits);
  plan_.hidden = x;
  select_rows(x, last);
  return finish(last, options);
}

// A row has the same norm whether it is selected before or afterwards.
Plan PlanWriter::head(const Weights& weights, SlotId x, const PlanOptions& options) {
  const Config& c = plan_.config;
  const SlotId normed = slot("normed", c.d_model, SlotType::kF32, RowsOf::kLogits);
  if (options.keeps_hidden) {
    plan_.hidden = slot("hidden", c.d_model);
    rms_norm(x, weights.output_norm, plan_.hidden);
    select_rows(plan_.hidden, normed);
  } else {
    const SlotId last = slot("last", c.d_model, SlotType::kF32, RowsOf::kLogits);
    select_rows(x, last);
    rms_norm(last, weights.output_norm, normed);
  }
  if (options.embeddings) return finish(normed, options);
  const SlotId logits = slot("logits", c.n_vocab, SlotType::kF32, RowsOf::kLogits);
  LinearInput in = normed;
  linear(input_of(in, weights.output), weights.output, logits);
  if (c.logit_softcap > 0) softcap(logits, c.logit_softcap);
  return finish(logits, options);
}

Plan PlanWriter::finish(SlotId logits, const PlanOptions& options) {
  plan_.logits = logits;
  fuse(plan_, options.fuse);
  check_data_flow(plan_);
  assign_buffers(plan_);
  return std::move(plan_);
}

}  // namespace tern
