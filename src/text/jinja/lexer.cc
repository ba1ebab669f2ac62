#include "text/jinja/lexer.h"

#include <algorithm>

#include "text/jinja/text.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

constexpr size_t kMostBrackets = 64;  // nested in each other

using Kind = TemplateTokenKind;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return begins_name(c) || is_digit(c); }

// Converts line ends to \n and removes the one at the very end.
std::string with_plain_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') continue;
    out += source[i] == '\r' ? '\n' : source[i];
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

class TemplateLexer {
 public:
  TemplateLexer(std::string_view source, TemplateMemory& memory)
      : source_(memory.keep_own(with_plain_newlines(source))), memory_(memory) {}

  std::vector<TemplateToken> read() {
    while (at_ < source_.size()) {
      const size_t open = find_tag(at_);
      if (open == source_.npos) {
        add_text(source_.substr(at_));
        break;
      }
      read_tag(open);
    }
    at_ = source_.size();
    add(Kind::kEnd, {});
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) { refuse_template("line {}: {}", line_, what); }

  // Moves on and counts lines.
  void move_to(size_t at) {
    line_ += static_cast<int>(std::ranges::count(source_.substr(at_, at - at_), '\n'));
    at_ = at;
  }

  void add(Kind kind, std::string_view text) {
    memory_.budget().take(2 * sizeof(TemplateToken));
    tokens_.push_back({kind, text, line_});
  }

  void add_text(std::string_view text) {
    memory_.budget().work(text.size());
    if (!text.empty()) add(Kind::kText, text);
  }

  size_t find_tag(size_t from) const {
    for (size_t at = source_.find('{', from); at != source_.npos; at = source_.find('{', at + 1)) {
      const char next = at + 1 < source_.size() ? source_[at + 1] : '\0';
      if (next == '{' || next == '%' || next == '#') return at;
    }
    return source_.npos;
  }

  // The text before a tag without what the tag removes: {%- removes all white space. A block or comment with only
  // blanks before it on its line removes those, unless it begins with {%+.
  std::string_view before_tag(std::string_view text, char sign, bool is_output) const {
    if (sign == '-') return strip_right(text);
    if (sign == '+' || is_output) return text;
    const size_t newline = text.rfind('\n');
    const size_t line_start = newline == text.npos ? 0 : newline + 1;
    if (line_start == 0 && at_ != 0 && source_[at_ - 1] != '\n') return text;
    return strip_right(text.substr(line_start)).empty() ? text.substr(0, line_start) : text;
  }

  char sign_at(size_t at) const {
    return at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? source_[at] : '\0';
  }

  size_t skip_spaces(size_t at) const {
    const std::string_view rest = source_.substr(std::min(at, source_.size()));
    return source_.size() - strip_left(rest).size();
  }

  // Moves past a tag that ends at `end` and past what it removes: -%} all white space, %} one newline.
  void move_past_end(size_t end, char sign, bool is_output) {
    if (sign == '-') {
      end = skip_spaces(end);
    } else if (sign != '+' && !is_output && end < source_.size() && source_[end] == '\n') {
      ++end;
    }
    move_to(end);
  }

  void read_tag(size_t open) {
    const char kind = source_[open + 1];
    const char sign = sign_at(open + 2);
    add_text(before_tag(source_.substr(at_, open - at_), sign, kind == '{'));
    move_to(open + 2 + (sign != '\0' ? 1 : 0));
    if (kind == '#') return read_comment();
    if (kind == '%' && is_raw()) return read_raw();
    add(kind == '{' ? Kind::kOutputBegin : Kind::kBlockBegin, source_.substr(open, 2));
    read_code(kind == '{' ? '}' : '%');
  }

  void read_comment() {
    const size_t end = source_.find("#}", at_);
    if (end == source_.npos) refuse("a comment does not end");
    move_past_end(end + 2, end > at_ ? sign_at(end - 1) : '\0', false);
  }

  // If this is {% raw %}, moves past its end and returns true.
  bool is_raw() {
    const size_t word = skip_spaces(at_);
    if (!source_.substr(word).starts_with("raw")) return false;
    size_t end = skip_spaces(word + 3);
    const char sign = sign_at(end);
    if (sign != '\0') ++end;
    if (!source_.substr(end).starts_with("%}")) return false;
    move_past_end(end + 2, sign == '-' ? '-' : '+', false);
    return true;
  }

  void read_raw() {
    for (size_t open = source_.find("{%", at_); open != source_.npos; open = source_.find("{%", open + 2)) {
      const char sign = sign_at(open + 2);
      const size_t word = skip_spaces(open + 2 + (sign != '\0' ? 1 : 0));
      if (!source_.substr(word).starts_with("endraw")) continue;
      size_t end = skip_spaces(word + 6);
      const char end_sign = sign_at(end);
      if (end_sign != '\0') ++end;
      if (!source_.substr(end).starts_with("%}")) continue;
      add_text(before_tag(source_.substr(at_, open - at_), sign, false));
      return move_past_end(end + 2, end_sign, false);
    }
    refuse("a raw block does not end");
  }

  // Reads the tokens of a tag including its end, which is `last` and a brace.
  void read_code(char last) {
    brackets_.clear();
    while (true) {
      move_to(skip_spaces(at_));
      if (at_ >= source_.size()) refuse("a tag does not end");
      if (brackets_.empty()) {
        const char sign = sign_at(at_);
        const size_t end = at_ + (sign == '-' || (sign == '+' && last == '%') ? 1 : 0);
        if (end + 1 < source_.size() && source_[end] == last && source_[end + 1] == '}') {
          add(last == '}' ? Kind::kOutputEnd : Kind::kBlockEnd, source_.substr(end, 2));
          return move_past_end(end + 2, end > at_ ? sign : '\0', last == '}');
        }
      }
      read_token();
    }
  }

  void read_token() {
    const char c = source_[at_];
    if (c == '"' || c == '\'') return read_string(c);
    if (is_digit(c)) return read_number();
    if (begins_name(c)) {
      size_t end = at_;
      while (end < source_.size() && is_name(source_[end])) ++end;
      add(Kind::kName, source_.substr(at_, end - at_));
      return move_to(end);
    }
    read_operator(c);
  }

  void read_operator(char c) {
    constexpr std::string_view kLong[] = {"==", "!=", "<=", ">=", "//", "**"};
    constexpr std::string_view kShort = "+-*/%~<>=()[]{},:.|;";
    size_t n = 1;
    if (std::ranges::contains(kLong, source_.substr(at_, 2))) {
      n = 2;
    } else if (!kShort.contains(c)) {
      refuse_template("line {}: unexpected {}", line_, printable(source_.substr(at_, 1)));
    }
    if (n == 1) match_brackets(c);
    add(Kind::kOperator, source_.substr(at_, n));
    move_to(at_ + n);
  }

  void match_brackets(char c) {
    if (c == '(' || c == '[' || c == '{') {
      if (brackets_.size() == kMostBrackets) refuse_template("brackets nested more than {} deep", kMostBrackets);
      brackets_ += c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
      if (brackets_.empty() || brackets_.back() != c) refuse_template("line {}: unexpected '{}'", line_, c);
      brackets_.pop_back();
    }
  }

  void read_number() {
    size_t end = at_;
    const auto skip_digits = [&] {
      while (end < source_.size() && (is_digit(source_[end]) || source_[end] == '_')) ++end;
    };
    const auto digit_at = [&](size_t at) { return at < source_.size() && is_digit(source_[at]); };
    skip_digits();
    Kind kind = Kind::kInteger;
    if (end < source_.size() && source_[end] == '.' && digit_at(end + 1)) {
      kind = Kind::kFloat;
      ++end;
      skip_digits();
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      const size_t digits = end + 1 + (sign_at(end + 1) != '\0' ? 1 : 0);
      if (digit_at(digits)) {
        kind = Kind::kFloat;
        end = digits;
        skip_digits();
      }
    }
    add(kind, source_.substr(at_, end - at_));
    move_to(end);
  }

  void read_string(char quote) {
    size_t end = at_ + 1;
    bool has_escapes = false;
    while (end < source_.size() && source_[end] != quote) {
      if (source_[end] == '\\') {
        has_escapes = true;
        ++end;
      }
      ++end;
    }
    if (end >= source_.size()) refuse("a text in quotes does not end");
    const std::string_view text = source_.substr(at_ + 1, end - at_ - 1);
    memory_.budget().work(text.size());
    add(Kind::kString, has_escapes ? memory_.keep_own(unescaped(text)) : text);
    move_to(end + 1);
  }

  static std::string unescaped(std::string_view text);

  std::string_view source_;
  TemplateMemory& memory_;
  std::vector<TemplateToken> tokens_;
  std::string brackets_;  // the expected closing brackets
  size_t at_ = 0;
  int line_ = 1;
};

// Reads exactly `n` hexadecimal digits. False: not a valid escape.
bool read_hex(std::string_view text, size_t n, char32_t& code) {
  if (text.size() < n) return false;
  code = 0;
  for (const char c : text.substr(0, n)) {
    const char digit = static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
    if (!is_digit(digit) && (digit < 'a' || digit > 'f')) return false;
    code = code * 16 + static_cast<char32_t>(is_digit(digit) ? digit - '0' : digit - 'a' + 10);
  }
  return true;
}

// Reads up to three octal digits. Returns their number.
size_t read_octal(std::string_view text, char32_t& code) {
  size_t n = 0;
  for (code = 0; n < std::min<size_t>(text.size(), 3) && text[n] >= '0' && text[n] <= '7'; ++n) {
    code = code * 8 + static_cast<char32_t>(text[n] - '0');
  }
  return n;
}

// Resolves the escapes of Python's string literals, except \N{…}, which is kept.
std::string TemplateLexer::unescaped(std::string_view text) {
  constexpr std::string_view kNames = "ntrabfv\\'\"";
  constexpr std::string_view kMeanings = "\n\t\r\a\b\f\v\\'\"";
  std::string out;
  while (!text.empty()) {
    if (text[0] != '\\' || text.size() < 2) {
      out += text[0];
      text.remove_prefix(1);
      continue;
    }
    const char name = text[1];
    const size_t n_digits = name == 'x' ? 2 : name == 'u' ? 4 : name == 'U' ? 8 : 0;
    char32_t code = 0;
    if (const size_t which = kNames.find(name); which != kNames.npos) {
      out += kMeanings[which];
    } else if (n_digits > 0 && read_hex(text.substr(2), n_digits, code) && code < 0x110000 &&
               (code < 0xD800 || code >= 0xE000)) {
      append_utf8(code, out);
      text.remove_prefix(n_digits);
    } else if (const size_t n_octal = read_octal(text.substr(1), code); n_octal > 0) {
      append_utf8(code, out);
      text.remove_prefix(n_octal - 1);
    } else if (name != '\n') {
      out += {'\\', name};
    }
    text.remove_prefix(2);
  }
  return out;
}

}  // namespace

std::vector<TemplateToken> read_template_tokens(std::string_view source, TemplateMemory& memory) {
  return TemplateLexer(source, memory).read();
}

}  // namespace tern
