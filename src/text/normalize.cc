#include "text/normalize.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "text/utf8.h"

namespace tern {
namespace {

constexpr size_t kMaxMarks = 256;
constexpr size_t kChunk = 1 << 16;

// How much of `text` to normalise at once. Nothing composes with or moves across an ASCII character from the left, so
// the cut before one is exact.
size_t chunk_length(std::string_view text) {
  size_t marks = 0;
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Char c = decode_utf8(text.substr(at));
    if (at >= kChunk && c.code < 0x80) break;
    const bool mark =
        c.code >= 0x300 && utf8proc_get_property(static_cast<utf8proc_int32_t>(c.code))->combining_class > 0;
    marks = mark ? marks + 1 : 0;
    if (marks > kMaxMarks) break;
    at += c.length;
  }
  return at;
}

void append_nfc(std::string_view text, std::string& out) {
  utf8proc_uint8_t* normalised = nullptr;
  const auto length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &normalised, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(normalised, &std::free);
  if (length < 0) {
    out += text;  // out of memory is the only way: the text is valid
  } else {
    out.append(reinterpret_cast<const char*>(normalised), static_cast<size_t>(length));
  }
}

}  // namespace

std::optional<std::string> to_nfc(std::string_view text) {
  // Below U+0300, whose first byte is 0xCC, there are no combining marks and every character is its own NFC.
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
