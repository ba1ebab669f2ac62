#include "plan/fuse.h"

#include <optional>
#include <span>
#include <utility>

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

// The slot in which a step leaves floats that a norm may read, and where it would put what the norm wants to know.
std::pair<SlotId, step::StatsOnWrite*> stats_writer(StepBody& body) {
  if (auto* s = std::get_if<step::TernaryLinearAdd>(&body)) return {s->x, &s->next};
  if (auto* s = std::get_if<step::TernaryGlu>(&body)) return {s->out, &s->next};
  if (auto* s = std::get_if<step::Attention>(&body)) return {s->out, &s->next};
  return {};
}

// The input of a step that can norm and quantise it, and where it is told how.
std::pair<SlotId*, step::NormOnRead*> norm_reader(StepBody& body) {
  if (auto* s = std::get_if<step::TernaryLinearAdd>(&body)) return {&s->in, &s->norm};
  if (auto* s = std::get_if<step::TernaryGlu>(&body)) return {&s->in, &s->norm};
  if (auto* s = std::get_if<step::TernaryQkv>(&body)) return {&s->in, &s->norm};
  return {};
}

// Moves the rms_norm_quantize of steps[at] into the steps before and after it. True where it could.
bool fuse_norm_into_neighbours(Plan& plan, size_t at) {
  const auto* norm = std::get_if<step::RmsNormQuantize>(&plan.steps[at].body);
  if (!norm || at == 0 || at + 1 == plan.steps.size()) return false;
  const auto [written, next] = stats_writer(plan.steps[at - 1].body);
  const auto [in, on_read] = norm_reader(plan.steps[at + 1].body);
  if (!next || !in || written != norm->in || *in != norm->out || next->gain || on_read->gain) return false;
  if (!is_dead_after(norm->out, Steps(plan.steps).subspan(at + 2))) return false;
  const Slot& x = plan.slot(norm->in);
  const SlotId stats{static_cast<int>(plan.slots.size())};
  plan.slots.push_back({.name = x.name + "_stats", .type = SlotType::kNormStats, .rows = x.rows, .width = x.width});
  *next = {.gain = norm->gain, .stats = stats};
  *on_read = {.gain = norm->gain, .eps = norm->eps, .stats = stats, .quantized = norm->out};
  *in = norm->in;
  return true;
}

void fuse_norms(Plan& plan) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (!fuse_norm_into_neighbours(plan, i)) continue;
    plan.steps.erase(plan.steps.begin() + static_cast<ptrdiff_t>(i));
    --i;
  }
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
  if (wanted.norms) fuse_norms(plan);
}

}  // namespace tern
