// The forward pass of Qwen3: Llama's, with a norm for every head of q and k before RoPE.

#include "plan/family_plans.h"
#include "plan/plan_writer.h"

namespace tern {
namespace {

struct Qwen3Slots {
  SlotId x;            // [d_model] residual stream
  SlotId h;            // [d_model] normed
  SlotId q, k, v;      // [n_heads, head_dim], [n_kv_heads, head_dim] twice
  SlotId a;            // [n_heads, head_dim] attention output
  SlotId gate, up, f;  // [d_ff]
  SlotId o;            // [d_model] what the layer adds to x
};

void write_attention(PlanWriter& p, const Layer& l, const Qwen3Slots& s, const Config& c, int layer) {
  p.rms_norm(s.x, l.attn_norm, s.h);
  p.linear(s.h, l.attn_q, s.q);
  p.linear(s.h, l.attn_k, s.k);
  p.linear(s.h, l.attn_v, s.v);
  p.head_norm(s.q, l.attn_q_norm, c.n_heads);
  p.head_norm(s.k, l.attn_k_norm, c.n_kv_heads);
  p.rope(s.q, c.n_heads);
  p.rope(s.k, c.n_kv_heads);
  p.kv_append(s.k, s.v, layer);
  p.attention(s.q, layer, s.a);
  p.linear(s.a, l.attn_output, s.o);
  p.add(s.o, s.x);
}

void write_feed_forward(PlanWriter& p, const Layer& l, const Qwen3Slots& s) {
  p.rms_norm(s.x, l.ffn_norm, s.h);
  p.linear(s.h, l.ffn_gate, s.gate);
  p.linear(s.h, l.ffn_up, s.up);
  p.glu_mul(s.gate, s.up, s.f);
  p.linear(s.f, l.ffn_down, s.o);
  p.add(s.o, s.x);
}

}  // namespace

Plan make_qwen3_plan(const Config& c, const Weights& weights, const PlanOptions& options) {
  PlanWriter p(c);
  const Qwen3Slots s{.x = p.slot("x", c.d_model),
                     .h = p.slot("h", c.d_model),
                     .q = p.slot("q", c.q_width()),
                     .k = p.slot("k", c.kv_width()),
                     .v = p.slot("v", c.kv_width()),
                     .a = p.slot("a", c.q_width()),
                     .gate = p.slot("gate", c.d_ff),
                     .up = p.slot("up", c.d_ff),
                     .f = p.slot("f", c.d_ff),
                     .o = p.slot("o", c.d_model)};
  return p.decoder(weights, s.x, options, [&](const Layer& l, int layer) {
    write_attention(p, l, s, c, layer);
    write_feed_forward(p, l, s);
  });
}

}  // namespace tern
