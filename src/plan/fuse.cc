#include "plan/fuse.h"

#include <optional>
#include <span>

namespace tern {
namespace {

using Steps = std::span<const Step>;

template <class T>
const T* as(Steps steps, size_t i) {
  return i < steps.size() ? std::get_if<T>(&steps[i].body) : nullptr;
}

// Nothing after `steps` reads what `slot` holds now: the next use of it is a write, or there is none.
bool is_dead_after(SlotId slot, Steps rest) {
  for (const Step& step : rest) {
    for (const SlotUse& use : slot_uses(step.body)) {
      if (use.slot == slot) return !use.reads;
    }
  }
  return true;
}

struct Rewrite {
  size_t n_replaced;
  Step step;
};

std::optional<Rewrite> fuse_norm_and_quantize(Steps steps) {
  const auto* norm = as<step::RmsNorm>(steps, 0);
  const auto* quantize = as<step::Quantize>(steps, 1);
  if (!norm || !quantize || quantize->in != norm->out || !is_dead_after(norm->out, steps.subspan(2))) return {};
  return Rewrite{2, {steps[0].name, step::RmsNormQuantize{norm->in, norm->gain, norm->eps, quantize->out}}};
}

std::optional<Rewrite> fuse_linear_and_add(Steps steps) {
  const auto* linear = as<step::TernaryLinear>(steps, 0);
  const auto* add = as<step::Add>(steps, 1);
  if (!linear || !add || add->in != linear->out || !is_dead_after(linear->out, steps.subspan(2))) return {};
  return Rewrite{2, {steps[0].name, step::TernaryLinearAdd{linear->in, linear->w, add->x}}};
}

std::optional<Rewrite> fuse_glu(Steps steps) {
  const auto* gate = as<step::TernaryLinear>(steps, 0);
  const auto* up = as<step::TernaryLinear>(steps, 1);
  const auto* mul = as<step::Relu2Mul>(steps, 2);
  if (!gate || !up || !mul || gate->in != up->in || mul->gate != gate->out || mul->up != up->out) return {};
  if (!is_dead_after(gate->out, steps.subspan(3)) || !is_dead_after(up->out, steps.subspan(3))) return {};
  return Rewrite{3, {steps[0].name + "_up", step::TernaryGlu{gate->in, gate->w, up->w, mul->out}}};
}

// The projections of attention, up to the step that reads the query.
std::optional<Rewrite> fuse_qkv(Steps steps) {
  const auto* q = as<step::TernaryLinear>(steps, 0);
  const auto* k = as<step::TernaryLinear>(steps, 1);
  const auto* v = as<step::TernaryLinear>(steps, 2);
  const auto* rope_q = as<step::Rope>(steps, 3);
  const auto* rope_k = as<step::Rope>(steps, 4);
  const auto* append = as<step::KvAppend>(steps, 5);
  const auto* attention = as<step::Attention>(steps, 6);
  if (!q || !k || !v || !rope_q || !rope_k || !append || !attention) return {};
  if (k->in != q->in || v->in != q->in || rope_q->x != q->out || rope_k->x != k->out) return {};
  if (append->k != k->out || append->v != v->out || attention->q != q->out || attention->layer != append->layer)
    return {};
  if (rope_q->head_dim != rope_k->head_dim || rope_q->theta != rope_k->theta || rope_q->pairs != rope_k->pairs)
    return {};
  if (!is_dead_after(k->out, steps.subspan(6)) || !is_dead_after(v->out, steps.subspan(6))) return {};
  return Rewrite{6,
                 {steps[0].name + "kv", step::TernaryQkv{.in = q->in,
                                                         .wq = q->w,
                                                         .wk = k->w,
                                                         .wv = v->w,
                                                         .q = q->out,
                                                         .k = k->out,
                                                         .v = v->out,
                                                         .layer = append->layer,
                                                         .n_heads = rope_q->n_heads,
                                                         .n_kv_heads = rope_k->n_heads,
                                                         .head_dim = rope_q->head_dim,
                                                         .theta = rope_q->theta,
                                                         .pairs = rope_q->pairs}}};
}

}  // namespace

void fuse(Plan& plan, const Fusions& wanted) {
  const struct {
    bool is_wanted;
    std::optional<Rewrite> (*match)(Steps);
  } rewrites[] = {{wanted.norm_quantize, fuse_norm_and_quantize},
                  {wanted.linear_add, fuse_linear_and_add},
                  {wanted.glu, fuse_glu},
                  {wanted.qkv, fuse_qkv}};
  std::vector<Step> fused;
  for (size_t i = 0; i < plan.steps.size();) {
    const Steps rest = Steps(plan.steps).subspan(i);
    std::optional<Rewrite> rewrite;
    for (const auto& [is_wanted, match] : rewrites) {
      if (is_wanted && (rewrite = match(rest))) break;
    }
    fused.push_back(rewrite ? std::move(rewrite->step) : plan.steps[i]);
    i += rewrite ? rewrite->n_replaced : 1;
  }
  plan.steps = std::move(fused);
}

}  // namespace tern
