#include "grammar/rules/gbnf.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/text/quoted.h"
#include "grammar/rules/notation_cursor.h"
#include "grammar/rules/utf8_chars.h"

namespace tern::grammar {
namespace {

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

class GbnfParser : NotationCursor {
 public:
  GbnfParser(std::string_view text, GbnfSyntax syntax) : NotationCursor(text), is_ebnf_(syntax == GbnfSyntax::kEbnf) {}

  Result<Rules> parse() {
    skip_space(/*lines=*/true);
    while (more()) TRY_STATUS(rule());
    for (const auto& [name, known] : names_) {
      if (!known.is_defined) {
        at_ = known.first_use;
        return error(format_text("there is no rule '{}'", name));
      }
    }
    const auto root = names_.find("root");
    if (root == names_.end()) {
      return fail(ErrorCode::kInvalidArgument, "the grammar has no rule 'root', which is where a text begins");
    }
    return rules_.finish(root->second.rule);
  }

 private:
  struct Name {
    RuleId rule = 0;
    bool is_defined = false;
    size_t first_use = 0;
  };

  Result<std::string> name() {
    const size_t begin = at_;
    while (is_name_char(peek()) || (is_ebnf_ && peek() == '.' && at_ > begin)) ++at_;
    if (at_ == begin) return error("a rule's name was expected");
    return std::string(text_.substr(begin, at_ - begin));
  }

  Name& known(const std::string& name, size_t place) {
    const auto [found, is_new] = names_.try_emplace(name);
    if (is_new) found->second = {.rule = rules_.new_rule(name), .first_use = place};
    return found->second;
  }

  Result<void> rule() {
    const size_t begin = at_;
    TRY(const std::string own, name());
    skip_space(/*lines=*/false);
    if (is_ebnf_ && peek() == '[') return refuse("options of a rule");
    if (!skip("::=")) return error("'::=' was expected behind a rule's name");
    skip_space(/*lines=*/true);
    Name& mine = known(own, begin);
    if (mine.is_defined) return at_ = begin, error(format_text("rule '{}' is defined a second time", own));
    mine.is_defined = true;
    const StateId start = rules_.start_of(mine.rule);
    TRY(const StateId end, choice(start, /*depth=*/0));
    rules_.end(end);
    const bool is_over = is_ebnf_ ? begins_rule() : peek() == '\n' || peek() == '\r';
    if (more() && !is_over) return error("this belongs to no rule");
    skip_space(/*lines=*/true);
    return {};
  }

  Result<StateId> choice(StateId from, int depth) {
    if (depth > kMaxNotationParentheses)
      return refuse(format_text("parentheses nested more than {} deep", kMaxNotationParentheses));
    const StateId to = rules_.new_state();
    do {
      TRY(const StateId end, sequence(from, depth));
      rules_.add_empty(end, to);
    } while (skip_bar(depth > 0));
    return to;
  }

  Result<StateId> sequence(StateId from, int depth) {
    const StateId begin = rules_.new_state();
    rules_.add_empty(from, begin);
    from = begin;
    for (;;) {
      skip_space(/*lines=*/depth > 0 || is_ebnf_);
      if (is_ebnf_ && begins_rule()) return from;
      const char c = peek();
      const bool is_item = c == '"' || c == '[' || c == '(' || c == '.' || is_name_char(c);
      if (c == '<' || c == '!') return refuse("tokens by their number or name");
      if (!is_item) return from;
      TRY(from, item(from, depth));
    }
  }

  // In EBNF: a name, perhaps with options, before "::=".
  bool begins_rule() {
    const size_t before = at_;
    while (is_name_char(peek()) || (peek() == '.' && at_ > before)) ++at_;
    const bool is_name = at_ > before;
    skip_space(/*lines=*/false);
    if (peek() == '[') at_ = std::min(text_.find(']', at_), text_.size() - 1) + 1;
    skip_space(/*lines=*/false);
    const bool begins = is_name && skip("::=");
    at_ = before;
    return begins;
  }

  // Writes an item once. If it repeats, it becomes a rule that is called each time.
  Result<StateId> item(StateId from, int depth) {
    const size_t begin = at_;
    size_t low = 1;
    std::optional<size_t> high = 1;
    if (is_name_char(peek())) {
      TRY(const std::string own, name());
      const RuleId called = known(own, begin).rule;
      TRY_STATUS(repetition(low, high));
      return rules_.add_calls(from, called, low, high);
    }
    const StateId start = rules_.new_state();
    TRY(const StateId end, atom(start, depth));
    TRY_STATUS(repetition(low, high));
    if (low == 1 && high == 1) {
      rules_.add_empty(from, start);
      return end;
    }
    const RuleId called = rules_.new_rule(tern::quoted(text_.substr(begin, 20)));
    rules_.add_empty(rules_.start_of(called), start);
    rules_.end(end);
    return rules_.add_calls(from, called, low, high);
  }

  Result<void> repetition(size_t& low, std::optional<size_t>& high) {
    const size_t before = at_;
    skip_space(/*lines=*/false);
    if (skip("*")) return low = 0, high.reset(), Result<void>();
    if (skip("+")) return high.reset(), Result<void>();
    if (skip("?")) return low = 0, Result<void>();
    if (!skip("{")) return at_ = before, Result<void>();
    skip_space(/*lines=*/false);
    TRY(low, number("a number of repetitions was expected"));
    high = low;
    skip_space(/*lines=*/false);
    if (skip(",")) {
      skip_space(/*lines=*/false);
      high.reset();
      if (peek() != '}') {
        TRY(high, number("a number of repetitions was expected"));
      }
      skip_space(/*lines=*/false);
    }
    if (!skip("}")) return error("'}' was expected behind a number of repetitions");
    if (high && *high < low) return error("more repetitions at least than at most");
    return {};
  }

  Result<StateId> atom(StateId from, int depth) {
    const size_t begin = at_;
    if (is_ebnf_ && text_.substr(at_).starts_with("(=")) return refuse("look-ahead");
    if (skip("(")) {
      TRY(const StateId end, choice(from, depth + 1));
      skip_space(/*lines=*/true);
      if (!skip(")")) return at_ = begin, error("'(' without ')'");
      return end;
    }
    if (skip(".")) return chars(from, CharSet::all());
    if (peek() == '[') return char_class(from);
    ++at_;  // the opening quotation mark
    while (peek() != '"' || !more()) {
      if (!more()) return at_ = begin, error("'\"' without its end");
      if (peek() == '\n') return error("a line break in a literal (write \\n)");
      TRY(const char32_t c, character());
      from = chars(from, CharSet::one(c));
    }
    ++at_;
    return from;
  }

  StateId chars(StateId from, const CharSet& set) {
    const StateId to = rules_.new_state();
    rules_.add_chars(from, set, to);
    return to;
  }

  Result<StateId> char_class(StateId from) {
    const size_t begin = at_++;
    const bool is_inverted = skip("^");
    CharSet set;
    while (peek() != ']') {
      if (!more()) return at_ = begin, error("'[' without ']'");
      TRY(const char32_t low, character());
      char32_t high = low;
      if (peek() == '-' && peek(1) != ']') {
        ++at_;
        if (!more()) return at_ = begin, error("'[' without ']'");
        TRY(high, character());
      }
      if (high < low) return error("a range that runs backwards");
      set.add(low, high);
    }
    ++at_;
    return chars(from, is_inverted ? set.inverted() : set);
  }

  Result<char32_t> character() {
    if (peek() != '\\') {
      std::string_view rest = text_.substr(at_);
      const auto c = take_char(rest);
      if (!c) return error("invalid UTF-8");
      at_ = text_.size() - rest.size();
      return *c;
    }
    if (!is_ebnf_) return escape("nrt\"\\[]", "\n\r\t\"\\[]");
    if (peek(1) == 'x') return long_escape();
    using namespace std::string_view_literals;
    return escape("nrtbfav0e\"\\[]/'?^$.*+(){}|-"sv, "\n\r\t\b\f\a\v\0\x1B\"\\[]/'?^$.*+(){}|-"sv);
  }

  Result<char32_t> long_escape() {
    const size_t begin = at_;
    const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); };
    char32_t value = 0;
    for (at_ += 2; is_hex(peek()) && value <= kLastChar; ++at_) {
      const char c = peek();
      value = (value << 4) | static_cast<char32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (at_ == begin + 2) return error("an escape without its hexadecimal digits");
    if (value > kLastChar || (value >= 0xD800 && value < 0xE000))
      return at_ = begin, error("an escape of no character");
    return value;
  }

  const bool is_ebnf_;
  RuleWriter rules_;
  std::map<std::string, Name> names_;
};

}  // namespace

Result<Rules> parse_gbnf(std::string_view text, GbnfSyntax syntax) {
  if (text.size() > kMaxNotationText) {
    return fail(ErrorCode::kNotSupported, "a grammar of {} bytes: Tern reads up to {}", text.size(), kMaxNotationText);
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark, which some editors write
  return GbnfParser(text, syntax).parse();
}

}  // namespace tern::grammar
