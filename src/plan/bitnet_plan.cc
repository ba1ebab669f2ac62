// The forward pass of BitNet b1.58 (docs/numerics.md has the equations).

#include "plan/family_plans.h"
#include "plan/plan_writer.h"

namespace tern {
namespace {

struct BitNetSlots {
  SlotId x;              // [d_model] residual stream
  SlotId h, hq;          // [d_model] normed, and as int8
  SlotId q, k, v;        // [n_heads, head_dim], [n_kv_heads, head_dim] twice
  SlotId a, a_norm, aq;  // [n_heads, head_dim] attention output, normed, and as int8
  SlotId gate, up, f;    // [d_ff]
  SlotId f_norm, fq;     // [d_ff] normed, and as int8
  SlotId o;              // [d_model] what the layer adds to x
};

void write_attention(PlanWriter& p, const Layer& l, const BitNetSlots& s, const Config& c, int layer) {
  p.rms_norm(s.x, l.attn_norm, s.h);
  p.quantize(s.h, s.hq);
  p.linear(s.hq, l.attn_q, s.q);
  p.linear(s.hq, l.attn_k, s.k);
  p.linear(s.hq, l.attn_v, s.v);
  p.rope(s.q, c.n_heads);
  p.rope(s.k, c.n_kv_heads);
  p.kv_append(s.k, s.v, layer);
  p.attention(s.q, layer, s.a);
  p.rms_norm(s.a, l.attn_sub_norm, s.a_norm);
  p.quantize(s.a_norm, s.aq);
  p.linear(s.aq, l.attn_output, s.o);
  p.add(s.o, s.x);
}

void write_feed_forward(PlanWriter& p, const Layer& l, const BitNetSlots& s) {
  p.rms_norm(s.x, l.ffn_norm, s.h);
  p.quantize(s.h, s.hq);
  p.linear(s.hq, l.ffn_gate, s.gate);
  p.linear(s.hq, l.ffn_up, s.up);
  p.glu_mul(s.gate, s.up, s.f);
  p.rms_norm(s.f, l.ffn_sub_norm, s.f_norm);
  p.quantize(s.f_norm, s.fq);
  p.linear(s.fq, l.ffn_down, s.o);
  p.add(s.o, s.x);
}

BitNetSlots make_slots(PlanWriter& p, const Config& c) {
  return {.x = p.slot("x", c.d_model),
          .h = p.slot("h", c.d_model),
          .hq = p.slot("hq", c.d_model, SlotType::kInt8),
          .q = p.slot("q", c.q_width()),
          .k = p.slot("k", c.kv_width()),
          .v = p.slot("v", c.kv_width()),
          .a = p.slot("a", c.q_width()),
          .a_norm = p.slot("a_norm", c.q_width()),
          .aq = p.slot("aq", c.q_width(), SlotType::kInt8),
          .gate = p.slot("gate", c.d_ff),
          .up = p.slot("up", c.d_ff),
          .f = p.slot("f", c.d_ff),
          .f_norm = p.slot("f_norm", c.d_ff),
          .fq = p.slot("fq", c.d_ff, SlotType::kInt8),
          .o = p.slot("o", c.d_model)};
}

}  // namespace

Plan make_bitnet_plan(const Config& config, const Weights& weights, const PlanOptions& options) {
  PlanWriter p(config);
  const BitNetSlots s = make_slots(p, config);
  return p.decoder(weights, s.x, options, [&](const Layer& l, int layer) {
    write_attention(p, l, s, config, layer);
    write_feed_forward(p, l, s);
  });
}

}  // namespace tern
