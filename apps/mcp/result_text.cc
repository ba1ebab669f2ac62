#include "mcp/result_text.h"

#include <algorithm>
#include <set>

#include "base/text/format_text.h"

namespace tern::mcp {
namespace {

constexpr size_t kMostBytesOfToken = 16;  // more than tokens have on average: what is longer is cut unread

// Removes an unfinished UTF-8 character at the end.
void end_at_character(std::string& text) {
  size_t n = 0;  // bytes that continue a character
  while (n < text.size() && n < 4 && (static_cast<unsigned char>(text[text.size() - 1 - n]) & 0xC0) == 0x80) ++n;
  if (n == text.size()) return;
  const auto first = static_cast<unsigned char>(text[text.size() - 1 - n]);
  const size_t wanted = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
  if (n < wanted) text.resize(text.size() - 1 - n);
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
}

}  // namespace

std::string text_for_model(const Tokenizer& tokenizer, std::string text, size_t most) {
  const size_t size = text.size();
  text.resize(std::min(size, most * kMostBytesOfToken));
  end_at_character(text);
  const std::vector<TokenId> ids = tokenizer.encode(text, {.add_bos = false, .parse_special = true});
  std::set<std::string> controls;
  std::string kept;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string spelling(tokenizer.piece(ids[i], /*special=*/true));
    if (tokenizer.piece(ids[i]).empty() && spelling.size() > 1) controls.insert(spelling);
    if (i < most) kept += spelling;
  }
  if (ids.size() > most) {
    text = std::move(kept);
    end_at_character(text);
  }
  const size_t n_cut = size - std::min(size, text.size());
  for (const std::string& control : controls)
    replace_all(text, control, control.substr(0, 1) + " " + control.substr(1));
  return n_cut == 0 ? text : text + format_text("\n[cut here: {} bytes more]", n_cut);
}

}  // namespace tern::mcp
