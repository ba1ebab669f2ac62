#include "text/jinja/text.h"

#include <algorithm>
#include <cstring>

#include "base/platform/process.h"
#include "text/unicode/case_map.h"
#include "text/unicode/unicode.h"
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

// What a capital sigma at `at` becomes in lower case: it has another form at the end of a word.
std::string_view lower_sigma(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, at), after = text.substr(at + 2);
  const bool follows = !before.empty() && is_letter(decode_utf8(before.substr(last_character(before))).code);
  const bool goes_on = !after.empty() && is_letter(decode_utf8(after).code);
  return follows && !goes_on ? "ς" : "σ";
}

// Calls `append(character, position, out)` for each character; other bytes stay.
template <class Append>
std::string mapped(std::string_view text, TemplateBudget& budget, const Append& append) {
  budget.take(3 * text.size());
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    if (c.status == Utf8Status::kValid) {
      append(c.code, at, out);
    } else {
      out.append(text, at, c.length);
    }
    at += c.length;
  }
  return out;
}

void append_lower_at(std::string_view text, char32_t c, size_t at, std::string& out) {
  if (c == U'Σ') {
    out += lower_sigma(text, at);
  } else {
    append_lower(c, out);
  }
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

std::string lower(std::string_view text, TemplateBudget& budget) {
  return mapped(text, budget, [&](char32_t c, size_t at, std::string& out) { append_lower_at(text, c, at, out); });
}

std::string upper(std::string_view text, TemplateBudget& budget) {
  return mapped(text, budget, [](char32_t c, size_t, std::string& out) { append_upper(c, out); });
}

std::string capitalize(std::string_view text, TemplateBudget& budget) {
  return mapped(text, budget, [&](char32_t c, size_t at, std::string& out) {
    if (at == 0) {
      append_title(c, out);
    } else {
      append_lower_at(text, c, at, out);
    }
  });
}

std::string title(std::string_view text, TemplateBudget& budget) {
  bool goes_on = false;
  return mapped(text, budget, [&](char32_t c, size_t at, std::string& out) {
    if (goes_on) {
      append_lower_at(text, c, at, out);
    } else {
      append_title(c, out);
    }
    goes_on = is_cased(c);
  });
}

std::string title_words(std::string_view text, TemplateBudget& budget) {
  bool goes_on = false;
  return mapped(text, budget, [&](char32_t c, size_t at, std::string& out) {
    const bool is_between = is_python_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
    if (goes_on) {
      append_lower_at(text, c, at, out);
    } else {
      append_upper(c, out);
    }
    goes_on = !is_between;
  });
}

namespace {

// True if there are letters with the property `is`, and none with `is_not`.
bool is_all(std::string_view text, bool (*is)(char32_t), bool (*is_not)(char32_t), TemplateBudget& budget) {
  budget.work(8 * text.size());
  bool found = false;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    at += c.length;
    if (c.status != Utf8Status::kValid) continue;
    if (is_not(c.code)) return false;
    found = found || is(c.code);
  }
  return found;
}

}  // namespace

bool is_all_lower(std::string_view text, TemplateBudget& budget) {
  return is_all(text, is_lower_case, is_upper_case, budget);
}
bool is_all_upper(std::string_view text, TemplateBudget& budget) {
  return is_all(text, is_upper_case, is_lower_case, budget);
}

bool all_of(std::string_view text, bool (*has)(char32_t), TemplateBudget& budget) {
  budget.work(8 * text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    if (c.status != Utf8Status::kValid || !has(c.code)) return false;
    at += c.length;
  }
  return !text.empty();
}

std::string escape_markup(std::string_view text, TemplateBudget& budget) {
  budget.take(5 * text.size());
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&#34;";
    } else if (c == '\'') {
      out += "&#39;";
    } else {
      out += c;
    }
  }
  return out;
}

size_t find_text(std::string_view text, std::string_view what, TemplateBudget& budget) {
  if (what.empty()) return 0;
  const size_t at = platform::find_bytes(text, what);
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

namespace {

// The length of a line break at the start of `text`; 0: there is none.
size_t line_break(std::string_view text) {
  if (text.starts_with("\r\n")) return 2;
  const Utf8Char c = decode_utf8(text);
  const bool breaks = (c.code >= '\n' && c.code <= '\r') || (c.code >= 0x1C && c.code <= 0x1E) || c.code == 0x85 ||
                      c.code == 0x2028 || c.code == 0x2029;
  return breaks && c.status == Utf8Status::kValid ? c.length : 0;
}

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text, bool keeps_ends, TemplateBudget& budget) {
  std::vector<std::string_view> lines;
  budget.work(8 * text.size());
  while (!text.empty()) {
    budget.take(64);
    size_t end = 0, n_end = 0;
    while (end < text.size() && (n_end = line_break(text.substr(end))) == 0) end += character_bytes(text.substr(end));
    lines.push_back(text.substr(0, keeps_ends ? end + n_end : end));
    text.remove_prefix(end + n_end);
  }
  return lines;
}

}  // namespace tern
