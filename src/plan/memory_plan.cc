#include "plan/memory_plan.h"

#include <algorithm>

#include "base/check.h"

namespace tern {
namespace {

// The steps from the one that writes a slot to the last that reads it before the next write. Layers reuse slots, so a
// slot has many lives.
struct Life {
  int first;
  int last;
};

std::vector<std::vector<Life>> find_lives(const Plan& plan) {
  std::vector<std::vector<Life>> lives(plan.slots.size());
  for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i) {
    for (const SlotUse& use : slot_uses(plan.steps[static_cast<size_t>(i)].body)) {
      auto& of_slot = lives[static_cast<size_t>(use.slot.index)];
      if (use.reads) {
        of_slot.back().last = i;
      } else {
        of_slot.push_back({i, i});
      }
    }
  }
  // The caller reads these after the last step.
  for (const SlotId kept : {plan.logits, plan.hidden}) {
    if (kept == SlotId{}) continue;
    auto& of_slot = lives[static_cast<size_t>(kept.index)];
    if (!of_slot.empty()) of_slot.back().last = static_cast<int>(plan.steps.size());
  }
  return lives;
}

bool overlap(const std::vector<Life>& a, const std::vector<Life>& b) {
  return std::ranges::any_of(a, [&](const Life& p) {
    return std::ranges::any_of(b, [&](const Life& q) { return p.first <= q.last && q.first <= p.last; });
  });
}

}  // namespace

void check_data_flow(const Plan& plan) {
  std::vector<bool> written(plan.slots.size(), false);
  for (const Step& step : plan.steps) {
    const auto uses = slot_uses(step.body);
    for (size_t i = 0; i < uses.size(); ++i) {
      if (uses[i].reads) CHECK(written[static_cast<size_t>(uses[i].slot.index)]);
      for (size_t j = 0; j < i; ++j) CHECK(!(uses[i].slot == uses[j].slot && (uses[i].writes || uses[j].writes)));
    }
    for (const SlotUse& use : uses) {
      if (use.writes) written[static_cast<size_t>(use.slot.index)] = !use.scratch;
    }
  }
  CHECK(written[static_cast<size_t>(plan.logits.index)]);
}

void assign_buffers(Plan& plan) {
  const auto lives = find_lives(plan);
  std::vector<std::vector<size_t>> tenants;  // slots per buffer
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    Slot& slot = plan.slots[i];
    if (lives[i].empty()) continue;  // its steps were fused away
    size_t b = 0;
    for (; b < plan.buffers.size(); ++b) {
      const Buffer& buffer = plan.buffers[b];
      if (buffer.type != slot.type || buffer.rows != slot.rows) continue;
      if (std::ranges::none_of(tenants[b], [&](size_t other) { return overlap(lives[i], lives[other]); })) break;
    }
    if (b == plan.buffers.size()) {
      plan.buffers.push_back({.type = slot.type, .rows = slot.rows, .width = 0});
      tenants.emplace_back();
    }
    plan.buffers[b].width = std::max(plan.buffers[b].width, slot.width);
    tenants[b].push_back(i);
    slot.buffer = static_cast<int>(b);
  }
}

}  // namespace tern
