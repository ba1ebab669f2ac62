#include "text/unicode/utf8.h"

#include <cstring>

#include "base/check.h"
#include "base/text/format_text.h"
#include "tern/visible.h"

namespace tern {
namespace {

// The meaning of a first byte: the character's length, and the range of its second byte. The narrowed ranges exclude
// overlong forms (E0, F0), surrogates (ED) and code points above U+10FFFF (F4).
struct Lead {
  uint8_t length;
  uint8_t second_min = 0x80;
  uint8_t second_max = 0xBF;
};

Lead lead_of(uint8_t byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

}  // namespace

Utf8Char decode_utf8(std::string_view text) {
  DCHECK(!text.empty());
  const auto byte_at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte_at(0);
  const Lead lead = lead_of(first);
  if (lead.length == 0) return {.length = 1, .status = Utf8Status::kInvalid};
  if (lead.length == 1) return {.code = first, .length = 1, .status = Utf8Status::kValid};

  char32_t code = first & (0x7Fu >> lead.length);
  for (size_t i = 1; i < lead.length; ++i) {
    if (i == text.size()) return {.length = i, .status = Utf8Status::kIncomplete};
    const uint8_t min = i == 1 ? lead.second_min : 0x80;
    const uint8_t max = i == 1 ? lead.second_max : 0xBF;
    if (byte_at(i) < min || byte_at(i) > max) return {.length = i, .status = Utf8Status::kInvalid};
    code = (code << 6) | (byte_at(i) & 0x3Fu);
  }
  return {.code = code, .length = lead.length, .status = Utf8Status::kValid};
}

size_t valid_utf8_prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    if (uint64_t eight; text.size() - at >= sizeof eight) {
      std::memcpy(&eight, text.data() + at, sizeof eight);
      if ((eight & 0x8080808080808080u) == 0) {  // eight ASCII characters
        at += sizeof eight;
        continue;
      }
    }
    const Utf8Char c = decode_utf8(text.substr(at));
    if (c.status != Utf8Status::kValid) break;
    at += c.length;
  }
  return at;
}

void append_utf8(char32_t code, std::string& out) {
  const auto append = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    append(code);
  } else if (code < 0x800) {
    append(0xC0 | (code >> 6));
    append(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    append(0xE0 | (code >> 12));
    append(0x80 | ((code >> 6) & 0x3F));
    append(0x80 | (code & 0x3F));
  } else {
    append(0xF0 | (code >> 18));
    append(0x80 | ((code >> 12) & 0x3F));
    append(0x80 | ((code >> 6) & 0x3F));
    append(0x80 | (code & 0x3F));
  }
}

std::string printable(std::string_view text, size_t max_bytes) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (at >= max_bytes) return out + "…";
    const Utf8Char c = decode_utf8(text.substr(at));
    const std::string_view character = text.substr(at, c.length);
    if (c.status == Utf8Status::kValid && c.code >= 0x20 && visible(character) == character) {
      out += character;
    } else {
      for (const char byte : text.substr(at, c.length)) out += format_text("\\x{:02X}", static_cast<uint8_t>(byte));
    }
    at += c.length;
  }
  return out;
}

std::string Utf8Stream::feed(std::string_view bytes) {
  std::string joined;
  if (!pending_.empty()) {
    joined = std::move(pending_);
    joined += bytes;
    bytes = joined;
    pending_.clear();
  }
  std::string out;
  while (!bytes.empty()) {
    const size_t valid = valid_utf8_prefix(bytes);
    out += bytes.substr(0, valid);
    bytes.remove_prefix(valid);
    if (bytes.empty()) break;
    const Utf8Char bad = decode_utf8(bytes);
    if (bad.status == Utf8Status::kIncomplete) {
      pending_ = bytes;
      break;
    }
    out += kReplacementCharacter;
    bytes.remove_prefix(bad.length);
  }
  return out;
}

std::string Utf8Stream::finish() {
  if (pending_.empty()) return {};
  pending_.clear();
  return std::string(kReplacementCharacter);
}

}  // namespace tern
