#include "cli/support/prompt_view.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "cli/terminal/layout.h"

namespace tern::cli {
namespace {

struct Character {
  char32_t code;
  size_t length;  // in bytes
};

// Returns the first character of `text`, which is not empty; nullopt if its first byte starts no valid character.
std::optional<Character> first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xC2 ? 0 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
  if (length == 0 || length > text.size() || byte(0) > 0xF4) return std::nullopt;
  char32_t code = length == 1 ? byte(0) : byte(0) & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr char32_t kFirst[] = {0, 0, 0x80, 0x800, 0x10000};  // smallest code point of each length
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  if (code < kFirst[length] || code > 0x10FFFF || surrogate) return std::nullopt;
  return Character{code, length};
}

struct Range {
  char32_t first, last;
};
// Control characters, spaces, and characters that are invisible or reorder text.
constexpr Range kUnseen[] = {{0x00, 0x1F},     {0x7F, 0xA0},     {0xAD, 0xAD},      {0x61C, 0x61C},   {0x1680, 0x1680},
                             {0x180E, 0x180E}, {0x2000, 0x200F}, {0x2028, 0x202F},  {0x205F, 0x206F}, {0x3000, 0x3000},
                             {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};

bool is_unseen(char32_t code) {
  return std::ranges::any_of(kUnseen, [code](Range range) { return code >= range.first && code <= range.last; });
}

std::string escape(char32_t code, bool keep_lines) {
  if (code == '\n') return keep_lines ? "\\n\n" : "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  return format_text("\\u{{{:X}}}", static_cast<uint32_t>(code));
}

}  // namespace

std::string spelled_out(std::string_view text, bool keep_lines) {
  std::string out;
  while (!text.empty()) {
    const std::optional<Character> c = first_character(text);
    const size_t length = c ? c->length : 1;
    if (!c) {
      out += format_text("\\x{:02X}", static_cast<unsigned>(static_cast<uint8_t>(text[0])));
    } else if (c->code == '\\') {
      out += "\\\\";
    } else if (is_unseen(c->code)) {
      out += escape(c->code, keep_lines);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string prompt_view(std::string_view prompt, const std::vector<PromptToken>& tokens) {
  std::string out = spelled_out(prompt, true);
  if (out.ends_with(' ')) out.replace(out.size() - 1, 1, escape(' ', true));  // a trailing space would be invisible
  if (!out.ends_with('\n')) out += '\n';
  out += format_text("\n{} token{}:\n", tokens.size(), tokens.size() == 1 ? "" : "s");
  size_t width = 0;
  for (const PromptToken& token : tokens) width = std::max(width, std::to_string(token.id).size());
  for (const PromptToken& token : tokens)
    out += format_text("{}  \"{}\"\n", pad_left(std::to_string(token.id), width), spelled_out(token.piece, false));
  return out;
}

}  // namespace tern::cli
