#include "text/jinja/format.h"

#include <algorithm>
#include <charconv>

#include "text/jinja/operations.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

// A field's index, if it is one.
std::optional<size_t> index_of(std::string_view field) {
  size_t index = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), index);
  if (error != std::errc() || end != field.data() + field.size()) return std::nullopt;
  return index;
}

const TemplateValue& value_at(std::span<const TemplateValue> values, size_t i) {
  if (i >= values.size()) object("a text is formatted with too few values");
  return values[i];
}

}  // namespace

TemplateText format_fields(std::string_view text, std::span<const TemplateValue> values,
                           std::span<const std::pair<std::string_view, TemplateValue>> named, TemplateMemory& memory) {
  TemplateText out = memory.new_text();
  size_t next = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool is_twice = at + 1 < text.size() && text[at + 1] == c;
    if ((c == '{' || c == '}') && is_twice) ++at;
    if (c == '}' && !is_twice) object("format() of a text with a single '}}'");
    if (c != '{' || is_twice) {
      out.append(text.substr(at, 1));
      continue;
    }
    const size_t end = text.find('}', at);
    if (end == text.npos) object("format() of a text with a single '{{'");
    const std::string_view field = text.substr(at + 1, end - at - 1);
    at = end;
    if (field.find_first_of(":!.[{") != field.npos)
      refuse_template("format() with '{}'; fields without specifications are supported", printable(field, 40));
    if (field.empty()) {
      append_text(value_at(values, next++), out);
    } else if (const auto index = index_of(field)) {
      append_text(value_at(values, *index), out);
    } else {
      const auto found = std::ranges::find(named, field, &std::pair<std::string_view, TemplateValue>::first);
      if (found == named.end()) object("format() without '{}'", printable(field, 40));
      append_text(found->second, out);
    }
  }
  return out;
}

TemplateText format_percent(std::string_view text, const TemplateValue& value, TemplateMemory& memory) {
  const auto* list = std::get_if<const TemplateList*>(&value);
  const auto* dict = std::get_if<const TemplateDict*>(&value);
  const bool is_tuple = list != nullptr && (*list)->is_tuple;
  const std::span<const TemplateValue> values =
      is_tuple ? std::span<const TemplateValue>((*list)->items) : std::span<const TemplateValue>(&value, 1);
  TemplateText out = memory.new_text();
  size_t next = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out.append(text.substr(at, 1));
      continue;
    }
    if (++at == text.size()) object("a text to format ends with '%'");
    if (text[at] == '%') {
      out.append(text.substr(at, 1));
      continue;
    }
    const TemplateValue* found = nullptr;
    if (text[at] == '(') {
      const size_t end = std::min(text.find(')', at), text.size());
      const std::string_view name = text.substr(at + 1, end - at - 1);
      found = dict == nullptr ? nullptr : find(**dict, name, memory.budget());
      if (found == nullptr) object("a text is formatted without '{}'", printable(name, 40));
      at = end + 1;
    } else {
      found = &value_at(values, next++);
    }
    const char kind = at < text.size() ? text[at] : ' ';
    if (kind != 's' && kind != 'd' && kind != 'i')
      refuse_template("a text formatted with '%{}'; %s, %d and %i are supported", std::string_view(&kind, 1));
    if (kind == 's') {
      append_text(*found, out);
    } else if (const auto* real = std::get_if<double>(found)) {
      out.append_said(std::to_string(static_cast<int64_t>(*real)));
    } else {
      out.append_said(std::to_string(to_integer(*found)));
    }
  }
  if (dict == nullptr && next < values.size()) object("a text is formatted with too many values");
  return out;
}

}  // namespace tern
