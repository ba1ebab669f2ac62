// Parses the expressions of a chat template by Jinja's grammar.
#pragma once

#include "text/jinja/cursor.h"
#include "text/jinja/syntax.h"

namespace tern {

class TemplateExprParser {
 public:
  TemplateExprParser(TemplateCursor& cursor, TemplateMemory& memory) : cursor_(cursor), memory_(memory) {}

  const TemplateExpr* expression();
  // Without "a if b", because the "if" may belong to a loop.
  const TemplateExpr* expression_without_condition();
  // One expression, or several separated by commas, which form a tuple.
  const TemplateExpr* expressions(bool with_condition = true);
  // "name(arguments) | name …", as in a filter block.
  const TemplateExpr* filters();
  const TemplateExpr* postfix_expression();

 private:
  const TemplateExpr* make(TemplateExpr&& expr);
  const TemplateExpr* literal(TemplateValue value);
  template <class Operand>
  const TemplateExpr* chain(TemplateExprKind kind, std::initializer_list<std::string_view> operators,
                            const Operand& operand);
  const TemplateExpr* either();
  const TemplateExpr* both();
  const TemplateExpr* negation();
  const TemplateExpr* comparison();
  std::string_view comparison_operator();
  const TemplateExpr* sum();
  const TemplateExpr* concatenation();
  const TemplateExpr* product();
  const TemplateExpr* power();
  const TemplateExpr* unary(bool with_filters = true);
  const TemplateExpr* primary();
  const TemplateExpr* name_or_constant();
  const TemplateExpr* strings();
  const TemplateExpr* number();
  const TemplateExpr* list();
  const TemplateExpr* dict();
  const TemplateExpr* postfixes(const TemplateExpr* expr);
  const TemplateExpr* subscript(const TemplateExpr* expr);
  const TemplateExpr* with_filters_and_tests(const TemplateExpr* expr);
  const TemplateExpr* filter(const TemplateExpr* expr);
  const TemplateExpr* test(const TemplateExpr* expr);
  void arguments(TemplateExpr& call);
  bool begins_operand() const;

  TemplateCursor& cursor_;
  TemplateMemory& memory_;
  int depth_ = 0;
};

}  // namespace tern
