#include "grammar/rules/lark_syntax.h"

#include <algorithm>

#include "base/text/format_text.h"
#include "grammar/rules/notation_cursor.h"
#include "grammar/rules/utf8_chars.h"

namespace tern::grammar {
namespace {

using Node = LarkNode::Kind;

bool is_lark_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class LarkParser : NotationCursor {
 public:
  explicit LarkParser(std::string_view text) : NotationCursor(text, "//") {}

  Result<LarkGrammar> parse() {
    for (skip_space(/*lines=*/true); more(); skip_space(/*lines=*/true)) {
      TRY_STATUS(peek() == '%' ? directive() : definition());
      skip_space(/*lines=*/false);
      if (more() && peek() != '\n' && peek() != '\r') return error("this belongs to no rule");
    }
    return std::move(grammar_);
  }

 private:
  // The name of a rule or terminal; empty: there is none.
  std::string name() {
    const size_t begin = at_;
    while (is_lark_name_char(peek())) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<void> definition() {
    const size_t begin = at_;
    while (peek() == '?' || peek() == '!') ++at_;  // they are about the tree that a parser makes
    const std::string own = name();
    if (own.empty()) return error("a rule's or terminal's name was expected");
    if (peek() == '{') return refuse("rules with parameters are not supported");
    if (skip(".")) {  // a priority, which tells apart readings of one text
      skip("-");
      TRY_STATUS(number("a number was expected"));
    }
    skip_space(/*lines=*/false);
    if (!skip(":")) return error(format_text("':' was expected behind '{}'", own));
    skip_space(/*lines=*/true);
    TRY(LarkNode body, choice(0));
    const auto [known, is_new] = grammar_.definitions.try_emplace(own, begin, std::move(body));
    if (!is_new || grammar_.imports.contains(own))
      return at_place(ErrorCode::kInvalidArgument, begin, format_text("'{}' is defined a second time", own));
    return {};
  }

  Result<void> directive() {
    const size_t begin = at_++;
    const std::string own = name();
    skip_space(/*lines=*/false);
    if (own == "import") return import();
    if (own == "ignore") {
      TRY(LarkNode ignored, choice(0));
      grammar_.ignored.push_back(std::move(ignored));
      return {};
    }
    return at_place(ErrorCode::kNotSupported, begin, format_text("'%{}' is not supported", own));
  }

  // common.NAME, common.NAME -> OTHER, or common (NAME, NAME)
  Result<void> import() {
    const size_t begin = at_;
    if (!skip("common")) return refuse("only terminals of 'common' can be imported");
    skip_space(/*lines=*/false);
    if (skip("(")) {
      do {
        skip_space(/*lines=*/true);
        TRY_STATUS(add_import(name(), {}, begin));
        skip_space(/*lines=*/true);
      } while (skip(","));
      return skip(")") ? Result<void>() : error("')' was expected");
    }
    if (!skip(".")) return error("'.' was expected behind 'common'");
    const std::string own = name();
    skip_space(/*lines=*/false);
    std::string other;
    if (skip("->")) {
      skip_space(/*lines=*/false);
      other = name();
      if (!is_terminal_name(other)) return error("a terminal's name was expected");
    }
    return add_import(own, other, begin);
  }

  Result<void> add_import(const std::string& own, const std::string& other, size_t at) {
    if (own.empty()) return error("a terminal's name was expected");
    const std::string& known = other.empty() ? own : other;
    if (grammar_.definitions.contains(known)) return error(format_text("'{}' is defined already", known));
    const auto [import, is_new] = grammar_.imports.try_emplace(known, own);
    if (!is_new && import->second != own)
      return at_place(ErrorCode::kInvalidArgument, at, format_text("'{}' is imported a second time", known));
    grammar_.places_of_imports[known] = at;
    return {};
  }

  Result<LarkNode> choice(int depth) {
    if (depth > kMaxNotationParentheses)
      return refuse(format_text("parentheses nested more than {} deep", kMaxNotationParentheses));
    LarkNode all = {.kind = Node::kChoice, .at = at_};
    skip("|");
    do {
      TRY(LarkNode one, sequence(depth));
      all.parts.push_back(std::move(one));
    } while (skip_bar(depth > 0));
    return all;
  }

  Result<LarkNode> sequence(int depth) {
    LarkNode all = {.kind = Node::kSequence, .at = at_};
    for (;;) {
      skip_space(/*lines=*/depth > 0);
      const char c = peek();
      if (c == '-' && skip("->")) {  // the name of a branch of the tree
        skip_space(/*lines=*/false);
        if (name().empty()) return error("a name was expected behind '->'");
        skip_space(/*lines=*/depth > 0);
        return all;
      }
      if (c == '<' || c == '%' || c == '@' || c == '&' || c == '{')
        return refuse(format_text("'{}' is not supported here", c));
      if (c != '"' && c != '/' && c != '(' && c != '[' && !is_lark_name_char(c)) return all;
      TRY(LarkNode one, repeated(depth));
      all.parts.push_back(std::move(one));
    }
  }

  Result<LarkNode> repeated(int depth) {
    TRY(LarkNode one, atom(depth));
    LarkNode out = {.kind = Node::kRepeat, .at = one.at};
    skip_space(/*lines=*/false);
    if (skip("*")) {
      out.low = 0, out.high = LarkNode::kNoEnd;
    } else if (skip("+")) {
      out.high = LarkNode::kNoEnd;
    } else if (skip("?")) {
      out.low = 0;
    } else if (skip("~")) {
      skip_space(/*lines=*/false);
      TRY(out.low, number("a number was expected"));
      out.high = out.low;
      skip_space(/*lines=*/false);
      if (skip("..")) {
        skip_space(/*lines=*/false);
        TRY(out.high, number("a number was expected"));
      }
      if (out.high < out.low) return error("more repetitions at least than at most");
    } else {
      return one;
    }
    out.parts.push_back(std::move(one));
    return out;
  }

  Result<LarkNode> atom(int depth) {
    const size_t begin = at_;
    if (peek() == '(' || peek() == '[') {
      const bool is_optional = text_[at_++] == '[';
      TRY(LarkNode inside, choice(depth + 1));
      skip_space(/*lines=*/true);
      if (!skip(is_optional ? "]" : ")"))
        return at_ = begin, error(is_optional ? "'[' without ']'" : "'(' without ')'");
      if (!is_optional) return inside;
      LarkNode out = {.kind = Node::kRepeat, .at = begin, .low = 0};
      out.parts.push_back(std::move(inside));
      return out;
    }
    if (peek() == '/') return regex();
    if (peek() == '"') return literal();
    const std::string own = name();
    if (peek() == '{') return refuse("rules with parameters are not supported");
    return LarkNode{.kind = Node::kName, .at = begin, .text = own};
  }

  std::string flags() {
    const size_t begin = at_;
    while (peek() >= 'a' && peek() <= 'z') ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<LarkNode> regex() {
    LarkNode out = {.kind = Node::kRegex, .at = at_++};
    while (peek() != '/') {
      if (!more() || peek() == '\n') return at_ = out.at, error("'/' without the one that ends the expression");
      if (peek() == '\\' && peek(1) == '/') ++at_;
      if (peek() == '\\' && at_ + 1 < text_.size()) out.text += text_[at_++];
      out.text += text_[at_++];
    }
    ++at_;
    out.flags = flags();
    if (const size_t other = out.flags.find_first_not_of("isu"); other != std::string::npos)
      return refuse(format_text("the flag '{}' of an expression is not supported", out.flags[other]));
    return out;
  }

  Result<LarkNode> literal() {
    LarkNode out = {.kind = Node::kText, .at = at_};
    TRY(out.text, quoted());
    const size_t before = at_;
    skip_space(/*lines=*/false);
    if (skip("..")) {
      skip_space(/*lines=*/false);
      TRY(const std::string last, quoted());
      out.kind = Node::kRange;
      const size_t n = chars_of(out.text).size();
      out.text += last;
      const std::u32string ends = chars_of(out.text);
      if (n != 1 || ends.size() != 2) return at_ = out.at, error("the ends of a range are no single characters");
      if (ends[1] < ends[0]) return at_ = out.at, error("a range that runs backwards");
      return out;
    }
    at_ = before;
    if (peek() == 'i' && !is_lark_name_char(peek(1))) out.flags = flags();
    return out;
  }

  Result<std::string> quoted() {
    const size_t begin = at_;
    if (!skip("\"")) return error("'\"' was expected");
    std::string out;
    while (peek() != '"') {
      if (!more() || peek() == '\n') return at_ = begin, error("'\"' without its end");
      if (peek() != '\\') {
        out += text_[at_++];
        continue;
      }
      TRY(const char32_t c, escape("nrtfv\"\\/", "\n\r\t\f\v\"\\/"));
      append_char(c, out);
    }
    ++at_;
    if (out.empty()) return at_ = begin, error("an empty literal");
    return out;
  }

  LarkGrammar grammar_;
};

}  // namespace

bool is_terminal_name(std::string_view name) {
  const size_t letter = name.find_first_not_of('_');
  return letter != name.npos && name[letter] >= 'A' && name[letter] <= 'Z';
}

Result<LarkGrammar> read_lark(std::string_view text) {
  if (text.size() > kMaxNotationText) {
    return fail(ErrorCode::kNotSupported, "a grammar of {} bytes: Tern reads up to {}", text.size(), kMaxNotationText);
  }
  for (std::string_view rest = text; !rest.empty();) {
    const size_t at = text.size() - rest.size();
    if (!take_char(rest)) return fail(ErrorCode::kInvalidArgument, "{}: invalid UTF-8", place_in(text, at));
  }
  return LarkParser(text).parse();
}

}  // namespace tern::grammar
