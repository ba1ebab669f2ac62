#include "text/jinja/layout_filters.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "text/jinja/text.h"
#include "text/jinja/word_wrap.h"

namespace tern {
namespace {

constexpr int64_t kMostWidth = 100'000;

std::string_view own_text(TemplateCall& call) {
  const auto* own = std::get_if<std::string_view>(&call.self());
  return own != nullptr ? *own : call.memory.keep(to_text(call.self(), call.budget()));
}

int64_t width_of(TemplateCall& call, size_t i, int64_t otherwise) {
  const int64_t width = call.integer(i, "width", otherwise);
  if (width > kMostWidth) refuse_template("{}() to more than {} characters", call.name, kMostWidth);
  return width;
}

// Jinja's truncate(length=255, killwords=False, end='...', leeway=5).
TemplateValue truncate(TemplateCall& call) {
  const std::string_view text = to_string_view(call.self());
  const int64_t length = call.integer(1, "length", 255), leeway = call.integer(4, "leeway", 5);
  const bool kills_words = call.flag(2, "killwords", false);
  const std::string_view end = call.text(3, "end", "...");
  const auto n_end = static_cast<int64_t>(count_characters(end, call.budget()));
  if (length < n_end) object("truncate() to less than its end has");
  if (leeway < 0) object("truncate() with a negative leeway");
  if (static_cast<int64_t>(count_characters(text, call.budget())) - length <= leeway) return text;
  std::string_view kept = text.substr(0, character_offset(text, static_cast<size_t>(length - n_end)));
  if (const size_t space = kept.rfind(' '); !kills_words && space != kept.npos) kept = kept.substr(0, space);
  TemplateText out = call.memory.new_text();
  out.append(kept);
  out.append(end);
  return call.keep(std::move(out));
}

// Jinja's wordwrap(width=79, break_long_words=True, wrapstring=None, break_on_hyphens=True).
TemplateValue wrap(TemplateCall& call) {
  const int64_t width = width_of(call, 1, 79);
  if (width <= 0) object("wordwrap() to {} characters", width);
  const WordWrap style = {.width = static_cast<size_t>(width),
                          .breaks_long_words = call.flag(2, "break_long_words", true),
                          .breaks_on_hyphens = call.flag(4, "break_on_hyphens", true)};
  const TemplateValue* given = call.find(3, "wrapstring");
  const bool has_own = given != nullptr && !std::holds_alternative<None>(*given) && is_true(*given);
  const std::string_view separator = has_own ? to_string_view(*given) : std::string_view("\n");
  TemplateText out = call.memory.new_text();
  bool is_first = true;
  for (const std::string_view line : split_lines(own_text(call), /*keeps_ends=*/false, call.budget())) {
    if (!is_first) out.append(separator);
    is_first = false;
    const std::vector<std::string_view> parts = wrap_words(line, style, call.budget());
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) out.append(separator);
      out.append(parts[i]);
    }
  }
  return call.keep(std::move(out));
}

bool is_safe_in_address(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_.-~").contains(c);
}

void append_quoted(TemplateCall& call, const TemplateValue& value, bool in_query, std::string& out) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  const std::string text = to_text(value, call.budget());
  call.budget().take(3 * text.size());
  for (const char c : text) {
    if (is_safe_in_address(c) || (c == '/' && !in_query)) {
      out += c;
    } else if (c == ' ' && in_query) {
      out += '+';
    } else {
      out += '%';
      out += kHex[static_cast<uint8_t>(c) >> 4];
      out += kHex[static_cast<uint8_t>(c) & 15];
    }
  }
}

// A text, or pairs of a query.
TemplateValue url_encode(TemplateCall& call) {
  std::string out;
  const auto add_pair = [&](const TemplateValue& key, const TemplateValue& value) {
    if (!out.empty()) out += '&';
    append_quoted(call, key, true, out);
    out += '=';
    append_quoted(call, value, true, out);
  };
  if (const auto* dict = std::get_if<const TemplateDict*>(&call.self())) {
    for (const auto& [key, value] : (*dict)->items) add_pair(key, value);
  } else if (const auto* list = std::get_if<const TemplateList*>(&call.self())) {
    for (const TemplateValue& pair : (*list)->items) {
      const std::vector<TemplateValue> both = items_of(pair, call.budget());
      if (both.size() != 2) object("urlencode() of what is no list of pairs");
      add_pair(both[0], both[1]);
    }
  } else {
    append_quoted(call, call.self(), false, out);
  }
  return call.keep(std::move(out));
}

TemplateValue file_size(TemplateCall& call) {
  const bool is_binary = call.flag(1, "binary", false);
  const double bytes = to_double(call.self()), base = is_binary ? 1024 : 1000;
  if (bytes == 1) return std::string_view("1 Byte");
  char text[512];  // the longest float has 309 digits
  if (bytes < base) {
    std::snprintf(text, sizeof text, "%.0f Bytes", std::trunc(bytes));
    return call.keep(std::string(text));
  }
  constexpr std::string_view kUnits = "kMGTPEZY";
  double unit = base;
  size_t i = 0;
  for (unit *= base; i + 1 < kUnits.size() && bytes >= unit; ++i) unit *= base;
  const char letter = is_binary && i == 0 ? 'K' : kUnits[i];
  std::snprintf(text, sizeof text, "%.1f %c%sB", base * bytes / unit, letter, is_binary ? "i" : "");
  return call.keep(std::string(text));
}

// A dict as attributes of an HTML element.
TemplateValue xml_attributes(TemplateCall& call) {
  const auto* dict = std::get_if<const TemplateDict*>(&call.self());
  if (dict == nullptr) object("xmlattr() of a {}", type_name(call.self()));
  const TemplateNative escape = find_template_filter("escape");
  const auto escaped = [&](const TemplateValue& value) {
    TemplateCall inner{.memory = call.memory, .name = "escape", .args = {value}};
    return std::get<std::string_view>(escape(inner));
  };
  TemplateText out = call.memory.new_text();
  for (const auto& [key, value] : (*dict)->items) {
    if (std::holds_alternative<None>(value) || std::holds_alternative<Undefined>(value)) continue;
    const std::string_view name = to_string_view(key);
    if (name.find_first_of(" \t\n\v\f\r/>=") != name.npos) object("xmlattr() with '{}' as a name", name.substr(0, 40));
    if (out.size() > 0 || call.flag(1, "autospace", true)) out.append(" ");
    out.append(escaped(key));
    out.append("=\"");
    out.append(escaped(value));
    out.append("\"");
  }
  return call.keep(std::move(out));
}

// str.center(), ljust() and rjust(): spaces, or another character, at both ends.
TemplateValue padded(TemplateCall& call, bool at_left, bool at_right, int64_t width) {
  const std::string_view text = own_text(call), fill = call.text(2, "fillchar", " ");
  const auto n = static_cast<int64_t>(count_characters(text, call.budget()));
  if (count_characters(fill, call.budget()) != 1) object("{}() with other than one character", call.name);
  if (width <= n) return text;
  const int64_t all = width - n;
  const int64_t left = !at_right ? all : !at_left ? 0 : all / 2 + (all & width & 1);
  TemplateText out = call.memory.new_text();
  for (int64_t i = 0; i < left; ++i) out.append(fill);
  out.append(text);
  for (int64_t i = left; i < all; ++i) out.append(fill);
  return call.keep(std::move(out));
}

TemplateValue zeros_before(TemplateCall& call) {
  const std::string_view text = own_text(call);
  const int64_t width = width_of(call, 1, 0);
  const auto n = static_cast<int64_t>(count_characters(text, call.budget()));
  const size_t sign = text.starts_with('+') || text.starts_with('-') ? 1 : 0;
  TemplateText out = call.memory.new_text();
  out.append(text.substr(0, sign));
  for (int64_t i = n; i < width; ++i) out.append("0");
  out.append(text.substr(sign));
  return call.keep(std::move(out));
}

TemplateValue expand_tabs(TemplateCall& call) {
  const std::string_view text = own_text(call);
  const int64_t size = call.integer(1, "tabsize", 8);
  if (size > kMostWidth) refuse_template("{}() to more than {} characters", call.name, kMostWidth);
  TemplateText out = call.memory.new_text();
  int64_t column = 0;
  for (size_t at = 0; at < text.size();) {
    const std::string_view c = text.substr(at, character_bytes(text.substr(at)));
    at += c.size();
    if (c == "\t") {
      for (int64_t n = size > 0 ? size - column % size : 0; n > 0; --n, ++column) out.append(" ");
      continue;
    }
    column = c == "\n" || c == "\r" ? 0 : column + 1;
    out.append(c);
  }
  return call.keep(std::move(out));
}

struct NamedLayout {
  std::string_view name;
  TemplateNative native;
};

constexpr NamedLayout kLayoutFilters[] = {
    {"center", [](TemplateCall& call) { return padded(call, true, true, width_of(call, 1, 80)); }},
    {"filesizeformat", file_size},
    {"truncate", truncate},
    {"urlencode", url_encode},
    {"wordwrap", wrap},
    {"xmlattr", xml_attributes},
};

constexpr NamedLayout kLayoutMethods[] = {
    {"center", [](TemplateCall& call) { return padded(call, true, true, width_of(call, 1, 0)); }},
    {"expandtabs", expand_tabs},
    {"ljust", [](TemplateCall& call) { return padded(call, false, true, width_of(call, 1, 0)); }},
    {"rjust", [](TemplateCall& call) { return padded(call, true, false, width_of(call, 1, 0)); }},
    {"zfill", zeros_before},
};

template <size_t kN>
TemplateNative named_in(const NamedLayout (&all)[kN], std::string_view name) {
  const auto* found = std::ranges::find(all, name, &NamedLayout::name);
  return found == std::end(all) ? nullptr : found->native;
}

}  // namespace

TemplateNative find_template_layout_filter(std::string_view name) { return named_in(kLayoutFilters, name); }
TemplateNative find_template_layout_method(std::string_view name) { return named_in(kLayoutMethods, name); }

}  // namespace tern
