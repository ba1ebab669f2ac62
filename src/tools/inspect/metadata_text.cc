#include "tools/inspect/metadata_text.h"

#include "base/text/format_text.h"
#include "file/gguf/gguf_elements.h"
#include "tern/visible.h"

namespace tern {
namespace {

constexpr size_t kLongestString = 240;  // bytes
constexpr size_t kLongestItem = 40;     // bytes of a string in an array
constexpr uint64_t kMostItems = 8;

// Formats the number or bool of `kind` at `at`.
std::string scalar_text(GgufKind kind, const std::byte* at) {
  if (kind == GgufKind::kBool) return load<uint8_t>(at) != 0 ? "true" : "false";
  return with_type_of(kind, [at]<class T>(T) { return format_text("{}", load<T>(at)); });
}

std::string quoted_item(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : escaped_text(text, kLongestItem)) quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
  return quoted + "\"";
}

// Takes the next element off the front of `rest`. GgufFile has checked that it exists.
std::string take_item(GgufKind kind, Bytes& rest) {
  if (kind == GgufKind::kString) return quoted_item(take_gguf_string(rest));
  std::string text = scalar_text(kind, rest.data());
  rest = rest.subspan(gguf_kind_bytes(kind));
  return text;
}

std::string array_text(const GgufValue& value) {
  if (value.kind == GgufKind::kArray) return format_text("[{} arrays]", value.count);
  std::string text = "[";
  Bytes rest = value.data;
  for (uint64_t i = 0; i < std::min(value.count, kMostItems); ++i) {
    text += (i > 0 ? ", " : "") + take_item(value.kind, rest);
  }
  if (value.count > kMostItems) text += format_text(", … {} in all", value.count);
  return text + "]";
}

}  // namespace

std::string escaped_text(std::string_view text, size_t longest) {
  size_t end = std::min(text.size(), longest);
  // True inside a UTF-8 character, whose later bytes are 10xxxxxx. Invalid UTF-8 is cut anywhere.
  const auto is_inside = [&](size_t at) { return at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80; };
  for (int back = 0; back < 3 && end > 0 && is_inside(end); ++back) --end;
  std::string out;
  for (const char c : text.substr(0, end)) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        if (static_cast<uint8_t>(c) < 0x20 || c == 0x7F) {
          out += format_text("\\x{:02x}", static_cast<uint8_t>(c));
        } else {
          out += c;
        }
    }
  }
  out = visible(out);
  if (end < text.size()) out += format_text("… ({} bytes)", text.size());
  return out;
}

std::string metadata_text(const GgufValue& value) {
  if (value.is_array) return array_text(value);
  if (value.kind == GgufKind::kString) return escaped_text(as_text(value.data), kLongestString);
  return scalar_text(value.kind, value.data.data());
}

}  // namespace tern
