#include "plan/expand.h"

namespace tern {
namespace {

using Bodies = std::vector<StepBody>;

// Writes the norm that a step does on read as a step of its own before it. Returns the slot that the step then reads.
SlotId expand_norm(SlotId in, const step::NormOnRead& norm, Bodies& out) {
  if (!norm.gain) return in;
  out.push_back(step::RmsNormQuantize{in, norm.gain, norm.eps, norm.quantized});
  return norm.quantized;
}

SlotId expand_norm(SlotId in, const step::FloatNormOnRead& norm, Bodies& out) {
  if (!norm.gain) return in;
  out.push_back(step::RmsNorm{in, norm.gain, norm.eps, norm.normed});
  return norm.normed;
}

void expand_heads(const step::FloatHeads& h, Bodies& out) {
  if (h.q_gain) out.push_back(step::HeadNorm{h.q, h.q_gain, h.eps, h.n_heads, h.head_dim});
  if (h.k_gain) out.push_back(step::HeadNorm{h.k, h.k_gain, h.eps, h.n_kv_heads, h.head_dim});
  if (h.v_gain) out.push_back(step::HeadNorm{h.v, h.v_gain, h.eps, h.n_kv_heads, h.head_dim});
  out.insert(out.end(), {step::Rope{h.q, h.n_heads, h.head_dim, h.rope, h.pairs, h.n_dims},
                         step::Rope{h.k, h.n_kv_heads, h.head_dim, h.rope, h.pairs, h.n_dims},
                         step::KvAppend{h.k, h.v, h.layer, h.n_kv_heads, h.head_dim}});
}

void expand_bias(const Tensor* bias, SlotId x, Bodies& out) {
  if (bias) out.push_back(step::AddBias{x, bias});
}

struct Expand {
  Bodies operator()(const step::TernaryQkv& s) const {
    Bodies out;
    const SlotId in = expand_norm(s.in, s.norm, out);
    out.insert(out.end(), {step::TernaryLinear{in, s.wq, s.q}, step::TernaryLinear{in, s.wk, s.k},
                           step::TernaryLinear{in, s.wv, s.v}, step::Rope{s.q, s.n_heads, s.head_dim, s.rope, s.pairs},
                           step::Rope{s.k, s.n_kv_heads, s.head_dim, s.rope, s.pairs},
                           step::KvAppend{s.k, s.v, s.layer, s.n_kv_heads, s.head_dim}});
    return out;
  }
  Bodies operator()(const step::FloatQkv& s) const {
    Bodies out;
    const SlotId in = expand_norm(s.in, s.norm, out);
    const step::FloatHeads& h = s.heads;
    const SlotId q = h.is_gated() ? h.q_gate : h.q;
    out.push_back(step::FloatLinear{in, s.wq, q});
    expand_bias(s.q_bias, q, out);
    if (h.is_gated()) out.push_back(step::SplitHeads{h.q_gate, h.q, h.gate, h.n_heads, h.head_dim});
    out.push_back(step::FloatLinear{in, s.wk, h.k});
    expand_bias(s.k_bias, h.k, out);
    out.push_back(step::FloatLinear{in, s.wv, h.v});
    expand_bias(s.v_bias, h.v, out);
    if (!s.leaves_heads) expand_heads(h, out);
    return out;
  }
  Bodies operator()(const step::FloatStack& s) const {
    Bodies out;
    const SlotId in = expand_norm(s.in, s.norm, out);
    for (const auto& part : s.parts) out.push_back(step::FloatLinear{in, part.w, part.out});
    return out;
  }
  Bodies operator()(const step::GatedDelta& s) const { return {s.conv, s.rule, s.normed}; }
  Bodies operator()(const step::FloatLinear& s) const {
    Bodies out;
    const SlotId in = expand_norm(s.in, s.norm, out);
    out.push_back(step::FloatLinear{in, s.w, s.out});
    expand_bias(s.bias, s.out, out);
    return out;
  }
  Bodies operator()(const step::FloatLinearAdd& s) const {
    if (!s.bias) return {s};
    return {step::FloatLinear{s.in, s.w, s.sum}, step::AddBias{s.sum, s.bias}, step::Add{s.sum, s.x}};
  }
  Bodies operator()(const step::RmsNormAdd& s) const { return {s.norm, step::Add{s.norm.out, s.x, s.scale}}; }
  Bodies operator()(const step::MixExpertsAdd& s) const { return {s.mix, step::Add{s.mix.out, s.x}}; }
  template <class S>
    requires requires(S s) { s.norm; }
  Bodies operator()(const S& s) const {
    Bodies out;
    S plain = s;
    plain.in = expand_norm(s.in, s.norm, out);
    plain.norm = {};
    if constexpr (requires { plain.next; }) plain.next = {};
    out.emplace_back(plain);
    return out;
  }
  Bodies operator()(const step::Attention& s) const {
    Bodies out;
    if (s.heads) expand_heads(*s.heads, out);
    step::Attention plain = s;
    plain.next = {};
    plain.heads = {};
    out.emplace_back(plain);
    return out;
  }
  template <class S>
  Bodies operator()(const S& s) const {
    return {s};
  }
};

}  // namespace

ExpandedPlan expand(const Plan& original) {
  ExpandedPlan expanded{.plan = original, .completes = {}};
  expanded.plan.steps.clear();
  for (const Step& step : original.steps) {
    for (const StepBody& body : std::visit(Expand{}, step.body)) {
      expanded.plan.steps.push_back({step.name, body});
      expanded.completes.push_back(nullptr);
    }
    expanded.completes.back() = &step;
  }
  return expanded;
}

}  // namespace tern
