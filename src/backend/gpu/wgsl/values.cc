#include "backend/gpu/wgsl/values.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace tern::wgsl {
namespace {

Text parenthesise(Text text, bool yes) { return yes ? cat("(", text, ")") : text; }

}  // namespace

Expression detail::literal(uint32_t v) { return Expression(cat(std::to_string(v), "u")); }

Expression detail::literal(int32_t v) {
  // WGSL's minus is an operator, and 2147483648i does not fit an i32.
  if (v == std::numeric_limits<int32_t>::min()) return Expression("i32(-2147483648)");
  return Expression(cat(std::to_string(v), "i"), v < 0 ? Binding::kSum : Binding::kPrimary);
}

Expression detail::literal(float v) {
  CHECK(std::isfinite(v));  // WGSL has no literals for infinities and NaN
  char digits[32];
  const std::string_view text(digits, std::to_chars(digits, digits + sizeof digits, v).ptr);
  return Expression(cat(text, "f"), std::signbit(v) ? Binding::kSum : Binding::kPrimary);
}

Expression detail::use(Expression&& once) {
  if (once.text.empty()) trace_error("an unnamed expression is used twice; bind it with let()");
  return std::move(once);
}

Expression detail::unary(std::string_view op, const Expression& a, Binding binding) {
  return Expression(cat(op, parenthesise(a.text, a.binding < Binding::kPrimary)), binding, a.epoch);
}

Expression detail::binary(const Expression& a, std::string_view op, const Expression& b, Binding binding) {
  const bool strict = binding == Binding::kOther;
  const Text left = parenthesise(a.text, strict ? a.binding < Binding::kPrimary : a.binding < binding);
  const Text right = parenthesise(b.text, strict ? b.binding < Binding::kPrimary : b.binding <= binding);
  return Expression(cat(left, " ", op, " ", right), binding, join_epochs(a.epoch, b.epoch));
}

Expression detail::call(std::string_view function, std::span<const Expression> arguments) {
  std::string text(function);
  int epoch = 0;
  std::string_view before = "(";
  for (const Expression& argument : arguments) {
    text.append(std::exchange(before, ", ")).append(argument.text);
    epoch = join_epochs(epoch, argument.epoch);
  }
  text += ")";
  return Expression(keep(std::move(text)), Binding::kPrimary, epoch);
}

Text text_of(const Expression& expression) {
  const auto& [text, binding, epoch] = expression;
  if (epoch != 0 && epoch != writer->epoch())
    trace_error(cat("\"", text, "\" reads memory that has been written since; bind it with let() where it is read"));
  return text;
}

Text component_text(std::string_view vector, uint32_t i) {
  CHECK(i < 4);
  return cat(vector, ".", std::string_view("xyzw").substr(i, 1));
}

}  // namespace tern::wgsl
