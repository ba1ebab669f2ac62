#include "text/chat/forms/literal_match.h"

#include <algorithm>
#include <tuple>

#include "text/chat/forms/json_scanner.h"

namespace tern {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kOpen = "<|open|>", kClose = "<|close|>", kSeparator = "<|sep|>";
constexpr std::string_view kTokenBegin = "]<]", kTokenEnd = "[>[";  // of MiniMax
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

size_t tag_token_end(std::string_view text, size_t at) {
  if (!text.substr(at).starts_with(kTokenBegin)) return at;
  const size_t end = text.find(kTokenEnd, at + kTokenBegin.size());
  return end == text.npos ? at : end + kTokenEnd.size();
}

size_t tag_begin(std::string_view text, size_t bracket) {
  const std::string_view before = text.substr(0, bracket);
  if (before.ends_with(kTokenEnd)) {
    const size_t token = before.rfind(kTokenBegin);
    return token != before.npos && tag_token_end(text, token) == bracket ? token : bracket;
  }
  return bracket > 0 && text.substr(bracket - 1).starts_with(kTokenBegin) ? bracket - 1 : bracket;
}

size_t tag_end(std::string_view text, size_t at) {
  at = tag_token_end(text, at);
  const std::string_view rest = text.substr(at);
  if (!rest.starts_with('<')) return at;
  const bool has_words = rest.starts_with(kOpen) || rest.starts_with(kClose);
  const size_t separator = has_words ? rest.find(kSeparator) : rest.npos;
  if (separator != rest.npos) return at + separator + kSeparator.size();
  const size_t end = rest.find('>');
  return end == rest.npos ? at : at + end + 1;
}

size_t last_tag(std::string_view text) {
  const std::string_view own = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  if (!own.ends_with('>')) return text.npos;
  if (own.ends_with(kSeparator)) {
    for (const size_t at : {own.rfind(kOpen), own.rfind(kClose)}) {
      if (at != own.npos && tag_end(own, at) == own.size()) return at;
    }
  }
  const size_t open = own.rfind('<');
  return open == own.npos ? open : tag_begin(own, open);
}

bool closes(std::string_view end, std::string_view begin) {
  const size_t token = tag_token_end(end, 0);
  if (begin.starts_with(end.substr(0, token))) begin.remove_prefix(token);
  end.remove_prefix(token);
  for (const auto& [open, close, last] : {std::tuple{kOpen, kClose, kSeparator}, std::tuple{"<"sv, "</"sv, ">"sv}}) {
    if (!begin.starts_with(open) || !end.starts_with(close) || !end.ends_with(last)) continue;
    const std::string_view name = end.substr(close.size(), end.size() - close.size() - last.size());
    const std::string_view rest = begin.substr(open.size());
    return !name.empty() && rest.starts_with(name) && (rest.substr(name.size()) == last || rest[name.size()] == ' ');
  }
  return false;
}

std::string_view without_end_space(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

std::string_view first_tag(std::string_view literal) {
  literal.remove_prefix(std::min(literal.find_first_not_of(" \t\r\n"), literal.size()));
  size_t end = tag_end(literal, 0);
  if (literal.starts_with('[')) end = literal.find(']') + 1;
  return end > 0 ? literal.substr(0, end) : without_json_space(literal);
}

}  // namespace tern
