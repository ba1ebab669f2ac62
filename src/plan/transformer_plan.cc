// The forward pass of every model that Tern runs (docs/numerics.md has the equations): Llama's, and what a family adds
// to it wherever a layer has the tensors.

#include "plan/plan.h"
#include "plan/plan_writer.h"

namespace tern {
namespace {

struct Slots {
  SlotId x;               // [d_model] residual stream
  LinearInput h;          // [d_model] normed
  SlotId q, k, v;         // [n_heads, head_dim], [n_kv_heads, head_dim] twice
  LinearInput a, a_norm;  // [n_heads, head_dim] attention output, and normed
  SlotId gate, up;        // [d_ff]
  LinearInput f, f_norm;  // [d_ff] gated, and normed
  SlotId o, o_norm;       // [d_model] what the layer adds to x, and normed
};

void add_to_stream(PlanWriter& p, const Tensor& post_norm, const Slots& s) {
  if (!post_norm.is_present()) return p.add(s.o, s.x);
  p.rms_norm(s.o, post_norm, s.o_norm);
  p.add(s.o_norm, s.x);
}

// `values`, or their norm where there is one.
LinearInput& normed(PlanWriter& p, LinearInput& values, const Tensor& norm, LinearInput& out) {
  if (!norm.is_present()) return values;
  p.rms_norm(values, norm, out);
  return out;
}

void write_attention(PlanWriter& p, const Layer& l, Slots& s, const Config& c, int layer) {
  p.rms_norm(s.x, l.attn_norm, s.h);
  p.linear_layer(s.h, l.attn_q, s.q);
  p.linear_layer(s.h, l.attn_k, s.k);
  p.linear_layer(s.h, l.attn_v, s.v);
  if (l.attn_q_norm.is_present()) p.head_norm(s.q, l.attn_q_norm, c.n_heads);
  if (l.attn_k_norm.is_present()) p.head_norm(s.k, l.attn_k_norm, c.n_kv_heads);
  p.rope(s.q, c.n_heads, layer);
  p.rope(s.k, c.n_kv_heads, layer);
  p.kv_append(s.k, s.v, layer);
  p.attention(s.q, layer, s.a);
  p.linear_layer(normed(p, s.a, l.attn_sub_norm, s.a_norm), l.attn_output, s.o);
  add_to_stream(p, l.attn_post_norm, s);
}

void write_feed_forward(PlanWriter& p, const Layer& l, Slots& s) {
  p.rms_norm(s.x, l.ffn_norm, s.h);
  p.linear_layer(s.h, l.ffn_gate, s.gate);
  p.linear_layer(s.h, l.ffn_up, s.up);
  p.glu_mul(s.gate, s.up, s.f);
  p.linear_layer(normed(p, s.f, l.ffn_sub_norm, s.f_norm), l.ffn_down, s.o);
  add_to_stream(p, l.ffn_post_norm, s);
}

}  // namespace

Plan make_plan(const Config& c, const Weights& weights, const PlanOptions& options) {
  PlanWriter p(c);
  Slots s{.x = p.slot("x", c.d_model),
          .h = p.slot("h", c.d_model),
          .q = p.slot("q", c.q_width()),
          .k = p.slot("k", c.kv_width()),
          .v = p.slot("v", c.kv_width()),
          .a = p.slot("a", c.q_width()),
          .a_norm = p.slot("a_norm", c.q_width()),
          .gate = p.slot("gate", c.d_ff),
          .up = p.slot("up", c.d_ff),
          .f = p.slot("f", c.d_ff),
          .f_norm = p.slot("f_norm", c.d_ff),
          .o = p.slot("o", c.d_model),
          .o_norm = p.slot("o_norm", c.d_model)};
  return p.decoder(weights, s.x, options, [&](const Layer& l, int layer) {
    write_attention(p, l, s, c, layer);
    write_feed_forward(p, l, s);
  });
}

}  // namespace tern
