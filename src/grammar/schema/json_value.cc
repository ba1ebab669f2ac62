#include "grammar/schema/json_value.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "base/check.h"
#include "base/pauses.h"
#include "base/text/quoted.h"
#include "grammar/rules/char_automaton.h"
#include "grammar/rules/utf8_chars.h"

namespace tern::grammar {
namespace {

constexpr size_t kMaxJson = size_t{1} << 20;
constexpr int kMaxNesting = 100;

constexpr size_t kFewMembers = 16;

void sort_names(JsonValue& object) {
  if (object.names.size() <= kFewMembers) return;
  object.by_name.resize(object.names.size());
  std::iota(object.by_name.begin(), object.by_name.end(), 0u);
  std::ranges::sort(object.by_name, {}, [&](uint32_t i) { return std::string_view(object.names[i]); });
}

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Result<JsonValue> read() {
    TRY(JsonValue value, any(0));
    skip_space();
    if (at_ < text_.size()) return error("more after the end");
    return value;
  }

 private:
  std::unexpected<Error> error(std::string_view what) const {
    const std::string_view before = text_.substr(0, at_);
    return fail(ErrorCode::kInvalidArgument, "line {}, column {}: no valid JSON: {}",
                1 + std::ranges::count(before, '\n'), at_ - (before.rfind('\n') + 1) + 1, what);
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").contains(text_[at_])) ++at_;
  }
  bool skip(std::string_view what) {
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }

  Result<JsonValue> any(int depth) {
    Pauses::check_point(20);
    auto value = unnumbered(depth);
    if (value) value->number = n_values_++;
    return value;
  }

  Result<JsonValue> unnumbered(int depth) {
    if (depth > kMaxNesting) return fail(ErrorCode::kNotSupported, "nested more than {} deep", kMaxNesting);
    skip_space();
    if (skip("null")) return JsonValue{.kind = JsonValue::kNull};
    if (skip("true")) return JsonValue{.kind = JsonValue::kTrue};
    if (skip("false")) return JsonValue{.kind = JsonValue::kFalse};
    if (peek() == '"') {
      JsonValue value = {.kind = JsonValue::kString};
      TRY(value.text, string());
      return value;
    }
    if (skip("[")) return array(depth);
    if (skip("{")) return object(depth);
    return number();
  }

  Result<JsonValue> array(int depth) {
    JsonValue value = {.kind = JsonValue::kArray};
    skip_space();
    if (skip("]")) return value;
    for (;;) {
      TRY(JsonValue item, any(depth + 1));
      value.items.push_back(std::move(item));
      skip_space();
      if (skip("]")) return value;
      if (!skip(",")) return error("',' or ']' was expected");
    }
  }

  Result<JsonValue> object(int depth) {
    JsonValue value = {.kind = JsonValue::kObject};
    std::unordered_set<std::string> known;
    skip_space();
    if (skip("}")) return value;
    for (;;) {
      skip_space();
      if (peek() != '"') return error("a name in quotation marks was expected");
      const size_t begin = at_;
      TRY(std::string name, string());
      if (!known.insert(name).second)
        return at_ = begin, error(format_text("{} a second time in one object", tern::quoted(name)));
      skip_space();
      if (!skip(":")) return error("':' was expected");
      TRY(JsonValue item, any(depth + 1));
      value.names.push_back(std::move(name));
      value.items.push_back(std::move(item));
      skip_space();
      if (skip("}")) {
        sort_names(value);
        return value;
      }
      if (!skip(",")) return error("',' or '}' was expected");
    }
  }

  bool skip_digits() {
    const size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > begin;
  }

  Result<JsonValue> number() {
    const size_t begin = at_;
    skip("-");
    const bool is_whole = skip("0") || skip_digits();
    const bool has_fraction = !skip(".") || skip_digits();
    bool has_exponent = true;
    if (skip("e") || skip("E")) {
      if (!skip("+")) skip("-");
      has_exponent = skip_digits();
    }
    if (!is_whole || !has_fraction || !has_exponent) return at_ = begin, error("a value was expected");
    return JsonValue{.kind = JsonValue::kNumber, .text = std::string(text_.substr(begin, at_ - begin))};
  }

  Result<char32_t> hex4() {
    char32_t value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const size_t digit = std::string_view("0123456789abcdef").find(static_cast<char>(peek() | 0x20));
      if (digit > 15) return error("an escape without its hexadecimal digits");
      value = value * 16 + static_cast<char32_t>(digit);
    }
    return value;
  }

  Result<char32_t> escape() {
    constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
    if (skip("u")) {
      TRY(char32_t code, hex4());
      if (code >= 0xD800 && code < 0xDC00 && skip("\\u")) {
        TRY(const char32_t low, hex4());
        if (low < 0xDC00 || low > 0xDFFF) return error("half a character");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      }
      if (code >= 0xD800 && code < 0xE000) return error("half a character");
      return code;
    }
    const size_t named = kNames.find(peek());
    if (named == kNames.npos || at_ >= text_.size()) return error("an escape that means nothing");
    ++at_;
    return static_cast<char32_t>(kValues[named]);
  }

  Result<std::string> string() {
    std::string value;
    ++at_;
    while (!skip("\"")) {
      if (at_ >= text_.size()) return error("a string without its end");
      if (skip("\\")) {
        TRY(const char32_t code, escape());
        append_char(code, value);
        continue;
      }
      const size_t begin = at_;  // characters that stand for themselves
      while (at_ < text_.size() && text_[at_] >= ' ' && text_[at_] <= '~' && text_[at_] != '"' && text_[at_] != '\\')
        ++at_;
      value.append(text_, begin, at_ - begin);
      if (at_ > begin) continue;
      std::string_view rest = text_.substr(at_);
      const auto c = take_char(rest);
      if (!c) return error("invalid UTF-8");
      if (*c < 0x20) return error("a control character in a string");
      append_char(*c, value);
      at_ = text_.size() - rest.size();
    }
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t n_values_ = 0;
};

bool find_path(const JsonValue& at, const JsonValue& value, std::string& path) {
  if (&at == &value) return true;
  for (size_t i = 0; i < at.items.size(); ++i) {
    const size_t before = path.size();
    path += '/';
    if (at.kind == JsonValue::kArray) {
      path += std::to_string(i);
    } else {
      for (const char c : at.names[i]) path += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
    if (find_path(at.items[i], value, path)) return true;
    path.resize(before);
  }
  return false;
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  if (!by_name.empty()) {
    const auto found =
        std::ranges::lower_bound(by_name, name, {}, [this](uint32_t i) { return std::string_view(names[i]); });
    return found != by_name.end() && names[*found] == name ? &items[*found] : nullptr;
  }
  const auto at = std::ranges::find(names, name);
  return at == names.end() ? nullptr : &items[static_cast<size_t>(at - names.begin())];
}

Result<JsonValue> read_json(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark, which some editors write
  if (text.size() > kMaxJson) {
    return fail(ErrorCode::kNotSupported, "{} bytes of JSON: Tern reads up to {}", text.size(), kMaxJson);
  }
  return JsonReader(text).read();
}

std::string pointer_to(const JsonValue& root, const JsonValue& value) {
  std::string path;
  find_path(root, value, path);
  return path;
}

const JsonValue* find_at(const JsonValue& root, std::string_view pointer) {
  const JsonValue* at = &root;
  while (at && !pointer.empty()) {
    if (pointer[0] != '/') return nullptr;
    const size_t end = std::min(pointer.find('/', 1), pointer.size());
    std::string name;
    for (size_t i = 1; i < end; ++i) {
      const bool is_escape = pointer[i] == '~' && i + 1 < end;
      name += is_escape ? (pointer[++i] == '1' ? '/' : '~') : pointer[i];
    }
    pointer.remove_prefix(end);
    if (at->kind == JsonValue::kArray) {
      size_t index = 0;
      for (const char c : name)
        index = c >= '0' && c <= '9' && index < kMaxJson ? index * 10 + static_cast<size_t>(c - '0') : kMaxJson;
      at = !name.empty() && index < at->items.size() ? &at->items[index] : nullptr;
    } else {
      at = at->find(name);
    }
  }
  return at;
}

std::string json_string(std::string_view text) {
  Pauses::check_point(20);
  std::string out = "\"";
  while (const auto c = take_char(text)) out += json_spelling(*c);
  return out + '"';
}

std::string json_text(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::kNull:
      return "null";
    case JsonValue::kFalse:
      return "false";
    case JsonValue::kTrue:
      return "true";
    case JsonValue::kNumber:
      return value.text;
    case JsonValue::kString:
      return json_string(value.text);
    case JsonValue::kArray:
    case JsonValue::kObject:
      break;
  }
  CHECK(false);
}

Result<Decimal> Decimal::of(std::string_view number) {
  Decimal out;
  if (number.starts_with('-')) out.is_negative = true, number.remove_prefix(1);
  const size_t e = number.find_first_of("eE");
  int exponent = 0;
  if (e != number.npos) {
    std::string_view digits = number.substr(e + 1);
    const bool is_negative = digits.starts_with('-');
    if (digits.starts_with('-') || digits.starts_with('+')) digits.remove_prefix(1);
    while (digits.size() > 1 && digits.starts_with('0')) digits.remove_prefix(1);
    if (digits.size() > 4)
      return fail(ErrorCode::kNotSupported, "the number {} is too large or too small", number.substr(0, 40));
    for (const char c : digits) exponent = exponent * 10 + (c - '0');
    if (is_negative) exponent = -exponent;
    number = number.substr(0, e);
  }
  const size_t point = std::min(number.find('.'), number.size());
  for (const char c : number) {
    if (c != '.') out.digits += c;
  }
  out.exponent = static_cast<int>(point) + exponent;
  const size_t first = std::min(out.digits.find_first_not_of('0'), out.digits.size());
  out.digits.erase(0, first);
  out.exponent -= static_cast<int>(first);
  while (out.digits.ends_with('0')) out.digits.pop_back();
  if (out.digits.empty()) out.exponent = 0, out.is_negative = false;
  return out;
}

int Decimal::digit(int place) const {
  const int index = exponent - 1 - place;
  return index < 0 || index >= static_cast<int>(digits.size()) ? 0 : digits[static_cast<size_t>(index)] - '0';
}

int Decimal::compare(const Decimal& a, const Decimal& b) {
  const auto sign = [](const Decimal& x) { return x.is_zero() ? 0 : x.is_negative ? -1 : 1; };
  if (sign(a) != sign(b) || sign(a) == 0) return sign(a) - sign(b);
  const int larger = a.exponent != b.exponent ? a.exponent - b.exponent : a.digits.compare(b.digits);
  return a.is_negative ? -larger : larger;
}

std::string canonical_text(const JsonValue& value) {
  if (value.kind == JsonValue::kNumber) {
    const auto number = Decimal::of(value.text);
    if (!number) return value.text;
    return (number->is_negative ? "-0." : "0.") + number->digits + "e" + std::to_string(number->exponent);
  }
  if (value.kind != JsonValue::kArray && value.kind != JsonValue::kObject) return json_text(value);
  std::vector<std::string> parts;
  for (size_t i = 0; i < value.items.size(); ++i) {
    const bool is_member = value.kind == JsonValue::kObject;
    parts.push_back((is_member ? json_string(value.names[i]) + ":" : "") + canonical_text(value.items[i]));
  }
  if (value.kind == JsonValue::kObject) std::ranges::sort(parts);
  std::string out = value.kind == JsonValue::kObject ? "{" : "[";
  for (const std::string& part : parts) out += part + ",";
  return out + "]";
}

}  // namespace tern::grammar
