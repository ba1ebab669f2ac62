#include "grammar/rules/utf8_chars.h"

#include <cstddef>

namespace tern::grammar {

std::optional<char32_t> take_char(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t n = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (n == 0 || text.size() < n) return std::nullopt;
  char32_t code = n == 1 ? lead : lead & (0x7F >> n);
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
    code = (code << 6) | (byte(i) & 0x3F);
  }
  const bool is_overlong = (n == 3 && code < 0x800) || (n == 4 && code < 0x10000);
  if (is_overlong || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return std::nullopt;
  text.remove_prefix(n);
  return code;
}

std::u32string chars_of(std::string_view text) {
  std::u32string out;
  while (const auto c = take_char(text)) out += *c;
  return out;
}

void append_char(char32_t c, std::string& text) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) return put(0xC0 | (c >> 6)), put(0x80 | (c & 0x3F));
  if (c < 0x10000) return put(0xE0 | (c >> 12)), put(0x80 | ((c >> 6) & 0x3F)), put(0x80 | (c & 0x3F));
  put(0xF0 | (c >> 18)), put(0x80 | ((c >> 12) & 0x3F)), put(0x80 | ((c >> 6) & 0x3F)), put(0x80 | (c & 0x3F));
}

}  // namespace tern::grammar
