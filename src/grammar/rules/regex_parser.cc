#include "grammar/rules/regex_parser.h"

#include <algorithm>
#include <string>

#include "base/text/format_text.h"
#include "grammar/rules/python_classes.h"

namespace tern::grammar {
namespace {

constexpr int kMaxGroupDepth = 100;
constexpr int kMaxTimes = 50'000;

const CharSet kDigits = {{'0', '9'}};
const CharSet kWordChars = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const CharSet kSpaces = {{'\t', '\r'},     {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
                         {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
const CharSet kLineEnds = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

class RegexParser {
 public:
  RegexParser(std::u32string_view text, const RegexSyntax& syntax) : text_(text), syntax_(syntax) {}

  Result<RegexPart> parse() {
    TRY(RegexPart all, choice(0));
    if (at_ < text_.size()) return error("')' without '('");
    return all;
  }

 private:
  std::unexpected<Error> error(std::string_view what) const {
    return fail(ErrorCode::kInvalidArgument, "{} at column {}", what, at_ + 1);
  }
  std::unexpected<Error> refuse(std::string_view what) const {
    return fail(ErrorCode::kNotSupported, "{} at column {} cannot be held to", what, at_ + 1);
  }
  bool more() const { return at_ < text_.size(); }
  char32_t peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : U'\0'; }
  bool skip(std::u32string_view what) {
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }

  Result<RegexPart> choice(int depth) {
    if (depth > kMaxGroupDepth) return refuse(format_text("a group nested more than {} deep", kMaxGroupDepth));
    RegexPart out = {.kind = RegexPart::kChoice};
    do {
      RegexPart sequence = {.kind = RegexPart::kSequence};
      while (more() && peek() != '|' && peek() != ')') {
        TRY(RegexPart one, quantified(depth));
        sequence.parts.push_back(std::move(one));
      }
      out.parts.push_back(std::move(sequence));
    } while (skip(U"|"));
    if (out.parts.size() == 1) return std::move(out.parts[0]);
    return out;
  }

  Result<RegexPart> quantified(int depth) {
    const bool is_anchor = peek() == '^' || peek() == '$';
    TRY(RegexPart one, atom(depth));
    int low = 1, high = 1;
    const size_t before = at_;
    if (skip(U"*")) {
      low = 0, high = -1;
    } else if (skip(U"+")) {
      high = -1;
    } else if (skip(U"?")) {
      low = 0;
    } else if (skip(U"{")) {
      TRY_STATUS(bounds(low, high));
    } else {
      return one;
    }
    if (is_anchor) return at_ = before, error("a repeated anchor");
    skip(U"?");  // lazy: takes the same texts
    if (peek() == '*' || peek() == '+' || peek() == '?' || peek() == '{') return error("a repeated repetition");
    RegexPart out = {.kind = RegexPart::kRepeat, .low = low, .high = high};
    out.parts.push_back(std::move(one));
    return out;
  }

  Result<int> number() {
    if (peek() < '0' || peek() > '9') return error("a repetition without a number");
    int value = 0;
    while (peek() >= '0' && peek() <= '9') {
      value = value * 10 + static_cast<int>(peek() - '0');
      if (value > kMaxTimes) return refuse(format_text("a repetition of more than {}", kMaxTimes));
      ++at_;
    }
    return value;
  }

  Result<void> bounds(int& low, int& high) {
    if (syntax_.is_python && peek() == ',') {
      low = 0;
    } else {
      TRY(low, number());
    }
    high = low;
    if (skip(U",")) {
      high = -1;
      if (peek() != '}') {
        TRY(high, number());
      }
    }
    if (high >= 0 && high < low) return error("a repetition with more at least than at most");
    if (!skip(U"}")) return error("a repetition without '}'");
    return {};
  }

  Result<RegexPart> atom(int depth) {
    const char32_t c = peek();
    if ((c == '^' || c == '$') && !syntax_.is_whole_text)
      return refuse(format_text("'{}', an end of the whole text,", static_cast<char>(c)));
    if (skip(U"^")) return RegexPart{.kind = RegexPart::kAtStart};
    if (skip(U"$")) return RegexPart{.kind = RegexPart::kAtEnd};
    if (skip(U".")) return RegexPart{.kind = RegexPart::kChars, .set = any_char()};
    if (c == '(') return group(depth);
    if (c == '[') return char_class();
    if (c == '\\') {
      TRY(CharSet set, escape(/*in_class=*/false));
      return RegexPart{.kind = RegexPart::kChars, .set = std::move(set)};
    }
    if (c == '*' || c == '+' || c == '?') return error("a repetition of nothing");
    if (c == '{' || c == '}' || c == ']')
      return error("a bracket without its other half (write a backslash before it)");
    ++at_;
    return RegexPart{.kind = RegexPart::kChars, .set = CharSet::one(c)};
  }

  CharSet any_char() const {
    if (syntax_.dot_is_all) return CharSet::all();
    return syntax_.is_python ? CharSet::one('\n').inverted() : kLineEnds.inverted();
  }

  Result<RegexPart> group(int depth) {
    const size_t begin = at_++;
    if (skip(U"?")) {
      const bool is_name = syntax_.is_python ? skip(U"P<") : peek() == '<' && peek(1) != '=' && peek(1) != '!';
      if (!is_name && skip(U":")) {
      } else if (is_name) {
        while (more() && peek() != '>') ++at_;
        if (!skip(U">")) return error("a group's name without '>'");
      } else {
        at_ = begin;
        const bool looks = peek(2) == '=' || peek(2) == '!' || peek(2) == '<';
        return refuse(looks ? "look-around" : "a group with flags");
      }
    }
    TRY(RegexPart inside, choice(depth + 1));
    if (!skip(U")")) return at_ = begin, error("'(' without ')'");
    return inside;
  }

  Result<char32_t> hex(size_t n) {
    char32_t value = 0;
    for (size_t i = 0; i < n; ++i, ++at_) {
      const char32_t c = peek();
      const bool is_digit = c >= '0' && c <= '9', is_letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'f';
      if (!is_digit && !is_letter) return error("an escape without its hexadecimal digits");
      value = value * 16 + (is_digit ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
  }

  Result<CharSet> unicode_escape() {
    char32_t code = 0;
    if (!syntax_.is_python && skip(U"{")) {
      const size_t end = std::min(text_.find(U'}', at_), text_.size());
      if (end == at_ || end - at_ > 6) return error("an escape without its hexadecimal digits");
      TRY(code, hex(end - at_));
      if (!skip(U"}")) return error("an escape without '}'");
    } else {
      TRY(code, hex(4));
      if (code >= 0xD800 && code < 0xDC00 && !syntax_.is_python && skip(U"\\u")) {
        TRY(const char32_t low, hex(4));
        code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : 0xD800;
      }
    }
    return char_of(code);
  }

  Result<CharSet> char_of(char32_t code) const {
    if (code > kLastChar || (code >= 0xD800 && code < 0xE000)) return error("an escape of no character");
    return CharSet::one(code);
  }

  Result<CharSet> escape(bool in_class) {
    const size_t begin = at_++;
    if (!more()) return error("a backslash at the end");
    const char32_t c = text_[at_++];
    switch (c) {
      case 'd':
        return syntax_.is_python ? python_digits() : kDigits;
      case 'D':
        return (syntax_.is_python ? python_digits() : kDigits).inverted();
      case 'w':
        return syntax_.is_python ? python_word_chars() : kWordChars;
      case 'W':
        return (syntax_.is_python ? python_word_chars() : kWordChars).inverted();
      case 's':
        return syntax_.is_python ? python_spaces() : kSpaces;
      case 'S':
        return (syntax_.is_python ? python_spaces() : kSpaces).inverted();
      case 'n':
        return CharSet::one('\n');
      case 'r':
        return CharSet::one('\r');
      case 't':
        return CharSet::one('\t');
      case 'f':
        return CharSet::one('\f');
      case 'v':
        return CharSet::one('\v');
      case 'u':
        return unicode_escape();
      case 'x': {
        TRY(const char32_t code, hex(2));
        return CharSet::one(code);
      }
      case 'U': {
        if (!syntax_.is_python) break;
        TRY(const char32_t code, hex(8));
        return char_of(code);
      }
      case 'a':
        if (!syntax_.is_python) break;
        return CharSet::one('\a');
      case 'c': {
        if (syntax_.is_python) break;
        const char32_t letter = peek() | 0x20;
        if (letter < 'a' || letter > 'z') return error("\\c without a letter");
        ++at_;
        return CharSet::one(letter & 0x1F);
      }
      case '0':
        if (peek() >= '0' && peek() <= '9') break;
        return CharSet::one(0);
      default:
        break;
    }
    at_ = begin;
    if (c == 'b' && in_class) return at_ += 2, CharSet::one('\b');
    if (c == 'b' || c == 'B') return refuse("a word boundary");
    if (syntax_.is_python && (c == 'A' || c == 'Z')) return refuse(format_text("'\\{}'", static_cast<char>(c)));
    if (c >= '0' && c <= '9') return refuse("a back reference");
    if (c == 'k') return refuse("a back reference");
    if (c == 'p' || c == 'P') return refuse("a Unicode property");
    const bool is_letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    if (is_letter || c >= 0x80) return error("an escape that means nothing");
    at_ += 2;
    return CharSet::one(c);
  }

  Result<RegexPart> char_class() {
    const size_t begin = at_++;
    const bool is_inverted = skip(U"^");
    std::vector<CharSet::Range> ranges;  // one set at last: adding to a set takes as long as the set is
    CharSet classes;
    std::u32string known_classes;
    for (bool is_first = syntax_.is_python; is_first || peek() != ']'; is_first = false) {
      if (!more()) return at_ = begin, error("'[' without ']'");
      const char32_t class_name = name_of_class();
      TRY(const CharSet first, class_atom());
      if (peek() != '-' || peek(1) == ']' || at_ + 1 >= text_.size()) {
        if (class_name == 0) {
          ranges.push_back(first.ranges()[0]);
        } else if (!known_classes.contains(class_name)) {
          known_classes += class_name;
          classes.add(first);
        }
        continue;
      }
      ++at_;
      const bool is_class = name_of_class() != 0;
      TRY(const CharSet last, class_atom());
      if (class_name != 0 || is_class) return error("a range with an end that is no character");
      if (first.ranges()[0].first > last.ranges()[0].first) return error("a range that runs backwards");
      ranges.emplace_back(first.ranges()[0].first, last.ranges()[0].first);
    }
    ++at_;
    CharSet set(std::move(ranges));
    const bool is_beyond_ascii = !set.empty() && set.ranges().back().second > 0x7F;
    set.add(classes);
    if (syntax_.any_case && is_inverted) {
      if (is_beyond_ascii) return at_ = begin, refuse("a class with ^ and characters beyond ASCII, in any case,");
      set = with_other_cases(set);
    }
    return RegexPart{.kind = RegexPart::kChars, .set = is_inverted ? set.inverted() : std::move(set)};
  }

  // Python takes four letters beyond ASCII for cases of i, k and s.
  static CharSet with_other_cases(const CharSet& set) {
    CharSet out = set.in_any_case();
    if (out.contains('i')) out.add(0x130, 0x131);
    if (out.contains('k')) out.add(0x212A, 0x212A);
    if (out.contains('s')) out.add(0x17F, 0x17F);
    return out;
  }

  // 0: what comes is a character.
  char32_t name_of_class() const {
    return peek() == '\\' && std::u32string_view(U"dDsSwW").contains(peek(1)) ? peek(1) : 0;
  }

  Result<CharSet> class_atom() {
    if (peek() == '\\') return escape(/*in_class=*/true);
    return CharSet::one(text_[at_++]);
  }

  std::u32string_view text_;
  const RegexSyntax& syntax_;
  size_t at_ = 0;
};

}  // namespace

Result<RegexPart> read_regex(std::u32string_view text, const RegexSyntax& syntax) {
  return RegexParser(text, syntax).parse();
}

}  // namespace tern::grammar
