// The forward pass of Llama (and of what computes as it: Phi-3), with BitLinear layers or float ones.

#include "plan/family_plans.h"
#include "plan/plan_writer.h"

namespace tern {
namespace {

struct LlamaSlots {
  SlotId x;              // [d_model] residual stream
  SlotId h;              // [d_model] normed
  SlotId q, k, v;        // [n_heads, head_dim], [n_kv_heads, head_dim] twice
  SlotId a;              // [n_heads, head_dim] attention output
  SlotId gate, up, f;    // [d_ff]
  SlotId o;              // [d_model] what the layer adds to x
  SlotId h_q, a_q, f_q;  // int8, where the linear layers are BitLinear
};

void write_attention(PlanWriter& p, const Layer& l, LlamaSlots& s, const Config& c, int layer) {
  p.rms_norm(s.x, l.attn_norm, s.h);
  const SlotId h = p.linear_input(s.h, s.h_q);
  p.linear(h, l.attn_q, s.q);
  p.linear(h, l.attn_k, s.k);
  p.linear(h, l.attn_v, s.v);
  p.rope(s.q, c.n_heads);
  p.rope(s.k, c.n_kv_heads);
  p.kv_append(s.k, s.v, layer);
  p.attention(s.q, layer, s.a);
  p.linear(p.linear_input(s.a, s.a_q), l.attn_output, s.o);
  p.add(s.o, s.x);
}

void write_feed_forward(PlanWriter& p, const Layer& l, LlamaSlots& s) {
  p.rms_norm(s.x, l.ffn_norm, s.h);
  const SlotId h = p.linear_input(s.h, s.h_q);
  p.linear(h, l.ffn_gate, s.gate);
  p.linear(h, l.ffn_up, s.up);
  p.glu_mul(s.gate, s.up, s.f);
  p.linear(p.linear_input(s.f, s.f_q), l.ffn_down, s.o);
  p.add(s.o, s.x);
}

}  // namespace

Plan make_llama_plan(const Config& c, const Weights& weights, const PlanOptions& options) {
  PlanWriter p(c);
  LlamaSlots s{.x = p.slot("x", c.d_model),
               .h = p.slot("h", c.d_model),
               .q = p.slot("q", c.q_width()),
               .k = p.slot("k", c.kv_width()),
               .v = p.slot("v", c.kv_width()),
               .a = p.slot("a", c.q_width()),
               .gate = p.slot("gate", c.d_ff),
               .up = p.slot("up", c.d_ff),
               .f = p.slot("f", c.d_ff),
               .o = p.slot("o", c.d_model),
               .h_q = {},
               .a_q = {},
               .f_q = {}};
  return p.decoder(weights, s.x, options, [&](const Layer& l, int layer) {
    write_attention(p, l, s, c, layer);
    write_feed_forward(p, l, s);
  });
}

}  // namespace tern
