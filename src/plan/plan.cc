#include "plan/plan.h"

#include "base/text/format_text.h"

namespace tern {

SlotUses slot_uses(const StepBody& body) {
  return std::visit([](const auto& s) { return s.uses(); }, body);
}

namespace {

#define TERN_NAME_STEP(Type, name, Op) \
  std::string_view name_of(const step::Type& /*step*/) { return name; }
TERN_STEPS(TERN_NAME_STEP)
#undef TERN_NAME_STEP

}  // namespace

std::string_view op_name(const StepBody& body) {
  return std::visit([](const auto& s) { return name_of(s); }, body);
}

namespace {

const char* direction(const SlotUse& use) {
  if (use.scratch) return "~";
  if (use.reads) return use.writes ? "±" : "<";
  return ">";
}

}  // namespace

std::string describe(const Plan& plan) {
  std::string text;
  for (const Step& step : plan.steps) {
    text += format_text("{:<24} {:<18}", step.name, op_name(step.body));
    for (const SlotUse& use : slot_uses(step.body)) {
      const Slot& slot = plan.slot(use.slot);
      text += format_text(" {}{}[{}]@{}", direction(use), slot.name, slot.width, slot.buffer);
    }
    text += '\n';
  }
  return text;
}

}  // namespace tern
