#include "file/gguf/gguf_override.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/text/quoted.h"

namespace tern {
namespace {

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

template <class T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// Sets `to` and returns "", or returns what the type requires ("an integer of 64 bits") if `value` is invalid.
std::string_view set_value(std::string_view type, std::string_view value, GgufOverride& to) {
  if (type == "str") {
    to.kind = GgufKind::kString;
    to.data = value;
    return "";
  }
  if (type == "bool") {
    if (value != "true" && value != "false") return "true or false";
    to.kind = GgufKind::kBool;
    to.data = bytes_of<uint8_t>(value == "true");
    return "";
  }
  if (type == "int") {
    const auto number = parse_number<int64_t>(value);
    if (!number) return "an integer of 64 bits";
    to.kind = GgufKind::kI64;
    to.data = bytes_of(*number);
    return "";
  }
  const auto number = parse_number<double>(value);
  if (!number || !std::isfinite(*number)) return "a finite number";
  to.kind = GgufKind::kF64;
  to.data = bytes_of(*number);
  return "";
}

}  // namespace

Result<GgufOverride> parse_gguf_override(std::string_view text) {
  const size_t equals = text.find('='), colon = text.find(':', std::min(equals, text.size()));
  if (equals == 0 || equals == std::string_view::npos || colon == std::string_view::npos) {
    return fail(ErrorCode::kInvalidArgument,
                "the override {} is not KEY=TYPE:VALUE, with a TYPE of int, float, bool or str", quoted(text));
  }
  const std::string_view type = text.substr(equals + 1, colon - equals - 1), value = text.substr(colon + 1);
  GgufOverride made{.key = std::string(text.substr(0, equals)), .data = {}};
  if (type != "int" && type != "float" && type != "bool" && type != "str") {
    return fail(ErrorCode::kInvalidArgument, "the override of {} has the type {}; give int, float, bool or str",
                tern::quoted(made.key), tern::quoted(type));
  }
  if (const std::string_view wanted = set_value(type, value, made); !wanted.empty()) {
    return fail(ErrorCode::kInvalidArgument, "the override of {} has the value {}, but the type {} needs {}",
                tern::quoted(made.key), tern::quoted(value), type, wanted);
  }
  return made;
}

}  // namespace tern
