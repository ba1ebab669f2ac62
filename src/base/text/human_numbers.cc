#include "base/text/human_numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/text/format_text.h"

namespace tern {
namespace {

// Formats `value` as {:.Nf} does. In browsers, format_text has no nested braces for N.
std::string with_decimals(double value, int decimals) {
  char text[320];  // the largest double has 309 digits before the point
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals).ptr};
}

// Scales `value` by powers of 1000: three digits and one of `units`.
std::string scaled(double value, const std::array<std::string_view, 5>& units) {
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return with_decimals(value, decimals) + (units[unit].empty() ? "" : format_text(" {}", units[unit]));
}

}  // namespace

std::string human_bytes(uint64_t bytes) { return scaled(static_cast<double>(bytes), {"B", "kB", "MB", "GB", "TB"}); }

std::string human_count(uint64_t count) { return scaled(static_cast<double>(count), {"", "k", "M", "G", "T"}); }

std::string human_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  if (seconds < 0.9995) return with_decimals(seconds * 1000, seconds < 0.00995 ? 1 : 0) + " ms";
  if (seconds < 59.95) return with_decimals(seconds, seconds < 9.995 ? 2 : 1) + " s";
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return format_text("{} min {} s", whole / 60, whole % 60);
  return format_text("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string human_number(double number) {
  if (!std::isfinite(number)) return format_text("{}", number);
  const double magnitude = std::abs(number);
  if (magnitude != 0 && magnitude < 0.001) return format_text("{:.2e}", number);
  const int decimals = magnitude >= 999.95   ? 0
                       : magnitude >= 99.995 ? 1
                       : magnitude >= 9.9995 ? 2
                       : magnitude >= 1      ? 3
                                             : 4;
  return with_decimals(number, decimals);
}

}  // namespace tern
