#include "text/jinja/text.h"

#include <algorithm>
#include <cstring>

#include "text/unicode/utf8.h"

namespace tern {
namespace {

bool begins_with_space(std::string_view text, size_t& bytes) {
  const Utf8Char c = decode_utf8(text);
  bytes = c.length;
  return c.status == Utf8Status::kValid && is_python_space(c.code);
}

// Where the last character of `text` begins; `text` must not be empty.
size_t last_character(std::string_view text) {
  const size_t n = text.size();
  for (size_t back = 1; back <= std::min<size_t>(n, 4); ++back) {
    const Utf8Char c = decode_utf8(text.substr(n - back));
    if (c.length == back && c.status == Utf8Status::kValid) return n - back;
  }
  return n - 1;
}

std::string mapped(std::string_view text, char (*map)(char), TemplateBudget& budget) {
  budget.take(text.size());
  std::string out(text);
  for (char& c : out) c = map(c);
  return out;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) > 127;
}

}  // namespace

size_t character_bytes(std::string_view text) { return decode_utf8(text).length; }

size_t count_characters(std::string_view text, TemplateBudget& budget) {
  budget.work(text.size());
  size_t n = 0;
  for (size_t at = 0; at < text.size(); ++n) at += character_bytes(text.substr(at));
  return n;
}

size_t character_offset(std::string_view text, size_t n) {
  size_t at = 0;
  for (; n > 0 && at < text.size(); --n) at += character_bytes(text.substr(at));
  return at;
}

bool is_python_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::string_view strip_left(std::string_view text) {
  size_t bytes = 0;
  while (!text.empty() && begins_with_space(text, bytes)) text.remove_prefix(bytes);
  return text;
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    const size_t last = last_character(text);
    size_t bytes = 0;
    if (!begins_with_space(text.substr(last), bytes)) break;
    text = text.substr(0, last);
  }
  return text;
}

std::string_view strip_left(std::string_view text, std::string_view set, TemplateBudget& budget) {
  while (!text.empty()) {
    const size_t bytes = character_bytes(text);
    if (find_text(set, text.substr(0, bytes), budget) == set.npos) break;
    text.remove_prefix(bytes);
  }
  return text;
}

std::string_view strip_right(std::string_view text, std::string_view set, TemplateBudget& budget) {
  while (!text.empty()) {
    const size_t last = last_character(text);
    if (find_text(set, text.substr(last), budget) == set.npos) break;
    text = text.substr(0, last);
  }
  return text;
}

char ascii_lower(char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c); }
char ascii_upper(char c) { return static_cast<char>(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c); }
std::string lower(std::string_view text, TemplateBudget& budget) { return mapped(text, ascii_lower, budget); }
std::string upper(std::string_view text, TemplateBudget& budget) { return mapped(text, ascii_upper, budget); }

std::string capitalize(std::string_view text, TemplateBudget& budget) {
  std::string out = lower(text, budget);
  if (!out.empty()) out[0] = ascii_upper(out[0]);
  return out;
}

std::string title(std::string_view text, TemplateBudget& budget) {
  std::string out = lower(text, budget);
  for (size_t i = 0; i < out.size(); ++i) {
    if (i == 0 || !is_letter(out[i - 1])) out[i] = ascii_upper(out[i]);
  }
  return out;
}

size_t find_text(std::string_view text, std::string_view what, TemplateBudget& budget) {
  if (what.empty()) return 0;
  const void* found = ::memmem(text.data(), text.size(), what.data(), what.size());
  const size_t at = found == nullptr ? text.npos : static_cast<size_t>(static_cast<const char*>(found) - text.data());
  // C libraries read each position at most as many times as a short `what` is long, and none after a match.
  const size_t n_seen = std::min(at, text.size()) + what.size();
  budget.work(n_seen + n_seen * std::min<size_t>(what.size(), 256) / 32);
  return at;
}

void replace(std::string_view text, std::string_view old, std::string_view with, int64_t n_most, TemplateText& out) {
  for (int64_t n = 0; n != n_most; ++n) {
    size_t n_done = 0;
    if (old.empty()) {
      out.append(with);
      if (text.empty()) return;
      n_done = character_bytes(text);
      out.append(text.substr(0, n_done));
    } else {
      const size_t at = find_text(text, old, out.budget());
      if (at == text.npos) break;
      out.append(text.substr(0, at));
      out.append(with);
      n_done = at + old.size();
    }
    text.remove_prefix(n_done);
  }
  out.append(text);
}

namespace {

std::vector<std::string_view> split_at_spaces(std::string_view text, int64_t n_most, TemplateBudget& budget) {
  std::vector<std::string_view> parts;
  for (text = strip_left(text); !text.empty(); text = strip_left(text)) {
    budget.take(64);
    if (static_cast<int64_t>(parts.size()) == n_most) {
      parts.push_back(strip_right(text));
      break;
    }
    size_t end = 0;
    for (size_t bytes = 0; end < text.size() && !begins_with_space(text.substr(end), bytes); end += bytes) {
    }
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return parts;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, std::string_view separator, int64_t n_most,
                                    TemplateBudget& budget) {
  budget.work(text.size());
  if (separator.empty()) return split_at_spaces(text, n_most, budget);
  std::vector<std::string_view> parts;
  while (static_cast<int64_t>(parts.size()) != n_most) {
    const size_t at = find_text(text, separator, budget);
    if (at == text.npos) break;
    budget.take(64);
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string_view> split_lines(std::string_view text, TemplateBudget& budget) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    budget.take(64);
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    lines.push_back(text.substr(0, end));
    const size_t n_end = text.substr(end).starts_with("\r\n") ? 2 : 1;
    text.remove_prefix(std::min(text.size(), end + n_end));
  }
  return lines;
}

}  // namespace tern
