// The syntax tree of a chat template.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/value.h"

namespace tern {

enum class TemplateExprKind : uint8_t {
  kLiteral,
  kName,
  kList,
  kTuple,
  kDict,       // parts: key, value, key, value …
  kAttribute,  // parts[0].name
  kItem,       // parts[0][parts[1]]
  kSlice,      // parts[0][parts[1]:parts[2]:parts[3]]; all but the first may be null
  kCall,       // parts[0](parts[1] …, named …)
  kFilter,     // parts[0] | name(parts[1] …, named …); parts[0] is null in a filter block
  kTest,       // parts[0] is name(parts[1] …)
  kNegative,
  kPositive,
  kNot,
  kAnd,
  kOr,
  kArithmetic,  // parts[0] operators[0] parts[1] operators[1] …, from left to right
  kPower,       // the same
  kCompare,     // the same; every pair must hold
  kConcat,      // ~
  kCondition,   // parts[0] if parts[1] else parts[2], which may be null
};

struct TemplateExpr {
  TemplateExprKind kind = TemplateExprKind::kLiteral;
  int depth = 1;  // nesting depth of expressions
  std::string_view name = {};
  TemplateValue value = {};
  std::vector<const TemplateExpr*> parts = {};
  std::vector<std::pair<std::string_view, const TemplateExpr*>> named = {};
  std::vector<std::string_view> operators = {};
};

struct TemplateStatement;
using TemplateBody = std::vector<TemplateStatement>;

enum class TemplateStatementKind : uint8_t {
  kText,
  kOutput,     // expr
  kIf,         // branches
  kFor,        // names in expr if condition; branches: the body, and the else branch for an empty loop
  kSet,        // names = expr, or names[0].attribute = expr
  kSetBlock,   // names[0] = the body, filtered by expr unless it is null
  kMacro,      // name(parameters); branches[0]
  kCallBlock,  // expr is a call, with caller(parameters) being branches[0]
  kFilter,     // branches[0] through expr
  kScope,      // branches[0], with the parameters set
  kBreak,
  kContinue,
};

struct TemplateBranch {
  const TemplateExpr* condition = nullptr;  // null: always
  TemplateBody body;
};

struct TemplateParameter {
  std::string_view name;
  const TemplateExpr* value = nullptr;  // the default; null: none
};

struct TemplateStatement {
  TemplateStatementKind kind = TemplateStatementKind::kText;
  std::string_view text = {};  // also a macro's name, or an attribute
  std::vector<std::string_view> names = {};
  std::vector<TemplateParameter> parameters = {};
  const TemplateExpr* expr = nullptr;
  const TemplateExpr* condition = nullptr;
  std::vector<TemplateBranch> branches = {};
};

}  // namespace tern
