#include "text/chat/forms/json_scanner.h"

namespace tern {
namespace {

constexpr int kMostDepth = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::string_view without_json_space(std::string_view text) {
  while (!text.empty() && is_json_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_json_space(text.back())) text.remove_suffix(1);
  return text;
}

JsonScanner::Step JsonScanner::feed(char c) {
  colon_ = false;
  switch (state_) {
    case State::kText:
    case State::kEscape:
    case State::kHex:
      return text_byte(c);
    case State::kWord:
      if (c != word_.front()) return Step::kBad;
      word_.remove_prefix(1);
      return word_.empty() ? to(State::kAfterValue) : Step::kMore;
    case State::kMinus:
    case State::kZero:
    case State::kDigits:
    case State::kPoint:
    case State::kFraction:
    case State::kE:
    case State::kESign:
    case State::kExponent:
      return number_byte(c);
    default:
      break;
  }
  if (is_json_space(c) && state_ != State::kStart) return Step::kMore;
  switch (state_) {
    case State::kStart:
      return c == '{' || c == '[' ? open(c == '{') : Step::kBad;
    case State::kFirstItem:
      return c == ']' ? close(false) : begin_value(c);
    case State::kValue:
      return begin_value(c);
    case State::kFirstName:
      if (c == '}') return close(true);
      [[fallthrough]];
    case State::kName:
      is_name_ = true;
      return c == '"' ? to(State::kText) : Step::kBad;
    case State::kColon:
      colon_ = c == ':';
      return colon_ ? to(State::kValue) : Step::kBad;
    default:
      return after_value(c);
  }
}

JsonScanner::Step JsonScanner::begin_value(char c) {
  is_name_ = false;
  if (c == '{' || c == '[') return open(c == '{');
  if (c == '"') return to(State::kText);
  if (c == '-') return to(State::kMinus);
  if (c == '0') return to(State::kZero);
  if (is_digit(c)) return to(State::kDigits);
  word_ = c == 't' ? "rue" : c == 'f' ? "alse" : c == 'n' ? "ull" : "";
  return word_.empty() ? Step::kBad : to(State::kWord);
}

JsonScanner::Step JsonScanner::open(bool is_object) {
  if (depth_ == kMostDepth) return Step::kBad;
  ++depth_;
  objects_ = objects_ << 1 | (is_object ? 1u : 0u);
  return to(is_object ? State::kFirstName : State::kFirstItem);
}

JsonScanner::Step JsonScanner::close(bool is_object) {
  if (is_object != ((objects_ & 1) != 0)) return Step::kBad;
  objects_ >>= 1;
  to(State::kAfterValue);
  return --depth_ == 0 ? Step::kDone : Step::kMore;
}

JsonScanner::Step JsonScanner::after_value(char c) {
  if (c == '}' || c == ']') return close(c == '}');
  if (c != ',') return Step::kBad;
  return to((objects_ & 1) != 0 ? State::kName : State::kValue);
}

JsonScanner::Step JsonScanner::text_byte(char c) {
  if (state_ == State::kHex) {
    if (!is_hex(c)) return Step::kBad;
    return --n_hex_ == 0 ? to(State::kText) : Step::kMore;
  }
  if (state_ == State::kEscape) {
    n_hex_ = 4;
    if (c == 'u') return to(State::kHex);
    return std::string_view("\"\\/bfnrt").contains(c) ? to(State::kText) : Step::kBad;
  }
  if (c == '"') return to(is_name_ ? State::kColon : State::kAfterValue);
  if (c == '\\') return to(State::kEscape);
  return static_cast<unsigned char>(c) < 0x20 ? Step::kBad : Step::kMore;
}

JsonScanner::Step JsonScanner::number_byte(char c) {
  const bool digit = is_digit(c);
  const bool e = c == 'e' || c == 'E';
  switch (state_) {
    case State::kMinus:
      return digit ? to(c == '0' ? State::kZero : State::kDigits) : Step::kBad;
    case State::kPoint:
      return digit ? to(State::kFraction) : Step::kBad;
    case State::kE:
      if (c == '+' || c == '-') return to(State::kESign);
      [[fallthrough]];
    case State::kESign:
      return digit ? to(State::kExponent) : Step::kBad;
    case State::kZero:
    case State::kDigits:
      if (c == '.') return to(State::kPoint);
      if (e) return to(State::kE);
      if (digit) return state_ == State::kDigits ? Step::kMore : Step::kBad;
      break;
    case State::kFraction:
      if (e) return to(State::kE);
      [[fallthrough]];
    default:
      if (digit) return Step::kMore;
  }
  state_ = State::kAfterValue;  // the byte after a number is not part of it
  return is_json_space(c) ? Step::kMore : after_value(c);
}

namespace {

// Calls `use(start, end)` for each part between commas in the brackets, without surrounding white space, and
// `on_colon(at)` for each colon inside a part. False: incomplete, or text follows.
template <class Use, class OnColon>
bool walk(std::string_view text, const Use& use, const OnColon& on_colon) {
  JsonScanner scanner;
  size_t start = 1;
  const auto part = [&](size_t end) {
    size_t from = start;
    while (from < end && is_json_space(text[from])) ++from;
    while (end > from && is_json_space(text[end - 1])) --end;
    return from == end || use(from, end);
  };
  for (size_t at = 0; at < text.size(); ++at) {
    const bool in_text = scanner.in_text();
    const auto step = scanner.feed(text[at]);
    if (step == JsonScanner::Step::kBad) return false;
    if (step == JsonScanner::Step::kDone) return at + 1 == text.size() && part(at);
    if (scanner.depth() != 1) continue;
    if (scanner.after_colon()) on_colon(at);
    if (text[at] == ',' && !in_text) {
      if (!part(at)) return false;
      start = at + 1;
    }
  }
  return false;
}

}  // namespace

std::optional<std::vector<JsonMember>> json_members(std::string_view object, size_t most) {
  if (!object.starts_with('{')) return std::nullopt;
  std::vector<JsonMember> members;
  size_t colon = 0;
  const auto use = [&](size_t from, size_t to) {
    if (members.size() == most) return false;
    size_t name_end = colon;
    while (is_json_space(object[name_end - 1])) --name_end;
    size_t value = colon + 1;
    while (is_json_space(object[value])) ++value;
    members.push_back({object.substr(from, name_end - from), object.substr(value, to - value)});
    return true;
  };
  if (!walk(object, use, [&](size_t at) { colon = at; })) return std::nullopt;
  return members;
}

std::optional<std::vector<std::string_view>> json_items(std::string_view array, size_t most) {
  if (!array.starts_with('[')) return std::nullopt;
  std::vector<std::string_view> items;
  const auto use = [&](size_t from, size_t to) {
    if (items.size() == most) return false;
    items.push_back(array.substr(from, to - from));
    return true;
  };
  if (!walk(array, use, [](size_t) {})) return std::nullopt;
  return items;
}

std::string compact_json(std::string_view text) {
  JsonScanner scanner;
  std::string out;
  bool is_over = false;
  for (const char c : text) {
    if (!scanner.in_text() && is_json_space(c)) continue;
    if (!is_over) is_over = scanner.feed(c) != JsonScanner::Step::kMore;
    out += c;
  }
  return out;
}

}  // namespace tern
