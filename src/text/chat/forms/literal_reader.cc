#include "text/chat/forms/literal_reader.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "text/chat/forms/json_scanner.h"

namespace tern {
namespace {

constexpr std::string_view kGemmaQuote = "<|\"|>";
constexpr int kMostLiteralDepth = 64;
constexpr size_t kMostWordBytes = 400;

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-' || c == '+';
}

}  // namespace

void append_json_text(std::string_view text, std::string& json) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (c == '\n') {
      json += "\\n";
    } else if (c == '\t') {
      json += "\\t";
    } else if (c == '\r') {
      json += "\\r";
    } else if (byte < 0x20) {
      json += "\\u00";
      json += kHex[byte >> 4];
      json += kHex[byte & 15];
    } else {
      json += c;
    }
  }
}

LiteralReader::Step LiteralReader::feed(char c, std::string& json) {
  switch (state_) {
    case State::kText:
    case State::kQuote:
      return text_byte(c, json);
    case State::kEscape:
    case State::kHex:
      return escaped(c, json);
    case State::kWord:
      if (is_word_byte(c)) {
        word_ += c;
        return word_.size() > kMostWordBytes ? Step::kBad : Step::kMore;
      }
      return end_word(json) ? after(c, json) : Step::kBad;
    case State::kBareName:
      if (c != ':' && !is_json_space(c)) {
        append_json_text(std::string_view(&c, 1), json);
        return Step::kMore;
      }
      json += '"';
      state_ = State::kColon;
      break;
    default:
      break;
  }
  if (state_ == State::kAfter) return after(c, json);
  if (is_json_space(c)) return Step::kMore;
  if (state_ == State::kColon) {
    if (c != ':') return Step::kBad;
    json += ": ";
    return to(State::kValue);
  }
  if (state_ == State::kFirstItem && c == ']') return close(c, json);
  if (state_ == State::kFirstName && c == '}') return close(c, json);
  return state_ == State::kFirstName || state_ == State::kName ? name(c, json) : value(c, json);
}

bool LiteralReader::may_end(std::string& json) {
  if (depth_ > 0) return false;
  return state_ == State::kAfter || (state_ == State::kWord && end_word(json));
}

LiteralReader::Step LiteralReader::value(char c, std::string& json) {
  if (c == '[' || c == '{') return open(c, json);
  if (c == '"' || c == '\'' || (is_gemma_ && c == '<')) {
    is_name_ = false;
    return begin_text(c, json);
  }
  if (!is_word_byte(c)) return Step::kBad;
  word_ = c;
  return to(State::kWord);
}

LiteralReader::Step LiteralReader::name(char c, std::string& json) {
  is_name_ = true;
  if (c == '"' || c == '\'' || (is_gemma_ && c == '<')) return begin_text(c, json);
  if (!is_gemma_ || !is_word_byte(c)) return Step::kBad;
  json += '"';
  json += c;
  return to(State::kBareName);
}

LiteralReader::Step LiteralReader::begin_text(char c, std::string& json) {
  json += '"';
  quote_ = c;
  n_matched_ = 1;
  return to(c == '<' ? State::kQuote : State::kText);
}

LiteralReader::Step LiteralReader::end_text(std::string& json) {
  json += '"';
  return to(is_name_ ? State::kColon : State::kAfter);
}

LiteralReader::Step LiteralReader::text_byte(char c, std::string& json) {
  if (state_ == State::kQuote) {
    if (c != kGemmaQuote[n_matched_]) return Step::kBad;
    if (++n_matched_ < kGemmaQuote.size()) return Step::kMore;
    n_matched_ = 0;
    return to(State::kText);
  }
  if (quote_ == '<') {
    if (c == kGemmaQuote[n_matched_]) return ++n_matched_ == kGemmaQuote.size() ? end_text(json) : Step::kMore;
    append_json_text(kGemmaQuote.substr(0, n_matched_), json);
    n_matched_ = c == '<' ? 1 : 0;
    if (n_matched_ == 0) append_json_text(std::string_view(&c, 1), json);
    return Step::kMore;
  }
  if (c == quote_) return end_text(json);
  if (c == '\\') return to(State::kEscape);
  append_json_text(std::string_view(&c, 1), json);
  return Step::kMore;
}

LiteralReader::Step LiteralReader::escaped(char c, std::string& json) {
  if (state_ == State::kHex) {
    if (std::string_view("0123456789abcdefABCDEF").find(c) == std::string_view::npos) return Step::kBad;
    json += c;
    return --n_hex_ == 0 ? to(State::kText) : Step::kMore;
  }
  if (c == 'u' || c == 'x') {
    json += c == 'u' ? "\\u" : "\\u00";
    n_hex_ = c == 'u' ? 4 : 2;
    return to(State::kHex);
  }
  if (std::string_view("nrtbf").contains(c)) {
    json += '\\';
    json += c;
  } else {
    if (!std::string_view("\\'\"/").contains(c)) json += "\\\\";  // as in Python, the backslash remains
    append_json_text(std::string_view(&c, 1), json);
  }
  return to(State::kText);
}

LiteralReader::Step LiteralReader::open(char c, std::string& json) {
  if (depth_ == kMostLiteralDepth) return Step::kBad;
  ++depth_;
  objects_ = objects_ << 1 | (c == '{' ? 1 : 0);
  json += c;
  return to(c == '{' ? State::kFirstName : State::kFirstItem);
}

LiteralReader::Step LiteralReader::close(char c, std::string& json) {
  --depth_;
  objects_ >>= 1;
  json += c;
  return to(State::kAfter);
}

LiteralReader::Step LiteralReader::after(char c, std::string& json) {
  if (depth_ == 0) return Step::kEnd;
  if (is_json_space(c)) return to(State::kAfter);
  const bool is_object = (objects_ & 1) != 0;
  if (c == (is_object ? '}' : ']')) return close(c, json);
  if (c != ',') return Step::kBad;
  json += ", ";
  return to(is_object ? State::kName : State::kValue);
}

bool LiteralReader::end_word(std::string& json) {
  state_ = State::kAfter;
  std::string word = std::move(word_);
  word_.clear();
  if (word == "True") word = "true";
  if (word == "False") word = "false";
  if (word == "None") word = "null";
  if (!nlohmann::json::accept(word)) return false;
  json += word;
  return true;
}

}  // namespace tern
