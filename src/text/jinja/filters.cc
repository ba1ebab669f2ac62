// Filters of texts and single values, such as "x | trim". Filters of lists are in list_filters.cc.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "text/jinja/format.h"
#include "text/jinja/functions.h"
#include "text/jinja/layout_filters.h"
#include "text/jinja/list_filters.h"
#include "text/jinja/text.h"
#include "text/unicode/character_class.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

constexpr int64_t kMostIndent = 64;

std::string_view self_text(TemplateCall& call) {
  const auto* own = std::get_if<std::string_view>(&call.self());
  return own != nullptr ? *own : call.memory.keep(to_text(call.self(), call.budget()));
}

TemplateValue trim(TemplateCall& call) {
  const std::string_view text = self_text(call);
  call.budget().work(text.size());
  const TemplateValue* set = call.find(1, "chars");
  if (set == nullptr || std::holds_alternative<None>(*set)) return strip_left(strip_right(text));
  const std::string_view characters = to_string_view(*set);
  return strip_left(strip_right(text, characters, call.budget()), characters, call.budget());
}

template <std::string (*kMap)(std::string_view, TemplateBudget&)>
TemplateValue map_text(TemplateCall& call) {
  const std::string_view text = self_text(call);
  return call.keep_like(text, kMap(text, call.budget()));
}

TemplateValue default_value(TemplateCall& call) {
  const bool is_missing =
      std::holds_alternative<Undefined>(call.self()) || (call.flag(2, "boolean", false) && !is_true(call.self()));
  if (!is_missing) return call.self();
  const TemplateValue* value = call.find(1, "default_value");
  return value == nullptr ? TemplateValue(std::string_view()) : *value;
}

TemplateValue escape_again(TemplateCall& call) { return call.memory.as_safe(call.memory.escaped(self_text(call))); }

TemplateValue escape(TemplateCall& call) {
  return call.memory.is_safe(self_text(call)) ? call.self() : escape_again(call);
}

TemplateValue safe(TemplateCall& call) { return call.memory.as_safe(self_text(call)); }

TemplateValue string_of(TemplateCall& call) { return self_text(call); }

int64_t indent_width(TemplateCall& call, size_t i, std::string_view argument, int64_t otherwise) {
  const int64_t width = call.integer(i, argument, otherwise);
  if (width > kMostIndent) refuse_template("{}() by more than {}", call.name, kMostIndent);
  return width;
}

// Indents all lines except the first and empty ones, unless these are asked for. Every line break becomes \n.
TemplateValue indent(TemplateCall& call) {
  const std::string_view text = self_text(call);
  const TemplateValue* given = call.find(1, "width");
  const auto* prefix = given == nullptr ? nullptr : std::get_if<std::string_view>(given);
  const std::string spaces(
      prefix != nullptr ? 0 : static_cast<size_t>(std::max<int64_t>(0, indent_width(call, 1, "width", 4))), ' ');
  const std::string_view by = prefix != nullptr ? *prefix : spaces;
  const bool indents = call.flag(2, "first", false);
  const bool blank = call.flag(3, "blank", false);
  std::vector<std::string_view> lines = split_lines(text, /*keeps_ends=*/false, call.budget());
  const std::vector<std::string_view> whole = split_lines(text, /*keeps_ends=*/true, call.budget());
  if (whole.empty() || whole.back().size() > lines.back().size()) lines.emplace_back();
  TemplateText out = call.memory.new_text();
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append("\n");
    if (i == 0 ? indents : blank || !lines[i].empty()) out.append(by);
    out.append(lines[i]);
  }
  return call.keep(std::move(out));
}

// transformers' tojson(ensure_ascii=False, indent=None, separators=None, sort_keys=False).
TemplateValue to_json(TemplateCall& call) {
  JsonStyle style = {.is_ascii = call.flag(1, "ensure_ascii", false), .sorts_keys = call.flag(4, "sort_keys", false)};
  // Jinja's own filter has the indent first, and some templates give it so.
  const bool is_indent =
      call.args.size() == 2 && is_number(call.args[1]) && !std::holds_alternative<bool>(call.args[1]);
  const size_t at = is_indent ? 1 : 2;
  if (is_indent) style.is_ascii = false;
  const TemplateValue* indent = call.find(at, "indent");
  if (indent != nullptr && !std::holds_alternative<None>(*indent)) {
    style.indent = static_cast<int>(std::max<int64_t>(indent_width(call, at, "indent", -1), -1));
  }
  if (style.indent >= 0) style.item_separator = ",";
  const TemplateValue* separators = call.find(3, "separators");
  if (separators != nullptr && !std::holds_alternative<None>(*separators)) {
    const std::vector<TemplateValue> both = items_of(*separators, call.budget());
    if (both.size() != 2) object("tojson() with {} separators; two are needed", both.size());
    style.item_separator = to_string_view(both[0]);
    style.key_separator = to_string_view(both[1]);
  }
  std::string out;
  append_json(call.self(), style, out, call.budget());
  return call.keep(std::move(out));
}

TemplateValue format_text_of(TemplateCall& call) {
  const std::string_view text = self_text(call);
  if (!call.named.empty()) {
    std::vector<std::pair<TemplateValue, TemplateValue>> named(call.named.begin(), call.named.end());
    return call.keep(format_percent(text, call.memory.dict(std::move(named)), call.memory));
  }
  std::vector<TemplateValue> values(call.args.begin() + 1, call.args.end());
  return call.keep(format_percent(text, call.memory.list(std::move(values), true), call.memory));
}

TemplateValue replace_text(TemplateCall& call) {
  const std::string_view text = self_text(call);
  TemplateText out = call.memory.new_text();
  replace(text, to_string_view(call.need(1, "old")), to_string_view(call.need(2, "new")), call.integer(3, "count", -1),
          out);
  return call.keep(std::move(out));
}

// A whole number as Python's int() reads it; nullopt: it is none.
std::optional<int64_t> whole_number(std::string_view digits, int64_t base) {
  if ((base != 0 && base < 2) || base > 36) object("int() to the base {}", base);
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.remove_prefix(1);
  const bool had_zero = digits.starts_with('0');
  for (const auto& [letter, of] : {std::pair('x', 16), std::pair('o', 8), std::pair('b', 2)}) {
    if ((base != 0 && base != of) || digits.size() < 3 || digits[0] != '0' || (digits[1] | 0x20) != letter) continue;
    base = of;
    digits.remove_prefix(2);
    break;
  }
  if (base == 0 && had_zero && digits.find_first_not_of('0') != digits.npos) return std::nullopt;
  if (base == 0) base = 10;
  std::string plain;  // an underscore may be between two digits
  for (size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] != '_') plain += digits[i];
    if (digits[i] == '_' && (i == 0 || i + 1 == digits.size() || digits[i - 1] == '_')) return std::nullopt;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value, static_cast<int>(base));
  if (error != std::errc() || end != plain.data() + plain.size() || plain.starts_with('-')) return std::nullopt;
  return is_negative ? -value : value;
}

// The number in a text, or the default.
template <class Number>
TemplateValue number_of(TemplateCall& call, Number otherwise) {
  const TemplateValue* given = call.find(1, "default");
  const TemplateValue fallback = given != nullptr ? *given : TemplateValue(otherwise);
  const auto* text = std::get_if<std::string_view>(&call.self());
  double value = 0;
  if (text != nullptr) {
    const std::string_view digits = strip_left(strip_right(*text));
    call.budget().work(digits.size());
    if constexpr (std::is_integral_v<Number>) {
      if (const auto whole = whole_number(digits, call.integer(2, "base", 10))) return *whole;
    }
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return fallback;
  } else if (is_number(call.self())) {
    value = to_double(call.self());
  } else {
    return fallback;
  }
  if constexpr (std::is_integral_v<Number>) {
    if (std::holds_alternative<int64_t>(call.self())) return call.self();
    if (!(std::abs(value) < 9e15)) return fallback;
  }
  return static_cast<Number>(value);
}

TemplateValue absolute(TemplateCall& call) {
  if (const auto* d = std::get_if<double>(&call.self())) return std::abs(*d);
  const int64_t value = to_integer(call.self());
  return value < 0 ? arithmetic(int64_t{0}, "-", value, call.memory) : TemplateValue(value);
}

// Python's round(), which rounds the exact value, half to even.
double rounded(double value, int precision) {
  if (precision < 0) {
    const double unit = std::pow(10.0, -precision);
    return std::nearbyint(value / unit) * unit;
  }
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", precision, value);
  return std::strtod(text, nullptr);
}

TemplateValue round_number(TemplateCall& call) {
  const int precision = static_cast<int>(std::clamp<int64_t>(call.integer(1, "precision", 0), -15, 15));
  const std::string_view method = call.text(2, "method", "common");
  const double value = to_double(call.self());
  if (method == "common") {
    if (std::holds_alternative<double>(call.self())) return rounded(value, precision);
    return precision >= 0 ? TemplateValue(to_integer(call.self())) : static_cast<int64_t>(rounded(value, precision));
  }
  const double scale = std::pow(10.0, precision);
  return (method == "ceil" ? std::ceil(value * scale) : std::floor(value * scale)) / scale;
}

TemplateValue word_count(TemplateCall& call) {
  const std::string_view text = self_text(call);
  call.budget().work(8 * text.size());
  int64_t n = 0;
  bool is_in_word = false;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    const bool is_word = c.status == Utf8Status::kValid && is_word_character(c.code);
    n += is_word && !is_in_word ? 1 : 0;
    is_in_word = is_word;
    at += c.length;
  }
  return n;
}

struct NamedFilter {
  std::string_view name;
  TemplateNative filter;
};

constexpr NamedFilter kTextFilters[] = {
    {"abs", absolute},
    {"capitalize", map_text<capitalize>},
    {"d", default_value},
    {"default", default_value},
    {"e", escape},
    {"escape", escape},
    {"forceescape", escape_again},
    {"float", [](TemplateCall& call) { return number_of(call, 0.0); }},
    {"format", format_text_of},
    {"indent", indent},
    {"int", [](TemplateCall& call) { return number_of(call, int64_t{0}); }},
    {"lower", map_text<lower>},
    {"replace", replace_text},
    {"round", round_number},
    {"safe", safe},
    {"string", string_of},
    {"title", map_text<title_words>},
    {"tojson", to_json},
    {"trim", trim},
    {"upper", map_text<upper>},
    {"wordcount", word_count},
};

}  // namespace

TemplateNative find_template_filter(std::string_view name) {
  const auto* found = std::ranges::find(kTextFilters, name, &NamedFilter::name);
  if (found != std::end(kTextFilters)) return found->filter;
  const TemplateNative filter = find_template_layout_filter(name);
  return filter != nullptr ? filter : find_template_list_filter(name);
}

}  // namespace tern
