// What the readers of grammars' notations (GBNF, Lark) share: a place in a text, and the parts that look alike in both.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text/format_text.h"

namespace tern::grammar {

inline constexpr size_t kMaxNotationText = size_t{1} << 20;
inline constexpr size_t kMaxNotationRepeat = 100'000;
inline constexpr int kMaxNotationParentheses = 100;

// "line 2, column 7"
inline std::string place_in(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, at);
  const size_t column = at - (before.rfind('\n') + 1) + 1;  // no line break before: npos + 1 is 0
  return format_text("line {}, column {}", 1 + std::ranges::count(before, '\n'), column);
}

class NotationCursor {
 protected:
  // comment: what begins a comment beside '#'; empty: nothing else.
  explicit NotationCursor(std::string_view text, std::string_view comment = {}) : text_(text), comment_(comment) {}

  std::unexpected<Error> at_place(ErrorCode code, size_t at, std::string_view what) const {
    return fail(code, "{}: {}", place_in(text_, at), what);
  }
  std::unexpected<Error> error(std::string_view what) const { return at_place(ErrorCode::kInvalidArgument, at_, what); }
  std::unexpected<Error> refuse(std::string_view what) const { return at_place(ErrorCode::kNotSupported, at_, what); }

  bool more() const { return at_ < text_.size(); }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool skip(std::string_view what) {
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }

  // Spaces and comments, and line ends if `lines` is true.
  void skip_space(bool lines) {
    for (; more(); ++at_) {
      const bool is_other = !comment_.empty() && text_.substr(at_).starts_with(comment_);
      if (peek() == '#' || is_other) at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
      const bool is_line_end = peek() == '\n' || peek() == '\r';
      if (!more() || (peek() != ' ' && peek() != '\t' && !(is_line_end && lines))) return;
    }
  }

  // Skips a |, which may be on another line. False: there is none.
  bool skip_bar(bool is_nested) {
    const size_t before = at_;
    skip_space(/*lines=*/true);
    if (skip("|")) return skip_space(/*lines=*/true), true;
    if (!is_nested) at_ = before;
    return false;
  }

  // expected: what the error says if there is no number.
  Result<size_t> number(std::string_view expected) {
    if (peek() < '0' || peek() > '9') return error(expected);
    size_t value = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_) {
      value = value * 10 + static_cast<size_t>(peek() - '0');
      if (value > kMaxNotationRepeat) return refuse(format_text("more than {} repetitions", kMaxNotationRepeat));
    }
    return value;
  }

  // A character after a backslash: one of `names`, which means the one of `values`, or \x, \u or \U with two, four or
  // eight hexadecimal digits.
  Result<char32_t> escape(std::string_view names, std::string_view values) {
    const char c = peek(1);
    const size_t n_hex = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    const size_t named = names.find(c);
    if (n_hex == 0 && (named == names.npos || c == '\0')) return error("an escape that means nothing");
    at_ += 2;
    if (n_hex == 0) return static_cast<char32_t>(values[named]);
    char32_t value = 0;
    for (size_t i = 0; i < n_hex; ++i, ++at_) {
      const auto digit =
          static_cast<char32_t>(std::string_view("0123456789abcdef").find(static_cast<char>(peek() | 0x20)));
      if (digit > 15 || !more()) return error("an escape without its hexadecimal digits");
      value = (value << 4) | digit;
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return error("an escape of no character");
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;

 private:
  std::string_view comment_;
};

}  // namespace tern::grammar
