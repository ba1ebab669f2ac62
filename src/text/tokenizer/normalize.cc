#include "text/tokenizer/normalize.h"

#include <algorithm>

#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

constexpr size_t kMaxMarks = 256;
constexpr size_t kChunk = 1 << 16;

// The number of bytes to normalize at once. An ASCII character never composes with the characters before it, nor do
// these move across it, so a cut before it is exact.
size_t chunk_length(std::string_view text) {
  size_t marks = 0;
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Char c = decode_utf8(text.substr(at));
    if (at >= kChunk && c.code < 0x80) break;
    const bool mark = c.code >= 0x300 && is_combining_mark(c.code);
    marks = mark ? marks + 1 : 0;
    if (marks > kMaxMarks) break;
    at += c.length;
  }
  return at;
}

}  // namespace

std::optional<std::string> to_nfc(std::string_view text) {
  // Below U+0300, whose first byte is 0xCC, there are no combining marks, and every character is its own NFC.
  if (std::ranges::none_of(text, [](char byte) { return static_cast<uint8_t>(byte) >= 0xCC; })) return std::nullopt;
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = chunk_length(text);
    append_nfc(text.substr(0, length), out);
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace tern
