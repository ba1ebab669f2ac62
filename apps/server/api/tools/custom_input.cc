#include "server/api/tools/custom_input.h"

#include "server/api/api_error.h"

namespace tern::server {
namespace {

constexpr std::string_view kBeginning = "{\"input\":\"";  // without white space

void append_utf8(uint32_t c, std::string& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    tail(12), tail(6), tail(0);
  }
}

}  // namespace

std::string CustomInput::feed(std::string_view arguments) {
  std::string out;
  for (const char c : arguments) {
    switch (state_) {
      case State::kBefore:
        before(c);
        break;
      case State::kText:
      case State::kEscape:
        in_text(c, out);
        break;
      case State::kHex:
        hex_digit(c, out);
        break;
      case State::kOther:
        whole_ += c;
        break;
      case State::kAfter:
        break;
    }
  }
  return out;
}

void CustomInput::before(char c) {
  whole_ += c;
  std::string seen;
  for (const char own : whole_) {
    if (std::string_view(" \t\r\n").find(own) == std::string_view::npos) seen += own;
  }
  if (seen == kBeginning) {
    state_ = State::kText;
  } else if (!kBeginning.starts_with(seen)) {
    state_ = State::kOther;
  }
}

void CustomInput::in_text(char c, std::string& out) {
  if (state_ == State::kText) {
    if (c == '"') {
      state_ = State::kAfter;
    } else if (c == '\\') {
      state_ = State::kEscape;
    } else {
      out += c;
    }
    return;
  }
  constexpr std::string_view kNames = "bfnrt", kValues = "\b\f\n\r\t";
  state_ = State::kText;
  if (c == 'u') {
    state_ = State::kHex;
    code_ = 0;
    n_digits_ = 0;
  } else if (const size_t named = kNames.find(c); named != kNames.npos) {
    out += kValues[named];
  } else {
    out += c;
  }
}

void CustomInput::hex_digit(char c, std::string& out) {
  const uint32_t digit =
      c >= '0' && c <= '9' ? static_cast<uint32_t>(c - '0') : (static_cast<uint32_t>(c) | 0x20) - 'a' + 10;
  code_ = code_ * 16 + (digit & 15);
  if (++n_digits_ < 4) return;
  state_ = State::kText;
  if (code_ >= 0xD800 && code_ < 0xDC00) {
    high_ = code_;
    return;
  }
  const bool is_pair = high_ != 0 && code_ >= 0xDC00 && code_ < 0xE000;
  append_utf8(is_pair ? 0x10000 + ((high_ - 0xD800) << 10) + (code_ - 0xDC00) : code_, out);
  high_ = 0;
}

std::string CustomInput::finish() {
  if (state_ != State::kOther) return {};
  const Json json = Json::parse(whole_, nullptr, /*allow_exceptions=*/false);
  if (json.is_object() && json.contains("input") && json["input"].is_string()) return json["input"].get<std::string>();
  return whole_;
}

}  // namespace tern::server
