// The browser's Unicode tables (text.js).
#include "text/unicode/unicode.h"

#include <cstdint>
#include <cstdlib>
#include <memory>

extern "C" {
int tern_is_combining_mark(uint32_t c);
int tern_is_word_category(uint32_t c);
int tern_is_letter(uint32_t c);
uint32_t tern_to_case(uint32_t c, int is_upper);
// Writes the normalized text to memory from malloc() and its address to *out. Returns its length in bytes; -1: out of
// memory.
int32_t tern_nfc(const char* text, size_t length, char** out);
}

namespace tern {

bool is_combining_mark(char32_t c) { return tern_is_combining_mark(c) != 0; }
bool is_word_category(char32_t c) { return tern_is_word_category(c) != 0; }

bool is_letter(char32_t c) { return tern_is_letter(c) != 0; }
char32_t to_lower(char32_t c) { return tern_to_case(c, 0); }
char32_t to_upper(char32_t c) { return tern_to_case(c, 1); }

// JavaScript has no title case, which differs from upper case for a few letters that are two, and in Georgian.
char32_t to_title(char32_t c) {
  if (c >= 0x1C4 && c <= 0x1CC) return 0x1C5 + (c - 0x1C4) / 3 * 3;
  if (c >= 0x1F1 && c <= 0x1F3) return 0x1F2;
  return c >= 0x10D0 && c <= 0x10FF ? c : to_upper(c);
}

void append_nfc(std::string_view text, std::string& out) {
  char* normalized = nullptr;
  const int32_t length = tern_nfc(text.data(), text.size(), &normalized);
  const std::unique_ptr<char, decltype(&std::free)> owner(normalized, &std::free);
  if (length < 0) {
    out += text;
  } else {
    out.append(normalized, static_cast<size_t>(length));
  }
}

}  // namespace tern
