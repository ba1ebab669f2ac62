#include "backend/exact_head.h"

#include "base/text/format_text.h"
#include "quant/format.h"

namespace tern {
namespace {

// A smaller head is a small part of what a token reads, and a copy is not worth its memory.
constexpr uint64_t kWorthCopying = uint64_t{16} << 20;

bool is_float(const Tensor& w) {
  return w.format == Format::kF32 || w.format == Format::kF16 || w.format == Format::kBF16;
}

std::unexpected<Error> no_copy(const Tensor& w, std::string why) {
  if (!is_float(w)) {
    why = format_text("its values are {}", format_info(w.format).name);
  } else if (w.cols > kMostHeadCols) {
    why = format_text("it has {} columns", w.cols);
  } else if (w.scale != 1) {
    why = "it has a scale of its own";
  }
  return fail(ErrorCode::kNotSupported,
              "tensor {}: an exact head needs F16, BF16 or F32 in at most {} columns, but {}; use the file's head",
              w.name, kMostHeadCols, why);
}

}  // namespace

const Tensor* float_head(const Plan& plan) {
  for (const Step& step : plan.steps) {
    const auto* linear = std::get_if<step::FloatLinear>(&step.body);
    if (!linear || linear->out != plan.logits) continue;
    return plan.slot(linear->in).type == SlotType::kF32 ? linear->w : nullptr;
  }
  return nullptr;
}

bool can_have_copy(const Tensor& w) { return is_float(w) && w.scale == 1 && w.cols <= kMostHeadCols; }

Result<const Tensor*> head_to_copy(const Plan& plan, ExactHead wanted, uint64_t most_bytes,
                                   const std::function<HeadCopyNeed(const Tensor&)>& need_of) {
  if (wanted == ExactHead::kNo) return nullptr;
  const Tensor* head = float_head(plan);
  if (!head) {
    if (wanted == ExactHead::kWherePays) return nullptr;
    return fail(ErrorCode::kNotSupported,
                "an exact head needs F16, BF16 or F32, but the file's is packed already; use the file's head");
  }
  const HeadCopyNeed need = need_of(*head);
  const bool can = can_have_copy(*head) && need.cannot.empty();
  if (wanted == ExactHead::kWherePays) {
    return can && need.pays && head->data.size() >= kWorthCopying && need.bytes <= most_bytes ? head : nullptr;
  }
  if (!can) return no_copy(*head, need.cannot);
  if (need.bytes > most_bytes) {
    return fail(ErrorCode::kOutOfMemory, "the exact head's copy takes {} MB, more than is free; use the file's head",
                need.bytes / 1'000'000);
  }
  return head;
}

}  // namespace tern
