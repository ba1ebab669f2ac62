// Prints values as Python does and as JSON.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "text/jinja/value.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

// The shortest digits that read back as x > 0, and the power of ten of the first digit. It does not use std::to_chars,
// whose tables are a twentieth of the engine in a browser.
std::pair<std::string, int> shortest_digits(double x) {
  char text[32];  // "d.ddde±xx"
  for (int n = 0; n < std::numeric_limits<double>::max_digits10; ++n) {
    std::snprintf(text, sizeof text, "%.*e", n, x);
    if (std::strtod(text, nullptr) == x) break;
  }
  std::string digits(text, std::strchr(text, 'e'));
  std::erase(digits, '.');
  return {std::move(digits), std::atoi(std::strchr(text, 'e') + 1)};
}

// repr(x): the shortest digits that read back as x, without an exponent if x is of ordinary size.
std::string float_text(double x) {
  if (std::isnan(x)) return "nan";
  const std::string sign = std::signbit(x) ? "-" : "";
  const double size = std::abs(x);
  if (std::isinf(x)) return sign + "inf";
  if (size == 0) return sign + "0.0";
  auto [digits, power] = shortest_digits(size);
  if (size < 1e-4 || size >= 1e16) {
    if (digits.size() > 1) digits.insert(1, ".");
    return format_text("{}{}e{}{:02}", sign, digits, power < 0 ? "-" : "+", std::abs(power));
  }
  if (power < 0) return sign + "0." + std::string(static_cast<size_t>(-power - 1), '0') + digits;
  const size_t n_whole = static_cast<size_t>(power) + 1;
  if (digits.size() <= n_whole) return sign + digits + std::string(n_whole - digits.size(), '0') + ".0";
  return sign + digits.insert(n_whole, ".");
}

void append(std::string& out, std::string_view text, TemplateBudget& budget) {
  budget.take(2 * text.size());
  out += text;
}

// Unassigned characters are not known here and count as printable.
bool is_printable(char32_t c) {
  constexpr std::pair<char32_t, char32_t> kNot[] = {
      {0x80, 0xA0},     {0xAD, 0xAD},     {0x600, 0x605},   {0x61C, 0x61C},     {0x6DD, 0x6DD},   {0x70F, 0x70F},
      {0x1680, 0x1680}, {0x180E, 0x180E}, {0x2000, 0x200F}, {0x2028, 0x202F},   {0x205F, 0x206F}, {0x3000, 0x3000},
      {0xE000, 0xF8FF}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0x10FFFF}};
  return std::ranges::none_of(
      kNot, [&](const auto& range) { return c >= range.first && c <= range.second && (c < 0xE0100 || c > 0xE01EF); });
}

// A character beyond ASCII in repr(): as it is, or escaped.
void append_printable(const Utf8Char& c, std::string_view bytes, std::string& out) {
  if (c.status != Utf8Status::kValid || is_printable(c.code)) {
    out += bytes;
  } else if (c.code < 0x100) {
    out += format_text("\\x{:02x}", static_cast<uint32_t>(c.code));
  } else if (c.code < 0x10000) {
    out += format_text("\\u{:04x}", static_cast<uint32_t>(c.code));
  } else {
    out += format_text("\\U{:08x}", static_cast<uint32_t>(c.code));
  }
}

// Appends repr() of a text.
void append_quoted(std::string_view text, std::string& out, TemplateBudget& budget) {
  const char quote = text.contains('\'') && !text.contains('"') ? '"' : '\'';
  budget.take(8 * text.size());
  out += quote;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == quote || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += format_text("\\x{:02x}", static_cast<unsigned char>(c));
    } else if (static_cast<unsigned char>(c) > 0x7F) {
      const Utf8Char wide = decode_utf8(text.substr(at));
      append_printable(wide, text.substr(at, wide.length), out);
      at += wide.length - 1;
    } else {
      out += c;
    }
  }
  out += quote;
}

void append_ascii(char32_t c, std::string& out) {
  if (c < 0x10000) {
    out += format_text("\\u{:04x}", static_cast<uint32_t>(c));
    return;
  }
  const uint32_t rest = static_cast<uint32_t>(c) - 0x10000;
  out += format_text("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
}

void append_json_text(std::string_view text, bool is_ascii, std::string& out, TemplateBudget& budget) {
  constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
  constexpr std::string_view kNames = "\"\\bfnrt";
  budget.take(12 * text.size());
  out += '"';
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (is_ascii && static_cast<unsigned char>(c) >= 0x7F) {
      const Utf8Char decoded = decode_utf8(text.substr(at));
      append_ascii(decoded.status == Utf8Status::kValid ? decoded.code : 0xFFFD, out);
      at += decoded.length - 1;
      continue;
    }
    if (const size_t which = kEscaped.find(c); which != kEscaped.npos) {
      out += {'\\', kNames[which]};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += format_text("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_plain(const TemplateValue& value, std::string& out, TemplateBudget& budget);

// Lists and dicts as Python prints them.
class Printer {
 public:
  Printer(std::string& out, TemplateBudget& budget) : out_(out), budget_(budget) {}

  void print(const TemplateValue& value) {
    budget_.take(32);
    if (const auto* text = std::get_if<std::string_view>(&value)) {
      append_quoted(*text, out_, budget_);
    } else if (const auto* list = std::get_if<const TemplateList*>(&value)) {
      print_list(**list);
    } else if (const auto* dict = std::get_if<const TemplateDict*>(&value)) {
      out_ += '{';
      const char* separator = "";
      for (const auto& [key, item] : (*dict)->items) {
        out_ += separator;
        print(key);
        out_ += ": ";
        print(item);
        separator = ", ";
      }
      out_ += '}';
    } else {
      if (std::holds_alternative<Undefined>(value)) out_ += "Undefined";
      append_plain(value, out_, budget_);
    }
  }

 private:
  void print_list(const TemplateList& list) {
    out_ += list.is_tuple ? '(' : '[';
    const char* separator = "";
    for (const TemplateValue& item : list.items) {
      out_ += separator;
      print(item);
      separator = ", ";
    }
    if (list.is_tuple && list.items.size() == 1) out_ += ',';
    out_ += list.is_tuple ? ')' : ']';
  }

  std::string& out_;
  TemplateBudget& budget_;
};

class JsonPrinter {
 public:
  JsonPrinter(const JsonStyle& style, std::string& out, TemplateBudget& budget)
      : style_(style), out_(out), budget_(budget) {}

  void print(const TemplateValue& value, size_t depth) {
    budget_.take(32);
    if (const auto* text = std::get_if<std::string_view>(&value)) {
      append_json_text(*text, style_.is_ascii, out_, budget_);
    } else if (const auto* list = std::get_if<const TemplateList*>(&value)) {
      print_items('[', (*list)->items, ']', depth, [&](const TemplateValue& item) { print(item, depth + 1); });
    } else if (const auto* dict = std::get_if<const TemplateDict*>(&value)) {
      auto items = (*dict)->items;
      if (style_.sorts_keys) {
        std::ranges::stable_sort(items, [&](const auto& a, const auto& b) { return less(a.first, b.first, budget_); });
      }
      print_items('{', items, '}', depth, [&](const auto& item) {
        print_key(item.first);
        out_ += style_.key_separator;
        print(item.second, depth + 1);
      });
    } else if (std::holds_alternative<None>(value)) {
      out_ += "null";
    } else if (const auto* b = std::get_if<bool>(&value)) {
      out_ += *b ? "true" : "false";
    } else if (is_number(value)) {
      append_plain(value, out_, budget_);
    } else {
      object("a {} has no form in JSON", type_name(value));
    }
  }

 private:
  void new_line(size_t depth) {
    if (style_.indent < 0) return;
    const size_t width = static_cast<size_t>(style_.indent) * depth;
    budget_.take(2 * width);
    out_ += '\n';
    out_.append(width, ' ');
  }

  // Keys are texts: numbers and the like become what they are in JSON.
  void print_key(const TemplateValue& key) {
    const bool is_word = std::holds_alternative<None>(key) || std::holds_alternative<bool>(key);
    if (is_word) out_ += '"';
    if (is_word) print(key, 0);
    if (is_word) out_ += '"';
    if (!is_word) append_json_text(to_text(key, budget_), style_.is_ascii, out_, budget_);
  }

  template <class Items, class PrintItem>
  void print_items(char open, const Items& items, char close, size_t depth, const PrintItem& print_item) {
    out_ += open;
    bool is_first = true;
    for (const auto& item : items) {
      if (!is_first) out_ += style_.item_separator;
      is_first = false;
      new_line(depth + 1);
      print_item(item);
    }
    if (!items.empty()) new_line(depth);
    out_ += close;
  }

  const JsonStyle& style_;
  std::string& out_;
  TemplateBudget& budget_;
};

void append_plain(const TemplateValue& value, std::string& out, TemplateBudget& budget) {
  budget.step();
  if (std::holds_alternative<Undefined>(value)) return;
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    append(out, *text, budget);
  } else if (const auto* b = std::get_if<bool>(&value)) {
    append(out, *b ? "True" : "False", budget);
  } else if (const auto* i = std::get_if<int64_t>(&value)) {
    append(out, std::to_string(*i), budget);
  } else if (const auto* d = std::get_if<double>(&value)) {
    append(out, float_text(*d), budget);
  } else if (std::holds_alternative<None>(value)) {
    append(out, "None", budget);
  } else if (std::holds_alternative<const TemplateList*>(value) || std::holds_alternative<const TemplateDict*>(value)) {
    Printer(out, budget).print(value);
  } else {
    append(out, format_text("<{}>", type_name(value)), budget);
  }
}

}  // namespace

void append_text(const TemplateValue& value, TemplateText& out) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    out.budget().step();
    return out.append(*text);
  }
  std::string printed;
  append_plain(value, printed, out.budget());
  out.append_said(printed);
}

std::string to_text(const TemplateValue& value, TemplateBudget& budget) {
  std::string out;
  append_plain(value, out, budget);
  return out;
}

void append_json(const TemplateValue& value, const JsonStyle& style, std::string& out, TemplateBudget& budget) {
  JsonPrinter(style, out, budget).print(value, 0);
}

}  // namespace tern
