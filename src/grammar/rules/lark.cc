#include "grammar/rules/lark.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/text/format_text.h"
#include "base/text/quoted.h"
#include "grammar/rules/lark_syntax.h"
#include "grammar/rules/notation_cursor.h"
#include "grammar/rules/regex.h"
#include "grammar/rules/utf8_chars.h"

namespace tern::grammar {
namespace {

using Node = LarkNode::Kind;

// The terminals of Lark's library `common`, as expressions that end as early as Lark's do.
constexpr std::pair<std::string_view, std::string_view> kCommon[] = {
    {"DIGIT", "[0-9]"},
    {"HEXDIGIT", "[0-9a-fA-F]"},
    {"INT", "[0-9]+"},
    {"SIGNED_INT", "[+\\-]?[0-9]+"},
    {"DECIMAL", "[0-9]+\\.[0-9]*|\\.[0-9]+"},
    {"FLOAT", "[0-9]+[eE][+\\-]?[0-9]+|(?:[0-9]+\\.[0-9]*|\\.[0-9]+)(?:[eE][+\\-]?[0-9]+)?"},
    {"SIGNED_FLOAT", "[+\\-]?(?:[0-9]+[eE][+\\-]?[0-9]+|(?:[0-9]+\\.[0-9]*|\\.[0-9]+)(?:[eE][+\\-]?[0-9]+)?)"},
    {"NUMBER", "(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+\\-]?[0-9]+)?"},
    {"SIGNED_NUMBER", "[+\\-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+\\-]?[0-9]+)?"},
    {"ESCAPED_STRING", "\"(?:[^\"\\\\\\n]|\\\\[^\\n])*\""},
    {"LCASE_LETTER", "[a-z]"},
    {"UCASE_LETTER", "[A-Z]"},
    {"LETTER", "[a-zA-Z]"},
    {"WORD", "[a-zA-Z]+"},
    {"CNAME", "[_a-zA-Z][_a-zA-Z0-9]*"},
    {"WS_INLINE", "[ \\t]+"},
    {"WS", "[ \\t\\f\\r\\n]+"},
    {"CR", "\\r"},
    {"LF", "\\n"},
    {"NEWLINE", "(?:\\r?\\n)+"},
    {"SH_COMMENT", "#[^\\n]*"},
    {"CPP_COMMENT", "//[^\\n]*"},
    {"C_COMMENT", "/\\*(?:[^*]|\\*+[^*\\/])*\\*+/"},
    {"SQL_COMMENT", "--[^\\n]*"},
};

class LarkWriter {
 public:
  LarkWriter(RuleWriter& rules, std::string_view text, const LarkGrammar& grammar, CharAutomaton::Spelling spelling)
      : rules_(rules), text_(text), grammar_(grammar), spelling_(spelling) {}

  Result<RuleId> write() {
    const auto start = grammar_.definitions.find("start");
    if (start == grammar_.definitions.end()) {
      return fail(ErrorCode::kInvalidArgument, "the grammar has no rule 'start', which is where a text begins");
    }
    TRY_STATUS(check_terminals());
    find_whole_texts();
    for (const auto& [name, own] : grammar_.definitions) {
      const bool is_terminal = is_terminal_name(name);
      const RuleId rule = rule_of(name);
      const LarkNode body = is_terminal ? own.body : without_left_recursion(name, own.body);
      TRY(const StateId end, add(rules_.start_of(rule), body, is_terminal));
      rules_.end(end);
    }
    const RuleId whole = rules_.new_rule("the grammar");
    const StateId end = rules_.new_state();
    rules_.add_call(between(rules_.start_of(whole)), rule_of("start"), end);
    rules_.end(end);
    TRY_STATUS(write_ignored());
    return whole;
  }

 private:
  std::unexpected<Error> error(const LarkNode& node, ErrorCode code, std::string_view what) const {
    return fail(code, "{}: {}", place_in(text_, node.at), what);
  }

  RuleId rule_of(const std::string& name) {
    const auto [known, is_new] = names_.try_emplace(name, 0);
    if (is_new) known->second = rules_.new_rule(name);
    return known->second;
  }

  static void count_uses(const LarkNode& node, std::map<std::string, size_t>& out) {
    if (node.kind == Node::kName) ++out[node.text];
    for (const LarkNode& part : node.parts) count_uses(part, out);
  }

  // Finds the expressions that can only be the whole text: alternatives of 'start', and of what is used only as one.
  void find_whole_texts() {
    if (!grammar_.ignored.empty()) return;
    std::map<std::string, size_t> n_uses;
    for (const auto& [name, own] : grammar_.definitions) count_uses(own.body, n_uses);
    std::vector<std::string> whole;
    if (!n_uses.contains("start")) whole.push_back("start");
    while (!whole.empty()) {
      const auto own = grammar_.definitions.find(whole.back());
      whole.pop_back();
      if (own == grammar_.definitions.end()) continue;
      for (const LarkNode& one : own->second.body.parts) {
        if (one.parts.size() != 1) continue;
        const LarkNode& only = one.parts[0];
        if (only.kind == Node::kRegex) whole_texts_.insert(only.at);
        if (only.kind == Node::kName && n_uses[only.text] == 1) whole.push_back(only.text);
      }
    }
  }

  using Uses = std::map<std::string, std::vector<const LarkNode*>, std::less<>>;

  // A terminal consists of terminals, and not of itself. Chains of terminals may be longer than the stack is deep.
  Result<void> check_terminals() const {
    Uses uses;
    for (const auto& [name, own] : grammar_.definitions) {
      if (is_terminal_name(name)) TRY_STATUS(find_uses(name, own.body, uses[name]));
    }
    std::set<std::string_view> open, done;
    for (const auto& [name, all] : uses) {
      if (done.contains(name)) continue;
      std::vector<std::pair<Uses::const_iterator, size_t>> path = {{uses.find(name), 0}};
      open.insert(name);
      while (!path.empty()) {
        auto& [at, n_done] = path.back();
        if (n_done == at->second.size()) {
          open.erase(at->first);
          done.insert(at->first);
          path.pop_back();
          continue;
        }
        const LarkNode& called = *at->second[n_done++];
        if (open.contains(called.text))
          return error(called, ErrorCode::kInvalidArgument,
                       format_text("the terminal '{}' contains itself", called.text));
        const auto inner = uses.find(called.text);
        if (inner == uses.end() || done.contains(called.text)) continue;
        open.insert(inner->first);
        path.emplace_back(inner, 0);
      }
    }
    return {};
  }

  // The terminals in the terminal `name`.
  Result<void> find_uses(const std::string& name, const LarkNode& node, std::vector<const LarkNode*>& out) const {
    if (node.kind == Node::kName) {
      if (!is_terminal_name(node.text))
        return error(node, ErrorCode::kInvalidArgument,
                     format_text("the terminal '{}' cannot contain the rule '{}'", name, node.text));
      out.push_back(&node);
    }
    for (const LarkNode& part : node.parts) TRY_STATUS(find_uses(name, part, out));
    return {};
  }

  // a: a x | y  as  a: y x*
  static LarkNode without_left_recursion(const std::string& name, const LarkNode& body) {
    LarkNode begins = {.kind = Node::kChoice, .at = body.at}, goes_on = begins;
    for (const LarkNode& one : body.parts) {
      const bool is_left = !one.parts.empty() && one.parts[0].kind == Node::kName && one.parts[0].text == name;
      if (!is_left) {
        begins.parts.push_back(one);
      } else if (one.parts.size() > 1) {
        LarkNode rest = one;
        rest.parts.erase(rest.parts.begin());
        goes_on.parts.push_back(std::move(rest));
      }
    }
    if (begins.parts.size() == body.parts.size()) return body;
    if (goes_on.parts.empty()) return begins;
    LarkNode more = {.kind = Node::kRepeat, .at = body.at, .low = 0, .high = LarkNode::kNoEnd};
    more.parts.push_back(std::move(goes_on));
    LarkNode all = {.kind = Node::kSequence, .at = body.at};
    all.parts.push_back(std::move(begins));
    all.parts.push_back(std::move(more));
    return all;
  }

  Result<void> write_ignored() {
    if (!ignored_) return {};
    const StateId start = rules_.start_of(*ignored_);
    rules_.end(start);
    for (const LarkNode& one : grammar_.ignored) {
      TRY(const StateId end, add(start, one, /*in_terminal=*/true));
      rules_.add_empty(end, start);
    }
    return {};
  }

  // What is ignored may stand at `from`.
  StateId between(StateId from) {
    if (grammar_.ignored.empty()) return from;
    if (!ignored_) ignored_ = rules_.new_rule("what is ignored");
    const StateId to = rules_.new_state();
    rules_.add_call(from, *ignored_, to);
    return to;
  }

  Result<StateId> add(StateId from, const LarkNode& node, bool in_terminal) {
    if (rules_.is_full()) return from;  // an error in the end; expressions take long
    switch (node.kind) {
      case Node::kSequence:
        for (const LarkNode& part : node.parts) {
          TRY(from, add(from, part, in_terminal));
        }
        return from;
      case Node::kChoice: {
        const StateId to = rules_.new_state();
        for (const LarkNode& part : node.parts) {
          const StateId own = rules_.new_state();
          rules_.add_empty(from, own);
          TRY(const StateId end, add(own, part, in_terminal));
          rules_.add_empty(end, to);
        }
        return to;
      }
      case Node::kRepeat:
        return add_repeat(from, node, in_terminal);
      case Node::kName:
        return add_name(from, node, in_terminal);
      case Node::kText:
      case Node::kRegex:
      case Node::kRange:
        break;
    }
    TRY(const CharAutomaton texts, texts_of(node));
    const StateId end = texts.write(rules_, from, spelling_);
    return in_terminal ? end : between(end);
  }

  Result<StateId> add_name(StateId from, const LarkNode& node, bool in_terminal) {
    const bool is_terminal = is_terminal_name(node.text);
    if (!grammar_.definitions.contains(node.text)) {
      TRY_STATUS(import(node));
    }
    const StateId to = rules_.new_state();
    rules_.add_call(from, rule_of(node.text), to);
    return is_terminal && !in_terminal ? between(to) : to;
  }

  // Writes a terminal of Lark's library when it is first needed.
  Result<void> import(const LarkNode& node) {
    if (names_.contains(node.text)) return {};
    const auto own = grammar_.imports.find(node.text);
    if (own == grammar_.imports.end())
      return error(node, ErrorCode::kInvalidArgument, format_text("there is no rule or terminal '{}'", node.text));
    const auto* const known = std::ranges::find(kCommon, own->second, [](const auto& one) { return one.first; });
    if (known == std::end(kCommon)) {
      return fail(ErrorCode::kNotSupported, "{}: 'common' has no terminal '{}' that Tern knows",
                  place_in(text_, grammar_.places_of_imports.at(node.text)), own->second);
    }
    TRY(const CharAutomaton texts, parse_regex(known->second, RegexMatch::kWhole));
    const RuleId rule = rule_of(node.text);
    rules_.end(texts.write(rules_, rules_.start_of(rule), spelling_));
    return {};
  }

  Result<StateId> add_repeat(StateId from, const LarkNode& node, bool in_terminal) {
    const RuleId rule = rules_.new_rule(tern::quoted(text_.substr(node.at, 20)));
    TRY(const StateId end, add(rules_.start_of(rule), node.parts[0], in_terminal));
    rules_.end(end);
    const auto next = [&](StateId at) {
      const StateId to = rules_.new_state();
      rules_.add_call(at, rule, to);
      return to;
    };
    for (size_t i = 0; i < node.low && !rules_.is_full(); ++i) from = next(from);
    const StateId to = rules_.new_state();
    if (node.high == LarkNode::kNoEnd) rules_.add_call(to, rule, to);
    for (size_t i = node.low; node.high != LarkNode::kNoEnd && i < node.high && !rules_.is_full(); ++i) {
      rules_.add_empty(from, to);
      from = next(from);
    }
    rules_.add_empty(from, to);
    return to;
  }

  Result<CharAutomaton> texts_of(const LarkNode& node) const {
    const bool any_case = node.flags.contains('i');
    const std::u32string chars = chars_of(node.text);
    CharAutomaton out;
    if (node.kind == Node::kRange) {
      const uint32_t end = out.add_state();
      out.add_char(out.start(), CharSet{{chars[0], chars[1]}}, end);
      out.end(end);
      return out;
    }
    if (node.kind == Node::kText) {
      uint32_t at = out.start();
      for (const char32_t c : chars) {
        const uint32_t next = out.add_state();
        out.add_char(at, CharSet::one(c), next);
        at = next;
      }
      out.end(at);
    } else {
      auto parsed = parse_regex(node.text, RegexMatch::kWhole,
                                {.is_python = true,
                                 .any_case = any_case,
                                 .dot_is_all = node.flags.contains('s'),
                                 .is_whole_text = whole_texts_.contains(node.at)});
      if (!parsed) return error(node, parsed.error().code, "the expression: " + parsed.error().message);
      out = *std::move(parsed);
    }
    return any_case ? out.in_any_case() : out;
  }

  RuleWriter& rules_;
  std::string_view text_;
  const LarkGrammar& grammar_;
  CharAutomaton::Spelling spelling_;
  std::map<std::string, RuleId> names_;
  std::optional<RuleId> ignored_;
  std::set<size_t> whole_texts_;  // where their expressions are
};

}  // namespace

Result<RuleId> write_lark(RuleWriter& rules, std::string_view text, CharAutomaton::Spelling spelling) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark, which some editors write
  TRY(const LarkGrammar grammar, read_lark(text));
  return LarkWriter(rules, text, grammar, spelling).write();
}

Result<Rules> parse_lark(std::string_view text) {
  RuleWriter rules;
  TRY(const RuleId root, write_lark(rules, text, CharAutomaton::Spelling::kUtf8));
  return rules.finish(root);
}

}  // namespace tern::grammar
