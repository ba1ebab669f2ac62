#include "grammar/rules/regex.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "grammar/rules/utf8_chars.h"

namespace tern::grammar {
namespace {

constexpr int kMaxGroupDepth = 100;
constexpr int kMaxTimes = 50'000;
constexpr size_t kMaxPattern = 20'000;  // characters
constexpr size_t kMaxWork = 300'000;    // parts written; repeated parts count each time

const CharSet kDigits = {{'0', '9'}};
const CharSet kWordChars = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const CharSet kSpaces = {{'\t', '\r'},     {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
                         {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
const CharSet kLineEnds = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

struct Part {
  enum Kind : uint8_t { kChars, kAtStart, kAtEnd, kSequence, kChoice, kRepeat } kind;
  CharSet set = {};
  std::vector<Part> parts = {};
  int low = 0, high = 0;  // kRepeat; high < 0: no limit
};

class RegexParser {
 public:
  RegexParser(std::u32string_view text, bool any_case) : text_(text), any_case_(any_case) {}

  Result<Part> parse() {
    TRY(Part all, choice(0));
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

  Result<Part> choice(int depth) {
    if (depth > kMaxGroupDepth) return refuse(format_text("a group nested more than {} deep", kMaxGroupDepth));
    Part out = {.kind = Part::kChoice};
    do {
      Part sequence = {.kind = Part::kSequence};
      while (more() && peek() != '|' && peek() != ')') {
        TRY(Part one, quantified(depth));
        sequence.parts.push_back(std::move(one));
      }
      out.parts.push_back(std::move(sequence));
    } while (skip(U"|"));
    if (out.parts.size() == 1) return std::move(out.parts[0]);
    return out;
  }

  Result<Part> quantified(int depth) {
    const bool is_anchor = peek() == '^' || peek() == '$';
    TRY(Part one, atom(depth));
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
    Part out = {.kind = Part::kRepeat, .low = low, .high = high};
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
    TRY(low, number());
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

  Result<Part> atom(int depth) {
    const char32_t c = peek();
    if (skip(U"^")) return Part{.kind = Part::kAtStart};
    if (skip(U"$")) return Part{.kind = Part::kAtEnd};
    if (skip(U".")) return Part{.kind = Part::kChars, .set = kLineEnds.inverted()};
    if (c == '(') return group(depth);
    if (c == '[') return char_class();
    if (c == '\\') {
      TRY(CharSet set, escape(/*in_class=*/false));
      return Part{.kind = Part::kChars, .set = std::move(set)};
    }
    if (c == '*' || c == '+' || c == '?') return error("a repetition of nothing");
    if (c == '{' || c == '}' || c == ']')
      return error("a bracket without its other half (write a backslash before it)");
    ++at_;
    return Part{.kind = Part::kChars, .set = CharSet::one(c)};
  }

  Result<Part> group(int depth) {
    const size_t begin = at_++;
    if (skip(U"?")) {
      if (skip(U":")) {
      } else if (peek() == '<' && peek(1) != '=' && peek(1) != '!') {
        while (more() && peek() != '>') ++at_;
        if (!skip(U">")) return error("a group's name without '>'");
      } else {
        at_ = begin;
        const bool looks = peek(2) == '=' || peek(2) == '!' || peek(2) == '<';
        return refuse(looks ? "look-around" : "a group with flags");
      }
    }
    TRY(Part inside, choice(depth + 1));
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
    if (skip(U"{")) {
      const size_t end = std::min(text_.find(U'}', at_), text_.size());
      if (end == at_ || end - at_ > 6) return error("an escape without its hexadecimal digits");
      TRY(code, hex(end - at_));
      if (!skip(U"}")) return error("an escape without '}'");
    } else {
      TRY(code, hex(4));
      if (code >= 0xD800 && code < 0xDC00 && skip(U"\\u")) {
        TRY(const char32_t low, hex(4));
        code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : 0xD800;
      }
    }
    if (code > kLastChar || (code >= 0xD800 && code < 0xE000)) return error("an escape of no character");
    return CharSet::one(code);
  }

  Result<CharSet> escape(bool in_class) {
    const size_t begin = at_++;
    if (!more()) return error("a backslash at the end");
    const char32_t c = text_[at_++];
    switch (c) {
      case 'd':
        return kDigits;
      case 'D':
        return kDigits.inverted();
      case 'w':
        return kWordChars;
      case 'W':
        return kWordChars.inverted();
      case 's':
        return kSpaces;
      case 'S':
        return kSpaces.inverted();
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
      case 'c': {
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
    if (c >= '0' && c <= '9') return refuse("a back reference");
    if (c == 'k') return refuse("a back reference");
    if (c == 'p' || c == 'P') return refuse("a Unicode property");
    const bool is_letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    if (is_letter || c >= 0x80) return error("an escape that means nothing");
    at_ += 2;
    return CharSet::one(c);
  }

  Result<Part> char_class() {
    const size_t begin = at_++;
    const bool is_inverted = skip(U"^");
    CharSet set;
    while (peek() != ']') {
      if (!more()) return at_ = begin, error("'[' without ']'");
      TRY(const CharSet first, class_atom());
      if (peek() != '-' || peek(1) == ']' || at_ + 1 >= text_.size()) {
        set.add(first);
        continue;
      }
      ++at_;
      TRY(const CharSet last, class_atom());
      const auto single = [](const CharSet& s) {
        return s.ranges().size() == 1 && s.ranges()[0].first == s.ranges()[0].second;
      };
      if (!single(first) || !single(last)) return error("a range with an end that is no character");
      if (first.ranges()[0].first > last.ranges()[0].first) return error("a range that runs backwards");
      set.add(first.ranges()[0].first, last.ranges()[0].first);
    }
    ++at_;
    if (any_case_) set = set.in_any_case();
    return Part{.kind = Part::kChars, .set = is_inverted ? set.inverted() : std::move(set)};
  }

  Result<CharSet> class_atom() {
    if (peek() == '\\') return escape(/*in_class=*/true);
    return CharSet::one(text_[at_++]);
  }

  std::u32string_view text_;
  bool any_case_;
  size_t at_ = 0;
};

class RegexWriter {
 public:
  explicit RegexWriter(CharAutomaton& out) : out_(out) {}

  // Writes `part` at `from`. Returns the state after it.
  uint32_t write(const Part& part, uint32_t from) {
    if (++work_ > kMaxWork) is_full_ = true;
    if (is_full_ || out_.is_full()) return from;
    switch (part.kind) {
      case Part::kSequence:
        for (const Part& one : part.parts) from = write(one, from);
        return from;
      case Part::kRepeat:
        return write_repeat(part, from);
      case Part::kChoice: {
        const uint32_t to = out_.add_state();
        for (const Part& one : part.parts) {
          const uint32_t begin = out_.add_state();
          out_.add_nothing(from, begin);
          out_.add_nothing(write(one, begin), to);
        }
        return to;
      }
      case Part::kChars:
      case Part::kAtStart:
      case Part::kAtEnd:
        break;
    }
    const uint32_t to = out_.add_state();
    if (part.kind == Part::kChars) {
      out_.add_char(from, part.set, to);
    } else {
      out_.add_nothing(from, to,
                       part.kind == Part::kAtStart ? CharAutomaton::Edge::kAtStart : CharAutomaton::Edge::kAtEnd);
    }
    return to;
  }
  bool is_full() const { return is_full_ || out_.is_full(); }

 private:
  uint32_t write_repeat(const Part& part, uint32_t from) {
    const Part& one = part.parts[0];
    for (int i = 0; i < part.low && !is_full(); ++i) from = write(one, from);
    if (part.high < 0) {
      const uint32_t loop = out_.add_state();
      out_.add_nothing(from, loop);
      out_.add_nothing(write(one, loop), loop);
      return loop;
    }
    const uint32_t to = out_.add_state();
    for (int i = part.low; i < part.high && !is_full(); ++i) {
      out_.add_nothing(from, to);
      const uint32_t begin = out_.add_state();
      out_.add_nothing(from, begin);
      from = write(one, begin);
    }
    out_.add_nothing(from, to);
    return to;
  }

  CharAutomaton& out_;
  size_t work_ = 0;
  bool is_full_ = false;
};

}  // namespace

Result<CharAutomaton> parse_regex(std::string_view pattern, RegexMatch match, bool any_case) {
  std::u32string text;
  for (std::string_view rest = pattern; !rest.empty();) {
    const auto c = take_char(rest);
    if (!c) return fail(ErrorCode::kInvalidArgument, "invalid UTF-8 at byte {}", pattern.size() - rest.size());
    text += *c;
  }
  if (text.size() > kMaxPattern) {
    return fail(ErrorCode::kNotSupported, "more than {} characters cannot be held to", kMaxPattern);
  }
  TRY(const Part part, RegexParser(text, any_case).parse());
  CharAutomaton out;
  RegexWriter writer(out);
  uint32_t at = out.start();
  if (match == RegexMatch::kAnywhere) {
    const uint32_t begin = out.add_state();
    out.add_char(at, CharSet::all(), at);
    out.add_nothing(at, begin);
    at = begin;
  }
  at = writer.write(part, at);
  if (match == RegexMatch::kAnywhere) {
    const uint32_t rest = out.add_state();
    out.add_nothing(at, rest);
    out.add_char(rest, CharSet::all(), rest);
    at = rest;
  }
  out.end(at);
  CharAutomaton resolved = out.resolved();
  if (writer.is_full() || resolved.is_full()) {
    return fail(ErrorCode::kNotSupported, "it takes more than {} states; ask for fewer repetitions",
                CharAutomaton::kMaxStates);
  }
  return resolved;
}

}  // namespace tern::grammar
