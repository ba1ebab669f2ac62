#include "text/jinja/expr_parser.h"

#include <charconv>

namespace tern {
namespace {

constexpr int kMostDepth = 200;
constexpr const char* kTooDeep = "an expression nested too deep";

using Token = TemplateTokenKind;
using Expr = TemplateExpr;
using ExprKind = TemplateExprKind;

// Removes the underscores that Python allows between digits.
std::string digits_of(std::string_view text) {
  std::string out(text);
  std::erase(out, '_');
  return out;
}

}  // namespace

const Expr* TemplateExprParser::make(Expr&& expr) {
  const auto deepen = [&](const Expr* part) {
    if (part != nullptr) expr.depth = std::max(expr.depth, part->depth + 1);
  };
  for (const Expr* part : expr.parts) deepen(part);
  for (const auto& [name, part] : expr.named) deepen(part);
  if (expr.depth > kMostDepth) refuse_template("{}", kTooDeep);
  memory_.budget().take(64 * (expr.parts.size() + expr.named.size()));
  return memory_.make(std::move(expr));
}

const Expr* TemplateExprParser::literal(TemplateValue value) { return make({.value = value}); }

// operand [operator operand]…; without an operator it is just the operand.
template <class Operand>
const Expr* TemplateExprParser::chain(ExprKind kind, std::initializer_list<std::string_view> operators,
                                      const Operand& operand) {
  const auto is_operator = [&] {
    return (cursor_.is(Token::kOperator) || cursor_.is(Token::kName)) &&
           std::ranges::contains(operators, cursor_.peek().text);
  };
  const Expr* first = operand();
  if (!is_operator()) return first;
  Expr expr{.kind = kind, .parts = {first}};
  while (is_operator()) {
    expr.operators.push_back(cursor_.next().text);
    expr.parts.push_back(operand());
  }
  return make(std::move(expr));
}

const Expr* TemplateExprParser::expression() {
  const NestingGuard guard(depth_, kMostDepth, kTooDeep);
  const Expr* expr = either();
  while (cursor_.skip_name("if")) {
    const Expr* condition = either();
    const Expr* otherwise = cursor_.skip_name("else") ? expression() : nullptr;
    expr = make({.kind = ExprKind::kCondition, .parts = {expr, condition, otherwise}});
  }
  return expr;
}

const Expr* TemplateExprParser::expression_without_condition() { return either(); }

const Expr* TemplateExprParser::expressions(bool with_condition) {
  const auto one = [&] { return with_condition ? expression() : either(); };
  const Expr* first = one();
  if (!cursor_.is_operator(",")) return first;
  Expr tuple{.kind = ExprKind::kTuple, .parts = {first}};
  while (cursor_.skip_operator(",")) {
    if (!begins_operand()) break;
    tuple.parts.push_back(one());
  }
  return make(std::move(tuple));
}

const Expr* TemplateExprParser::either() {
  return chain(ExprKind::kOr, {"or"}, [&] { return both(); });
}

const Expr* TemplateExprParser::both() {
  return chain(ExprKind::kAnd, {"and"}, [&] { return negation(); });
}

const Expr* TemplateExprParser::negation() {
  const NestingGuard guard(depth_, kMostDepth, kTooDeep);
  if (!cursor_.skip_name("not")) return comparison();
  return make({.kind = ExprKind::kNot, .parts = {negation()}});
}

// Empty: there is no operator. "not in" is two tokens.
std::string_view TemplateExprParser::comparison_operator() {
  constexpr std::string_view kOperators[] = {"==", "!=", "<", "<=", ">", ">="};
  if (cursor_.is(Token::kOperator) && std::ranges::contains(kOperators, cursor_.peek().text)) {
    return cursor_.next().text;
  }
  if (cursor_.skip_name("in")) return "in";
  if (!cursor_.is_name("not") || cursor_.peek(1).kind != Token::kName || cursor_.peek(1).text != "in") return {};
  cursor_.next();
  cursor_.next();
  return "not in";
}

const Expr* TemplateExprParser::comparison() {
  Expr expr{.kind = ExprKind::kCompare, .parts = {sum()}};
  for (std::string_view op = comparison_operator(); !op.empty(); op = comparison_operator()) {
    expr.operators.push_back(op);
    expr.parts.push_back(sum());
  }
  return expr.operators.empty() ? expr.parts[0] : make(std::move(expr));
}

const Expr* TemplateExprParser::sum() {
  return chain(ExprKind::kArithmetic, {"+", "-"}, [&] { return concatenation(); });
}

const Expr* TemplateExprParser::concatenation() {
  return chain(ExprKind::kConcat, {"~"}, [&] { return product(); });
}

const Expr* TemplateExprParser::product() {
  return chain(ExprKind::kArithmetic, {"*", "/", "//", "%"}, [&] { return power(); });
}

const Expr* TemplateExprParser::power() {
  return chain(ExprKind::kPower, {"**"}, [&] { return unary(); });
}

const Expr* TemplateExprParser::unary(bool with_filters) {
  const NestingGuard guard(depth_, kMostDepth, kTooDeep);
  const Expr* expr = nullptr;
  if (cursor_.is_operator("-") || cursor_.is_operator("+")) {
    const bool is_minus = cursor_.next().text == "-";
    expr = make({.kind = is_minus ? ExprKind::kNegative : ExprKind::kPositive, .parts = {unary(false)}});
  } else {
    expr = primary();
  }
  expr = postfixes(expr);
  return with_filters ? with_filters_and_tests(expr) : expr;
}

const Expr* TemplateExprParser::postfix_expression() { return postfixes(primary()); }

bool TemplateExprParser::begins_operand() const {
  if (cursor_.is(Token::kOperator)) return std::ranges::contains(std::string_view("([{-+"), cursor_.peek().text[0]);
  return cursor_.is(Token::kName) || cursor_.is(Token::kString) || cursor_.is(Token::kInteger) ||
         cursor_.is(Token::kFloat);
}

const Expr* TemplateExprParser::primary() {
  if (cursor_.is(Token::kName)) return name_or_constant();
  if (cursor_.is(Token::kString)) return strings();
  if (cursor_.is(Token::kInteger) || cursor_.is(Token::kFloat)) return number();
  if (cursor_.skip_operator("[")) return list();
  if (cursor_.skip_operator("{")) return dict();
  if (!cursor_.skip_operator("(")) cursor_.refuse_here();
  if (cursor_.skip_operator(")")) return make({.kind = ExprKind::kTuple});
  const Expr* inner = expressions();
  cursor_.expect_operator(")");
  return inner;
}

const Expr* TemplateExprParser::name_or_constant() {
  const std::string_view name = cursor_.next().text;
  if (name == "true" || name == "True") return literal(true);
  if (name == "false" || name == "False") return literal(false);
  if (name == "none" || name == "None") return literal(None{});
  return make({.kind = ExprKind::kName, .name = name});
}

// Adjacent literals 'a' 'b' are one text.
const Expr* TemplateExprParser::strings() {
  std::string_view first = cursor_.next().text;
  if (!cursor_.is(Token::kString)) return literal(first);
  std::string all(first);
  while (cursor_.is(Token::kString)) {
    memory_.budget().take(2 * cursor_.peek().text.size());
    all += cursor_.next().text;
  }
  return literal(memory_.keep_own(std::move(all)));
}

const Expr* TemplateExprParser::number() {
  const TemplateToken token = cursor_.next();
  const std::string digits = digits_of(token.text);
  const auto read = [&](auto value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      refuse_template("line {}: {} is too large a number", token.line, printable(token.text));
    }
    return literal(value);
  };
  return token.kind == Token::kInteger ? read(int64_t{0}) : read(0.0);
}

const Expr* TemplateExprParser::list() {
  Expr expr{.kind = ExprKind::kList};
  while (!cursor_.is_operator("]")) {
    expr.parts.push_back(expression());
    if (!cursor_.skip_operator(",")) break;
  }
  cursor_.expect_operator("]");
  return make(std::move(expr));
}

const Expr* TemplateExprParser::dict() {
  Expr expr{.kind = ExprKind::kDict};
  while (!cursor_.is_operator("}")) {
    expr.parts.push_back(expression());
    cursor_.expect_operator(":");
    expr.parts.push_back(expression());
    if (!cursor_.skip_operator(",")) break;
  }
  cursor_.expect_operator("}");
  return make(std::move(expr));
}

const Expr* TemplateExprParser::postfixes(const Expr* expr) {
  while (true) {
    if (cursor_.skip_operator(".")) {
      if (cursor_.is(Token::kInteger)) {
        expr = make({.kind = ExprKind::kItem, .parts = {expr, number()}});
      } else {
        expr = make({.kind = ExprKind::kAttribute, .name = cursor_.expect_name(), .parts = {expr}});
      }
    } else if (cursor_.skip_operator("[")) {
      expr = subscript(expr);
    } else if (cursor_.is_operator("(")) {
      Expr call{.kind = ExprKind::kCall, .parts = {expr}};
      arguments(call);
      expr = make(std::move(call));
    } else {
      return expr;
    }
  }
}

// Parses what follows the bracket: index] or from:to:step].
const Expr* TemplateExprParser::subscript(const Expr* expr) {
  const Expr* bounds[3] = {};
  size_t n_colons = 0;
  while (true) {
    if (!cursor_.is_operator(":") && !cursor_.is_operator("]")) bounds[n_colons] = expression();
    if (n_colons == 2 || !cursor_.skip_operator(":")) break;
    ++n_colons;
  }
  cursor_.expect_operator("]");
  if (n_colons > 0) return make({.kind = ExprKind::kSlice, .parts = {expr, bounds[0], bounds[1], bounds[2]}});
  if (bounds[0] == nullptr) cursor_.refuse_here("an index");
  return make({.kind = ExprKind::kItem, .parts = {expr, bounds[0]}});
}

const Expr* TemplateExprParser::with_filters_and_tests(const Expr* expr) {
  while (true) {
    if (cursor_.skip_operator("|")) {
      expr = filter(expr);
    } else if (cursor_.skip_name("is")) {
      expr = test(expr);
    } else {
      return expr;
    }
  }
}

const Expr* TemplateExprParser::filters() {
  const Expr* expr = filter(nullptr);
  while (cursor_.skip_operator("|")) expr = filter(expr);
  return expr;
}

const Expr* TemplateExprParser::filter(const Expr* expr) {
  Expr made{.kind = ExprKind::kFilter, .name = cursor_.expect_name(), .parts = {expr}};
  if (cursor_.is_operator("(")) arguments(made);
  return make(std::move(made));
}

const Expr* TemplateExprParser::test(const Expr* expr) {
  constexpr std::string_view kFollowing[] = {"else", "or", "and", "if", "is", "in", "not"};
  const bool is_negated = cursor_.skip_name("not");
  Expr made{.kind = ExprKind::kTest, .name = cursor_.expect_name(), .parts = {expr}};
  if (cursor_.is_operator("(")) {
    arguments(made);
  } else if (begins_operand() && !cursor_.is_operator("-") && !cursor_.is_operator("+") &&
             !(cursor_.is(Token::kName) && std::ranges::contains(kFollowing, cursor_.peek().text))) {
    const NestingGuard guard(depth_, kMostDepth, kTooDeep);
    made.parts.push_back(postfix_expression());
  }
  expr = make(std::move(made));
  return is_negated ? make({.kind = ExprKind::kNot, .parts = {expr}}) : expr;
}

void TemplateExprParser::arguments(Expr& call) {
  cursor_.expect_operator("(");
  while (!cursor_.is_operator(")")) {
    if (cursor_.is(Token::kName) && cursor_.peek(1).kind == Token::kOperator && cursor_.peek(1).text == "=") {
      const std::string_view name = cursor_.next().text;
      cursor_.next();
      call.named.emplace_back(name, expression());
    } else if (!call.named.empty()) {
      cursor_.refuse_here("a name");
    } else {
      call.parts.push_back(expression());
    }
    if (!cursor_.skip_operator(",")) break;
  }
  cursor_.expect_operator(")");
}

}  // namespace tern
