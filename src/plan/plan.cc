#include "plan/plan.h"

#include "base/text/format_text.h"

namespace tern {
namespace {

SlotUse reads(SlotId slot) { return {slot, true, false}; }
SlotUse writes(SlotId slot) { return {slot, false, true}; }
SlotUse updates(SlotId slot) { return {slot, true, true}; }
SlotUse scratch(SlotId slot) { return {slot, false, true, true}; }
SlotUse hidden(SlotId slot) { return {.slot = slot, .writes = true, .hidden = true}; }
SlotUse passes_on(SlotId slot) { return {.slot = slot, .reads = true, .writes = true, .hidden = true}; }

using List = std::vector<SlotUse>;

List with(List uses, const step::NormOnRead& norm) {
  if (norm.gain) uses.insert(uses.end(), {reads(norm.stats), scratch(norm.quantized)});
  return uses;
}
List with(List uses, const step::FloatNormOnRead& norm) {
  if (norm.gain) uses.push_back(scratch(norm.normed));
  return uses;
}
List with(List uses, const step::StatsOnWrite& next) {
  if (next.gain) uses.push_back(hidden(next.stats));
  return uses;
}

struct Uses {
  List operator()(const step::Embed& s) const { return {writes(s.out)}; }
  List operator()(const step::SelectRows& s) const { return {reads(s.in), writes(s.out)}; }
  List operator()(const step::RmsNorm& s) const { return {reads(s.in), writes(s.out)}; }
  List operator()(const step::Quantize& s) const { return {reads(s.in), writes(s.out)}; }
  List operator()(const step::TernaryLinear& s) const { return {reads(s.in), writes(s.out)}; }
  List operator()(const step::QuantizeBlocks& s) const { return {reads(s.in), writes(s.out)}; }
  List operator()(const step::FloatLinear& s) const { return with({reads(s.in), writes(s.out)}, s.norm); }
  List operator()(const step::HeadNorm& s) const { return {updates(s.x)}; }
  List operator()(const step::Rope& s) const { return {updates(s.x)}; }
  List operator()(const step::KvAppend& s) const { return {reads(s.k), reads(s.v)}; }
  List operator()(const step::Attention& s) const {
    if (!s.heads) return with({reads(s.q), writes(s.out)}, s.next);
    const step::FloatHeads& h = *s.heads;
    return with({passes_on(h.q), passes_on(h.k), reads(h.v), reads(h.qkv), writes(s.out)}, s.next);
  }
  List operator()(const step::GluMul& s) const { return {reads(s.gate), reads(s.up), writes(s.out)}; }
  List operator()(const step::Add& s) const { return {reads(s.in), updates(s.x)}; }
  List operator()(const step::AddBias& s) const { return {updates(s.x)}; }
  List operator()(const step::Softcap& s) const { return {updates(s.x)}; }
  List operator()(const step::RmsNormQuantize& s) const { return {reads(s.in), writes(s.out)}; }
  List operator()(const step::TernaryLinearAdd& s) const {
    return with(with({reads(s.in), updates(s.x)}, s.norm), s.next);
  }
  List operator()(const step::TernaryGlu& s) const { return with(with({reads(s.in), writes(s.out)}, s.norm), s.next); }
  List operator()(const step::FloatLinearAdd& s) const { return {reads(s.in), updates(s.x)}; }
  List operator()(const step::FloatGlu& s) const { return with({reads(s.in), writes(s.out)}, s.norm); }
  List operator()(const step::TernaryQkv& s) const {
    return with({reads(s.in), writes(s.q), scratch(s.k), scratch(s.v)}, s.norm);
  }
  List operator()(const step::FloatQkv& s) const {
    const step::FloatHeads& h = s.heads;
    if (s.leaves_heads) return with({reads(s.in), hidden(h.q), hidden(h.k), hidden(h.v), hidden(h.qkv)}, s.norm);
    return with({reads(s.in), writes(h.q), scratch(h.k), scratch(h.v), scratch(h.qkv)}, s.norm);
  }
};

struct OpName {
  const char* operator()(const step::Embed&) const { return "embed"; }
  const char* operator()(const step::SelectRows&) const { return "select_rows"; }
  const char* operator()(const step::RmsNorm&) const { return "rms_norm"; }
  const char* operator()(const step::Quantize&) const { return "quantize"; }
  const char* operator()(const step::TernaryLinear&) const { return "ternary_linear"; }
  const char* operator()(const step::QuantizeBlocks&) const { return "quantize_blocks"; }
  const char* operator()(const step::FloatLinear&) const { return "float_linear"; }
  const char* operator()(const step::HeadNorm&) const { return "head_norm"; }
  const char* operator()(const step::Rope&) const { return "rope"; }
  const char* operator()(const step::KvAppend&) const { return "kv_append"; }
  const char* operator()(const step::Attention&) const { return "attention"; }
  const char* operator()(const step::GluMul&) const { return "glu_mul"; }
  const char* operator()(const step::Add&) const { return "add"; }
  const char* operator()(const step::AddBias&) const { return "add_bias"; }
  const char* operator()(const step::Softcap&) const { return "softcap"; }
  const char* operator()(const step::RmsNormQuantize&) const { return "rms_norm_quantize"; }
  const char* operator()(const step::TernaryLinearAdd&) const { return "ternary_linear_add"; }
  const char* operator()(const step::TernaryGlu&) const { return "ternary_glu"; }
  const char* operator()(const step::FloatLinearAdd&) const { return "float_linear_add"; }
  const char* operator()(const step::FloatGlu&) const { return "float_glu"; }
  const char* operator()(const step::TernaryQkv&) const { return "ternary_qkv"; }
  const char* operator()(const step::FloatQkv&) const { return "float_qkv"; }
};

}  // namespace

std::vector<SlotUse> slot_uses(const StepBody& body) { return std::visit(Uses{}, body); }

std::string_view op_name(const StepBody& body) { return std::visit(OpName{}, body); }

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
