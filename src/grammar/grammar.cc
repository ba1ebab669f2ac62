#include "tern/grammar.h"

#include "grammar/grammar_impl.h"
#include "grammar/rules/automaton.h"
#include "grammar/rules/gbnf.h"
#include "grammar/rules/lark.h"
#include "grammar/rules/regex.h"
#include "grammar/schema/schema.h"
#include "grammar/structural_tag.h"

namespace tern {
namespace {

Result<std::shared_ptr<const Grammar>> made(grammar::Rules rules) {
  auto impl = std::make_unique<Grammar::Impl>();
  impl->rules = std::make_shared<const grammar::Rules>(std::move(rules));
  return std::make_shared<const Grammar>(std::move(impl));
}

// Puts the subject of the error in front of its message.
std::unexpected<Error> in(std::string_view what, Error error) {
  error.message = format_text("{}: {}", what, error.message);
  return std::unexpected(std::move(error));
}

}  // namespace

Grammar::Grammar(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Grammar::~Grammar() = default;

Result<std::shared_ptr<const Grammar>> Grammar::json_schema(std::string_view schema_json) {
  auto rules = grammar::parse_schema(schema_json);
  if (!rules) return in("the JSON schema", std::move(rules).error());
  return made(*std::move(rules));
}

Result<std::shared_ptr<const Grammar>> Grammar::tool_call(std::string_view schema_json, std::string_view end) {
  auto rules = grammar::parse_schema_before(schema_json, end);
  if (!rules) return in("the JSON schema", std::move(rules).error());
  return made(*std::move(rules));
}

Result<std::shared_ptr<const Grammar>> Grammar::either(const Grammar& a, const Grammar& b) {
  grammar::RuleWriter writer;
  const grammar::RuleId root = writer.new_rule("either grammar");
  const grammar::StateId start = writer.start_of(root), end = writer.new_state();
  writer.end(end);
  for (const Grammar* one : {&a, &b}) writer.add_call(start, writer.add_rules(*one->impl_->rules), end);
  auto rules = writer.finish(root);
  if (!rules) return in("the grammars together", std::move(rules).error());
  return made(*std::move(rules));
}

namespace {

grammar::PositionId after(grammar::Automaton& automaton, std::string_view text) {
  automaton.begin_work();
  grammar::PositionId at = automaton.start();
  for (const char c : text) {
    if (at == grammar::kNowhere) return at;
    at = automaton.step(at, static_cast<uint8_t>(c));
  }
  return at;
}

}  // namespace

bool Grammar::matches(std::string_view text) const {
  grammar::Automaton automaton(*impl_->rules);
  const grammar::PositionId at = after(automaton, text);
  return at != grammar::kNowhere && automaton.may_end(at);
}

bool Grammar::may_begin(std::string_view text) const {
  grammar::Automaton automaton(*impl_->rules);
  return after(automaton, text) != grammar::kNowhere;
}

Result<std::shared_ptr<const Grammar>> Grammar::json_object() {
  TRY(auto rules, grammar::any_json_object());
  return made(std::move(rules));
}

Result<std::shared_ptr<const Grammar>> Grammar::gbnf(std::string_view text) {
  auto rules = grammar::parse_gbnf(text);
  if (!rules) return in("the grammar", std::move(rules).error());
  return made(*std::move(rules));
}

Result<std::shared_ptr<const Grammar>> Grammar::ebnf(std::string_view text) {
  auto rules = grammar::parse_gbnf(text, grammar::GbnfSyntax::kEbnf);
  if (!rules) return in("the grammar", std::move(rules).error());
  return made(*std::move(rules));
}

Result<std::shared_ptr<const Grammar>> Grammar::structural_tag(std::string_view json) {
  auto rules = grammar::parse_structural_tag(json);
  if (!rules) return in("the structural tag", std::move(rules).error());
  return made(*std::move(rules));
}

Result<std::shared_ptr<const Grammar>> Grammar::lark(std::string_view text) {
  auto rules = grammar::parse_lark(text);
  if (!rules) return in("the grammar", std::move(rules).error());
  return made(*std::move(rules));
}

Result<std::shared_ptr<const Grammar>> Grammar::regex(std::string_view pattern) {
  const auto automaton = grammar::parse_regex(pattern, grammar::RegexMatch::kWhole);
  if (!automaton) return in("the regular expression", automaton.error());
  grammar::RuleWriter writer;
  const grammar::RuleId root = writer.new_rule("the regular expression");
  const grammar::StateId start = writer.start_of(root);
  writer.end(automaton->write(writer, start, grammar::CharAutomaton::Spelling::kUtf8));
  auto rules = writer.finish(root);
  if (!rules) return in("the regular expression", std::move(rules).error());
  return made(*std::move(rules));
}

}  // namespace tern
