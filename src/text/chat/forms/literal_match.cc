#include "text/chat/forms/literal_match.h"

#include <algorithm>

#include "text/chat/forms/json_scanner.h"

namespace tern {
namespace {

constexpr size_t kMostLiteralSpace = 64;

size_t skip_space(std::string_view text, size_t at) {
  const size_t most = std::min(text.size(), at + kMostLiteralSpace);
  while (at < most && is_json_space(text[at])) ++at;
  return at;
}

}  // namespace

Matched match_literal(std::string_view text, size_t at, std::string_view literal) {
  const size_t body = literal.find_last_not_of(" \t\r\n") + 1;  // npos + 1: only white space
  size_t i = at;
  for (size_t j = 0; j < body;) {
    if (is_json_space(literal[j])) {
      j = literal.find_first_not_of(" \t\r\n", j);
      i = skip_space(text, i);
      continue;
    }
    if (i == text.size()) return {Match::kMaybe, i};
    if (text[i] == literal[j]) {
      ++i;
      ++j;
      continue;
    }
    const bool may_have_space = j == 0 || literal[j - 1] == '>' || is_json_space(literal[j - 1]);
    const size_t next = may_have_space ? skip_space(text, i) : i;
    if (next == i) return {Match::kNo, i};
    i = next;
  }
  for (size_t j = body; j < literal.size(); ++j) {
    if (i == text.size()) return {Match::kMaybe, i};
    if (text[i] != literal[j]) break;
    ++i;
  }
  return {Match::kYes, i};
}

std::string_view first_tag(std::string_view literal) {
  const size_t begin = std::min(literal.find_first_not_of(" \t\r\n"), literal.size());
  literal.remove_prefix(begin);
  const size_t end = literal.starts_with('<')   ? literal.find('>')
                     : literal.starts_with('[') ? literal.find(']')
                                                : std::string_view::npos;
  if (end != std::string_view::npos) return literal.substr(0, end + 1);
  return without_json_space(literal);
}

}  // namespace tern
