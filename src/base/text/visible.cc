#include "tern/visible.h"

#include <algorithm>
#include <cstdint>

#include "base/text/format_text.h"

namespace tern {
namespace {

// Length in bytes of the UTF-8 character at the start of `text`, judged by its first byte; 1 if invalid.
size_t character_length(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  const size_t n = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
  if (first >= 0xF5 || n > text.size()) return 1;
  const auto continues = [](char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; };
  return std::ranges::all_of(text.substr(1, n - 1), continues) ? n : 1;
}

char32_t code_of(std::string_view character) {
  const auto first = static_cast<uint8_t>(character[0]);
  if (character.size() == 1) return first;
  char32_t code = first & (0x7Fu >> character.size());
  for (const char c : character.substr(1)) code = code << 6 | (static_cast<uint8_t>(c) & 0x3F);
  return code;
}

bool is_hidden(char32_t code) {
  const bool is_control = (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
  const bool turns = code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
                     (code >= 0x2066 && code <= 0x2069);
  return is_control || turns;
}

}  // namespace

std::string visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view character = text.substr(0, character_length(text));
    const char32_t code = code_of(character);
    if (character.size() == 1 && code >= 0x80) {
      out += format_text("\\x{:02x}", static_cast<uint32_t>(code));
    } else if (is_hidden(code)) {
      out += format_text("\\u{:04x}", static_cast<uint32_t>(code));
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace tern
