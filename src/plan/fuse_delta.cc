#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "plan/fuse_rules.h"

namespace tern {
namespace {

// The steps of a recurrent layer from its first matrices to the norm of its output.
struct DeltaSteps {
  static constexpr size_t kMatrices = 4, kAll = kMatrices + 3;
  std::array<const step::FloatLinear*, kMatrices> linears;  // in the order of GatedDelta::rows
  const step::CausalConv* conv;
  const step::DeltaRule* rule;
  const step::GatedNorm* normed;
};

std::optional<DeltaSteps> find_delta(Steps steps) {
  DeltaSteps found{.linears = {},
                   .conv = as<step::CausalConv>(steps, DeltaSteps::kMatrices),
                   .rule = as<step::DeltaRule>(steps, DeltaSteps::kMatrices + 1),
                   .normed = as<step::GatedNorm>(steps, DeltaSteps::kMatrices + 2)};
  for (size_t i = 0; i < DeltaSteps::kMatrices; ++i) found.linears[i] = as<step::FloatLinear>(steps, i);
  if (!found.conv || !found.rule || !found.normed || std::ranges::contains(found.linears, nullptr)) return {};
  const SlotId inputs[] = {found.conv->in, found.normed->gate, found.rule->alpha, found.rule->beta};
  const Steps rest = steps.subspan(DeltaSteps::kAll);
  for (size_t i = 0; i < DeltaSteps::kMatrices; ++i) {
    if (found.linears[i]->bias || found.linears[i]->out != inputs[i] || !is_dead_after(inputs[i], rest)) return {};
  }
  if (found.rule->in != found.conv->out || found.normed->in != found.rule->out) return {};
  if (!is_dead_after(found.conv->out, rest) || !is_dead_after(found.rule->out, rest)) return {};
  return found;
}

// One stack for each run of matrices with one input and format: a kernel reads one format. Those that read what was not
// rotated come first, beside the rotation: so all that reads a norm follows it.
void add_stacks(Plan& plan, const DeltaSteps& delta, SlotId rows, std::span<const Step> named, std::vector<Step>& out) {
  std::vector<Step> stacks;
  const step::FloatLinear* last = nullptr;
  int first = 0;
  for (size_t i = 0; i < delta.linears.size(); ++i) {
    const step::FloatLinear* linear = delta.linears[i];
    if (!last || linear->in != last->in || linear->w->format != last->w->format) {
      stacks.push_back({named[i].name, step::FloatStack{.in = linear->in, .parts = {}, .out = rows, .first = first}});
    }
    std::get<step::FloatStack>(stacks.back().body).parts.push_back({linear->w, linear->out});
    first += plan.slot(linear->out).width;
    last = linear;
  }
  const auto stack_of = [](Step& step) -> step::FloatStack& { return std::get<step::FloatStack>(step.body); };
  const SlotId in = delta.linears.front()->in;
  std::ranges::stable_partition(stacks, [&](Step& step) { return stack_of(step).in != in; });
  for (size_t i = 1; i < stacks.size(); ++i) stack_of(stacks[i]).is_rest = true;
  out.insert(out.end(), stacks.begin(), stacks.end());
}

}  // namespace

void fuse_delta(Plan& plan) {
  std::vector<Step> fused;
  for (size_t i = 0; i < plan.steps.size();) {
    const Steps rest = Steps(plan.steps).subspan(i);
    const auto delta = find_delta(rest);
    if (!delta) {
      fused.push_back(plan.steps[i++]);
      continue;
    }
    int width = 0;
    for (const step::FloatLinear* linear : delta->linears) width += plan.slot(linear->out).width;
    const SlotId rows = shared_slot(plan, "delta_rows", plan.slot(delta->conv->in), width);
    add_stacks(plan, *delta, rows, rest, fused);
    fused.push_back(
        {rest[DeltaSteps::kMatrices + 1].name,
         step::GatedDelta{.rows = rows, .conv = *delta->conv, .rule = *delta->rule, .normed = *delta->normed}});
    i += DeltaSteps::kAll;
  }
  plan.steps = std::move(fused);
}

}  // namespace tern
