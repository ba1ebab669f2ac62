#include "base/text/plain_format.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace tern {
namespace {

struct Spec {
  char fill = ' ', align = 0;
  bool alternate = false, zero = false;
  int width = 0, precision = -1;
  char type = 0;
};

int read_number(std::string_view text, size_t& at) {
  int n = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) n = n * 10 + (text[at] - '0');
  return n;
}

Spec parse_spec(std::string_view text) {
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^'; };
  Spec spec;
  size_t at = 0;
  if (text.size() > 1 && is_align(text[1])) {
    spec.fill = text[0];
    spec.align = text[1];
    at = 2;
  } else if (!text.empty() && is_align(text[0])) {
    spec.align = text[0];
    at = 1;
  }
  if (at < text.size() && text[at] == '#') spec.alternate = true, ++at;
  if (at < text.size() && text[at] == '0') spec.zero = true, ++at;
  spec.width = read_number(text, at);
  if (at < text.size() && text[at] == '.') spec.precision = read_number(text, ++at);
  if (at < text.size()) spec.type = text[at];
  return spec;
}

// Zero padding goes after the first `sign` characters.
void append_padded(std::string& out, std::string text, const Spec& spec, bool is_number, size_t sign) {
  const auto width = static_cast<size_t>(spec.width);
  if (text.size() >= width) {
    out += text;
    return;
  }
  const size_t missing = width - text.size();
  if (is_number && spec.zero && spec.align == 0) {
    text.insert(sign, missing, '0');
    out += text;
    return;
  }
  const char align = spec.align ? spec.align : is_number ? '>' : '<';
  const size_t before = align == '>' ? missing : align == '^' ? missing / 2 : 0;
  out.append(before, spec.fill);
  out += text;
  out.append(missing - before, spec.fill);
}

template <class Integer>
void append_integer(std::string& out, Integer value, const Spec& spec) {
  char digits[68];
  const bool is_hex = spec.type == 'x' || spec.type == 'X';
  const auto end = std::to_chars(digits, std::end(digits), value, is_hex ? 16 : 10).ptr;
  std::string text(digits, end);
  const size_t minus = text.starts_with('-') ? 1 : 0;
  if (spec.type == 'X') {
    for (char& c : text) c = c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  const std::string_view prefix = is_hex && spec.alternate ? (spec.type == 'X' ? "0X" : "0x") : "";
  text.insert(minus, prefix);
  append_padded(out, std::move(text), spec, true, minus + prefix.size());
}

// Writes the shortest digits that read back as the same number, or the requested precision.
template <class Float>
void append_float(std::string& out, Float value, const Spec& spec) {
  char text[400];
  const auto number = static_cast<double>(value);
  if (spec.type != 0 || spec.precision >= 0) {
    const char format[] = {'%', '.', '*', spec.type ? spec.type : 'g', 0};
    std::snprintf(text, sizeof text, format, spec.precision < 0 ? 6 : spec.precision, number);
  } else {
    for (int digits = 1; digits <= 17; ++digits) {
      std::snprintf(text, sizeof text, "%.*g", digits, number);
      if (static_cast<Float>(std::strtod(text, nullptr)) == value) break;
    }
  }
  append_padded(out, text, spec, true, text[0] == '-' ? 1 : 0);
}

void append_text(std::string& out, std::string_view text, const Spec& spec) {
  if (spec.precision >= 0) text = text.substr(0, static_cast<size_t>(spec.precision));
  append_padded(out, std::string(text), spec, false, 0);
}

void append_argument(std::string& out, std::basic_format_arg<std::format_context> argument, const Spec& spec) {
  std::visit_format_arg(
      [&](auto value) {
        using T = decltype(value);
        if constexpr (std::is_same_v<T, bool>) {
          append_text(out, value ? "true" : "false", spec);
        } else if constexpr (std::is_same_v<T, char>) {
          append_text(out, std::string_view(&value, 1), spec);
        } else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
          append_integer(out, value, spec);
        } else if constexpr (std::is_floating_point_v<T>) {
          append_float(out, value, spec);
        } else if constexpr (std::is_convertible_v<T, std::string_view>) {
          append_text(out, value, spec);
        } else {
          out += "{?}";
        }
      },
      argument);
}

}  // namespace

std::string plain_format(std::string_view format, std::format_args arguments) {
  std::string out;
  size_t next = 0;
  for (size_t at = 0; at < format.size(); ++at) {
    const char c = format[at];
    const bool is_doubled = at + 1 < format.size() && format[at + 1] == c;
    if ((c == '{' || c == '}') && is_doubled) {
      out += c;
      ++at;
    } else if (c == '{') {
      const size_t end = std::min(format.find('}', at), format.size());
      std::string_view field = format.substr(at + 1, end - at - 1);
      size_t digits = 0;
      const auto named = static_cast<size_t>(read_number(field, digits));
      const size_t index = digits > 0 ? named : next++;
      field.remove_prefix(std::min(digits + 1, field.size()));
      append_argument(out, arguments.get(index), parse_spec(field));
      at = end;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace tern
