#include "engine/load/head.h"

#include "base/text/format_text.h"
#include "quant/format.h"

namespace tern {
namespace {

std::optional<Format> format_of(HeadKind kind) {
  if (kind == HeadKind::kQ8_0) return Format::kQ8_0;
  if (kind == HeadKind::kQ6_K) return Format::kQ6_K;
  return std::nullopt;
}

}  // namespace

Result<void> Head::replace_in(Model& model, HeadKind kind) {
  Tensor& output = model.weights.output;
  in_file_ = output;
  const std::optional<Format> format = format_of(kind);
  if (!format || *format == output.format) return {};
  TRY(replaced_, reencode(in_file_, *format));
  output = replaced_->tensor;
  return {};
}

std::string Head::describe(const Model& model) const {
  const std::string_view used = format_info(model.weights.output.format).name;
  if (!replaced_) return std::string(used);
  return format_text("{} (file: {})", used, format_info(in_file_.format).name);
}

Result<ExactHead> exact_head_for(BackendKind backend, HeadKind kind) {
  // Browsers have little memory, and their CPU code has no int8 dot products that would make up for it.
#ifdef __EMSCRIPTEN__
  constexpr ExactHead kAuto = ExactHead::kNo;
  const bool can_have_one = backend == BackendKind::kCpu || backend == BackendKind::kAuto;
#else
  constexpr ExactHead kAuto = ExactHead::kWherePays;
  const bool can_have_one = backend != BackendKind::kRef;
#endif
  if (kind == HeadKind::kExact && !can_have_one) {
    return fail(ErrorCode::kNotSupported, "this backend has no exact head; use the cpu backend, or another head");
  }
  if (kind == HeadKind::kExact) return ExactHead::kYes;
  return kind == HeadKind::kAuto && can_have_one ? kAuto : ExactHead::kNo;
}

}  // namespace tern
