#include "plan/fuse.h"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "plan/fuse_rules.h"

namespace tern {
namespace {

struct Rewrite {
  size_t n_replaced;
  Step step;
};

std::optional<Rewrite> fuse_norm_and_quantize(Steps steps, Plan& /*plan*/) {
  const auto* norm = as<step::RmsNorm>(steps, 0);
  const auto* quantize = as<step::Quantize>(steps, 1);
  if (!norm || !quantize || quantize->in != norm->out || !is_dead_after(norm->out, steps.subspan(2))) return {};
  return Rewrite{2, {steps[0].name, step::RmsNormQuantize{norm->in, norm->gain, norm->eps, quantize->out}}};
}

template <class Linear, class LinearAdd>
std::optional<Rewrite> fuse_linear_and_add(Steps steps, Plan& /*plan*/) {
  const auto* linear = as<Linear>(steps, 0);
  const auto* add = as<step::Add>(steps, 1);
  if (!linear || !add || add->in != linear->out || add->scale != 1 || !is_dead_after(linear->out, steps.subspan(2)))
    return {};
  Rewrite rewrite{2, {steps[0].name, LinearAdd{linear->in, linear->w, add->x}}};
  if constexpr (requires { linear->bias; }) {
    auto& fused = std::get<LinearAdd>(rewrite.step.body);
    if (linear->bias) fused.bias = linear->bias, fused.sum = linear->out;
  }
  return rewrite;
}

template <class Linear, class Glu>
std::optional<Rewrite> fuse_glu(Steps steps, Plan& /*plan*/) {
  const auto* gate = as<Linear>(steps, 0);
  const auto* up = as<Linear>(steps, 1);
  const auto* mul = as<step::GluMul>(steps, 2);
  if (!gate || !up || !mul || gate->in != up->in || mul->gate != gate->out || mul->up != up->out) return {};
  if (mul->first_up != 0) return {};
  if constexpr (requires { gate->bias; }) {
    if (gate->bias || up->bias) return {};
  }
  if (!is_dead_after(gate->out, steps.subspan(3)) || !is_dead_after(up->out, steps.subspan(3))) return {};
  return Rewrite{3, {steps[0].name + "_up", Glu{gate->in, gate->w, up->w, mul->act, mul->out}}};
}

// The projections of attention and the steps after them, up to the attention step that reads the query.
template <class Linear>
struct Projections {
  const Linear *q, *k, *v;
  const step::SplitHeads* split;  // gates of attention come with the queries; or null
  SlotId query;
  const step::HeadNorm *norm_q = nullptr, *norm_k = nullptr;  // both or none
  const step::HeadNorm* norm_v = nullptr;                     // or null
  const step::Rope *rope_q, *rope_k;
  const step::KvAppend* append;
  size_t n_steps;
};

template <class Linear>
std::optional<Projections<Linear>> find_projections(Steps steps) {
  const auto* split = as<step::SplitHeads>(steps, 1);
  const size_t at_k = split ? 2 : 1;
  Projections<Linear> p{.q = as<Linear>(steps, 0),
                        .k = as<Linear>(steps, at_k),
                        .v = as<Linear>(steps, at_k + 1),
                        .split = split,
                        .query = {},
                        .norm_q = as<step::HeadNorm>(steps, at_k + 2),
                        .norm_k = as<step::HeadNorm>(steps, at_k + 3),
                        .rope_q = nullptr,
                        .rope_k = nullptr,
                        .append = nullptr,
                        .n_steps = at_k + 2};
  if (p.norm_q || p.norm_k) p.n_steps += 2;
  if ((p.norm_v = as<step::HeadNorm>(steps, p.n_steps))) ++p.n_steps;
  p.rope_q = as<step::Rope>(steps, p.n_steps);
  p.rope_k = as<step::Rope>(steps, p.n_steps + 1);
  p.append = as<step::KvAppend>(steps, p.n_steps + 2);
  p.n_steps += 3;
  const auto* attention = as<step::Attention>(steps, p.n_steps);
  if (!p.q || !p.k || !p.v || !p.rope_q || !p.rope_k || !p.append || !attention) return {};
  p.query = split ? split->q : p.q->out;
  if (p.k->in != p.q->in || p.v->in != p.q->in || p.rope_q->x != p.query || p.rope_k->x != p.k->out) return {};
  if (p.append->k != p.k->out || p.append->v != p.v->out) return {};
  if (attention->q != p.query || attention->layer != p.append->layer) return {};
  if (p.rope_q->head_dim != p.rope_k->head_dim || p.rope_q->rope != p.rope_k->rope) return {};
  if (p.rope_q->pairs != p.rope_k->pairs || p.rope_q->n_dims != p.rope_k->n_dims) return {};
  // A norm may also be of all heads together.
  for (const step::HeadNorm* norm : {p.norm_q, p.norm_k, p.norm_v}) {
    if (norm && norm->head_dim != p.rope_q->head_dim) return {};
  }
  if (p.norm_v && (!p.norm_q || p.norm_v->x != p.v->out || p.norm_v->eps != p.norm_q->eps)) return {};
  const Steps rest = steps.subspan(p.n_steps);
  if (!is_dead_after(p.k->out, rest) || !is_dead_after(p.v->out, rest)) return {};
  if (split && (split->in != p.q->out || !is_dead_after(p.q->out, rest))) return {};
  return p;
}

// The step that applies the gates, after the attention step that `rest` begins with; null if it is not the only one to
// read them.
const step::SigmoidMul* gating(Steps rest, SlotId gate) {
  const auto* s = as<step::SigmoidMul>(rest, 1);
  return s && s->gate == gate && is_dead_after(gate, rest.subspan(2)) ? s : nullptr;
}

std::optional<Rewrite> fuse_qkv(Steps steps, Plan& /*plan*/) {
  const auto p = find_projections<step::TernaryLinear>(steps);
  if (!p || p->norm_q || p->norm_k || p->split || p->rope_q->n_dims > 0) return {};
  return Rewrite{p->n_steps,
                 {steps[0].name + "kv", step::TernaryQkv{.in = p->q->in,
                                                         .wq = p->q->w,
                                                         .wk = p->k->w,
                                                         .wv = p->v->w,
                                                         .q = p->q->out,
                                                         .k = p->k->out,
                                                         .v = p->v->out,
                                                         .layer = p->append->layer,
                                                         .n_heads = p->rope_q->n_heads,
                                                         .n_kv_heads = p->rope_k->n_heads,
                                                         .head_dim = p->rope_q->head_dim,
                                                         .rope = p->rope_q->rope,
                                                         .pairs = p->rope_q->pairs}}};
}

// The slot for the results of all three projections. Layers with equally wide projections share it.
SlotId qkv_slot(Plan& plan, SlotId q, SlotId k) {
  return shared_slot(plan, "qkv", plan.slot(q), plan.slot(q).width + 2 * plan.slot(k).width);
}

std::optional<Rewrite> fuse_float_qkv(Steps steps, Plan& plan) {
  const auto p = find_projections<step::FloatLinear>(steps);
  if (!p) return {};
  const bool has_biases = p->q->bias && p->k->bias && p->v->bias;
  if (!has_biases && (p->q->bias || p->k->bias || p->v->bias)) return {};
  const bool has_norms = p->norm_q && p->norm_k;
  if (!has_norms && (p->norm_q || p->norm_k)) return {};
  if (p->split && !gating(steps.subspan(p->n_steps), p->split->gate)) return {};
  if (p->rope_q->n_dims > 0 && p->rope_q->pairs != RopePairs::kHalves) return {};
  if (has_norms && (p->norm_q->x != p->query || p->norm_k->x != p->k->out || p->norm_q->eps != p->norm_k->eps)) {
    return {};
  }
  return Rewrite{p->n_steps,
                 {steps[0].name + "kv", step::FloatQkv{.in = p->q->in,
                                                       .wq = p->q->w,
                                                       .wk = p->k->w,
                                                       .wv = p->v->w,
                                                       .heads = {.q = p->query,
                                                                 .k = p->k->out,
                                                                 .v = p->v->out,
                                                                 .qkv = qkv_slot(plan, p->q->out, p->k->out),
                                                                 .q_gain = has_norms ? p->norm_q->gain : nullptr,
                                                                 .k_gain = has_norms ? p->norm_k->gain : nullptr,
                                                                 .v_gain = p->norm_v ? p->norm_v->gain : nullptr,
                                                                 .eps = has_norms ? p->norm_q->eps : 0,
                                                                 .layer = p->append->layer,
                                                                 .n_heads = p->rope_q->n_heads,
                                                                 .n_kv_heads = p->rope_k->n_heads,
                                                                 .head_dim = p->rope_q->head_dim,
                                                                 .rope = p->rope_q->rope,
                                                                 .pairs = p->rope_q->pairs,
                                                                 .n_dims = p->rope_q->n_dims,
                                                                 .q_gate = p->split ? p->q->out : SlotId{},
                                                                 .gate = p->split ? p->split->gate : SlotId{}},
                                                       .q_bias = p->q->bias,
                                                       .k_bias = p->k->bias,
                                                       .v_bias = p->v->bias}}};
}

// Lets the steps that apply gates find them where float_qkv leaves them.
void find_gates(Plan& plan) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const auto* qkv = as<step::FloatQkv>(plan.steps, i);
    if (!qkv || !qkv->heads.is_gated()) continue;
    auto& gating = std::get<step::SigmoidMul>(plan.steps[i + 2].body);
    gating.rows = qkv->heads.qkv;
    gating.head_dim = qkv->heads.head_dim;
  }
}

// The slot of floats that a step writes, and the field that makes it leave statistics for the norm of that slot.
std::pair<SlotId, step::StatsOnWrite*> stats_writer(StepBody& body) {
  if (auto* s = std::get_if<step::TernaryLinearAdd>(&body)) return {s->x, &s->next};
  if (auto* s = std::get_if<step::TernaryGlu>(&body)) return {s->out, &s->next};
  if (auto* s = std::get_if<step::Attention>(&body)) return {s->out, &s->next};
  return {};
}

// The input slot of a step that can norm and quantize its input, and the field that makes it do so.
std::pair<SlotId*, step::NormOnRead*> norm_reader(StepBody& body) {
  if (auto* s = std::get_if<step::TernaryLinearAdd>(&body)) return {&s->in, &s->norm};
  if (auto* s = std::get_if<step::TernaryGlu>(&body)) return {&s->in, &s->norm};
  if (auto* s = std::get_if<step::TernaryQkv>(&body)) return {&s->in, &s->norm};
  return {};
}

// Moves the rms_norm_quantize of steps[at] into the steps before and after it. Returns false if it cannot.
bool fuse_norm_into_neighbors(Plan& plan, size_t at) {
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

std::pair<SlotId*, step::FloatNormOnRead*> float_norm_reader(StepBody& body) {
  if (auto* s = std::get_if<step::FloatLinear>(&body)) return {&s->in, &s->norm};
  if (auto* s = std::get_if<step::FloatGlu>(&body)) return {&s->in, &s->norm};
  if (auto* s = std::get_if<step::FloatQkv>(&body)) return {&s->in, &s->norm};
  if (auto* s = std::get_if<step::FloatStack>(&body)) return {&s->in, &s->norm};
  if (auto* s = std::get_if<step::ExpertGlu>(&body)) return {&s->in, &s->norm};
  if (auto* s = std::get_if<step::Rotate>(&body); s && !s->is_inverse) return {&s->in, &s->norm};
  return {};
}

// The steps after steps[at], an rms_norm, that read its result, if each of them can norm what it reads; else none.
std::vector<size_t> readers_of_norm(Plan& plan, size_t at, const step::RmsNorm& norm) {
  std::vector<size_t> readers;
  for (size_t i = at + 1; i < plan.steps.size(); ++i) {
    StepBody& body = plan.steps[i].body;
    bool changes_in = false, overwrites_out = false;
    for (const SlotUse& use : slot_uses(body)) {
      changes_in |= use.slot == norm.in && use.writes;
      if (use.slot != norm.out) continue;
      if (!use.reads) {
        overwrites_out = true;
        continue;
      }
      const auto [in, on_read] = float_norm_reader(body);
      if (!in || *in != norm.out || on_read->gain) return {};
      readers.push_back(i);
    }
    if (overwrites_out) break;
    if (changes_in) {
      if (!is_dead_after(norm.out, Steps(plan.steps).subspan(i + 1))) return {};
      break;
    }
  }
  return readers;
}

// Moves the rms_norm of steps[at] into the steps that read its result. Returns false if it cannot.
bool fuse_norm_into_readers(Plan& plan, size_t at) {
  const auto* norm = std::get_if<step::RmsNorm>(&plan.steps[at].body);
  if (!norm) return false;
  const auto readers = readers_of_norm(plan, at, *norm);
  for (const size_t reader : readers) {
    const auto [in, on_read] = float_norm_reader(plan.steps[reader].body);
    *on_read = {.gain = norm->gain, .eps = norm->eps, .normed = norm->out};
    *in = norm->in;
  }
  return !readers.empty();
}

void fuse_norms(Plan& plan) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (!fuse_norm_into_neighbors(plan, i) && !fuse_norm_into_readers(plan, i)) continue;
    plan.steps.erase(plan.steps.begin() + static_cast<ptrdiff_t>(i));
    --i;
  }
}

// Lets attention make the heads that it reads, unless another step reads them too or attention must leave statistics
// for a norm.
void fuse_heads(Plan& plan) {
  for (size_t i = 0; i + 1 < plan.steps.size(); ++i) {
    auto* qkv = std::get_if<step::FloatQkv>(&plan.steps[i].body);
    auto* attention = std::get_if<step::Attention>(&plan.steps[i + 1].body);
    if (!qkv || !attention || attention->q != qkv->heads.q || attention->next.gain) continue;
    if (!is_dead_after(qkv->heads.q, Steps(plan.steps).subspan(i + 2))) continue;
    qkv->leaves_heads = true;
    attention->heads = qkv->heads;
  }
}

// The input of a float linear step with packed weights, which may be quantized to int8 blocks; null for other steps.
SlotId* block_input(StepBody& body) {
  const auto is_packed = [](const Tensor& w) { return format_info(w.format).block > 1; };
  if (auto* s = std::get_if<step::FloatLinear>(&body)) return is_packed(*s->w) && !s->norm.gain ? &s->in : nullptr;
  if (auto* s = std::get_if<step::FloatLinearAdd>(&body)) return is_packed(*s->w) ? &s->in : nullptr;
  if (auto* s = std::get_if<step::ExpertLinear>(&body)) return is_packed(*s->w) ? &s->in : nullptr;
  if (auto* s = std::get_if<step::ExpertGlu>(&body)) {
    return is_packed(*s->w_gate) && is_packed(*s->w_up) ? &s->in : nullptr;
  }
  if (auto* s = std::get_if<step::FloatGlu>(&body)) {
    return is_packed(*s->w_gate) && is_packed(*s->w_up) && !s->norm.gain ? &s->in : nullptr;
  }
  return nullptr;
}

// Adds a step that quantizes each input that block_input() names, once per value that the slot takes.
void quantize_inputs(Plan& plan) {
  std::map<int, SlotId> quantized;  // by the index of the float slot
  std::set<int> is_current;         // float slots whose int8 blocks are up to date
  std::vector<Step> steps;
  for (Step& step : plan.steps) {
    if (SlotId* in = block_input(step.body)) {
      const Slot slot = plan.slot(*in);
      auto [at, is_new] = quantized.try_emplace(in->index, SlotId{static_cast<int>(plan.slots.size())});
      if (is_new) {
        plan.slots.push_back(
            {.name = slot.name + "_q", .type = SlotType::kInt8Blocks, .rows = slot.rows, .width = slot.width});
      }
      if (is_current.insert(in->index).second) {
        steps.push_back({step.name + " in", step::QuantizeBlocks{*in, at->second}});
      }
      *in = at->second;
    }
    for (const SlotUse& use : slot_uses(step.body)) {
      if (use.writes) is_current.erase(use.slot.index);
    }
    steps.push_back(std::move(step));
  }
  plan.steps = std::move(steps);
}

}  // namespace

SlotId shared_slot(Plan& plan, std::string_view name, const Slot& like, int width) {
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    if (plan.slots[i].name == name && plan.slots[i].width == width) return {static_cast<int>(i)};
  }
  plan.slots.push_back({.name = std::string(name), .type = SlotType::kF32, .rows = like.rows, .width = width});
  return {static_cast<int>(plan.slots.size()) - 1};
}

void fuse(Plan& plan, const Fusions& wanted) {
  if (wanted.biases) fuse_biases(plan);
  const struct {
    bool is_wanted;
    std::optional<Rewrite> (*match)(Steps, Plan&);
  } rewrites[] = {{wanted.norm_quantize, fuse_norm_and_quantize},
                  {wanted.linear_add, fuse_linear_and_add<step::TernaryLinear, step::TernaryLinearAdd>},
                  {wanted.linear_add, fuse_linear_and_add<step::FloatLinear, step::FloatLinearAdd>},
                  {wanted.glu, fuse_glu<step::TernaryLinear, step::TernaryGlu>},
                  {wanted.glu, fuse_glu<step::FloatLinear, step::FloatGlu>},
                  {wanted.qkv, fuse_qkv},
                  {wanted.qkv, fuse_float_qkv}};
  std::vector<Step> fused;
  for (size_t i = 0; i < plan.steps.size();) {
    const Steps rest = Steps(plan.steps).subspan(i);
    std::optional<Rewrite> rewrite;
    for (const auto& [is_wanted, match] : rewrites) {
      if (is_wanted && (rewrite = match(rest, plan))) break;
    }
    fused.push_back(rewrite ? std::move(rewrite->step) : plan.steps[i]);
    i += rewrite ? rewrite->n_replaced : 1;
  }
  plan.steps = std::move(fused);
  find_gates(plan);
  if (wanted.adds) fuse_adds(plan);
  if (wanted.delta) fuse_delta(plan);
  if (wanted.norms) fuse_norms(plan);
  if (wanted.heads) fuse_heads(plan);
  if (wanted.int8_blocks) quantize_inputs(plan);
  plan.int8_on_read = wanted.int8_on_read;
}

}  // namespace tern
