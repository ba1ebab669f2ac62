#include "text/jinja/renderer.h"

#include "text/jinja/functions.h"
#include "text/unicode/utf8.h"

namespace tern {

// The names that a block can see: its own and those of enclosing blocks.
struct TemplateScope {
  TemplateScope* parent = nullptr;
  TemplateNames names = {};
};

namespace {

// Nested calls of eval() and run(). A message takes about twenty, and a macro that calls itself three per call.
constexpr int kMostCalls = 400;
constexpr const char* kTooManyCalls = "it calls itself too often";

using Expr = TemplateExpr;
using ExprKind = TemplateExprKind;
using Statement = TemplateStatement;
using StatementKind = TemplateStatementKind;
using Value = TemplateValue;

enum class Flow : uint8_t { kOn, kBreak, kContinue };

class TemplateRenderer {
 public:
  explicit TemplateRenderer(TemplateMemory& memory) : memory_(memory), budget_(memory.budget()) {}

  Flow run(const TemplateBody& body, TemplateScope& scope, TemplateText& out) {
    const NestingGuard guard(depth_, kMostCalls, kTooManyCalls);
    for (const Statement& statement : body) {
      budget_.step();
      if (const Flow flow = run_one(statement, scope, out); flow != Flow::kOn) return flow;
    }
    return Flow::kOn;
  }

 private:
  Flow run_one(const Statement& s, TemplateScope& scope, TemplateText& out) {
    switch (s.kind) {
      case StatementKind::kText:
        out.append(s.text);
        return Flow::kOn;
      case StatementKind::kOutput:
        append_text(eval(*s.expr, scope), out);
        return Flow::kOn;
      case StatementKind::kIf:
        return run_if(s, scope, out);
      case StatementKind::kFor:
        return run_for(s, scope, out);
      case StatementKind::kSet:
        assign(s, eval(*s.expr, scope), scope);
        return Flow::kOn;
      case StatementKind::kSetBlock:
      case StatementKind::kFilter:
        return run_captured(s, scope, out);
      case StatementKind::kMacro:
        set(scope, s.text, function(s, scope));
        return Flow::kOn;
      case StatementKind::kCallBlock:
        append_text(call(*s.expr, scope, function(s, scope)), out);
        return Flow::kOn;
      case StatementKind::kScope:
        return run_scope(s, scope, out);
      case StatementKind::kBreak:
        return Flow::kBreak;
      case StatementKind::kContinue:
        return Flow::kContinue;
    }
    return Flow::kOn;
  }

  Flow run_if(const Statement& s, TemplateScope& scope, TemplateText& out) {
    for (const TemplateBranch& branch : s.branches) {
      if (branch.condition == nullptr || is_true(eval(*branch.condition, scope))) return run(branch.body, scope, out);
    }
    return Flow::kOn;
  }

  // The items of the loop. They are kept in memory because `loop` may outlive the loop.
  const TemplateList& loop_items(const Statement& s, TemplateScope& scope, TemplateScope& inner) {
    const Value all = eval(*s.expr, scope);
    if (const auto* list = std::get_if<const TemplateList*>(&all); list != nullptr && s.condition == nullptr) {
      return **list;
    }
    std::vector<Value> items = items_of(all, budget_);
    if (s.condition != nullptr) {
      std::erase_if(items, [&](const Value& item) {
        inner.names.clear();
        unpack(s, item, inner);
        return !is_true(eval(*s.condition, inner));
      });
    }
    return *std::get<const TemplateList*>(memory_.list(std::move(items)));
  }

  Flow run_for(const Statement& s, TemplateScope& scope, TemplateText& out) {
    TemplateScope& inner = *memory_.make(TemplateScope{.parent = &scope});
    const std::vector<Value>& items = loop_items(s, scope, inner).items;
    if (items.empty()) return s.branches.size() > 1 ? run(s.branches[1].body, scope, out) : Flow::kOn;
    TemplateLoop* loop = memory_.make(TemplateLoop{.items = &items});
    for (; loop->index < items.size(); ++loop->index) {
      budget_.step();
      inner.names.clear();
      set(inner, "loop", loop);
      unpack(s, items[loop->index], inner);
      if (run(s.branches[0].body, inner, out) == Flow::kBreak) break;
    }
    return Flow::kOn;
  }

  Flow run_scope(const Statement& s, TemplateScope& scope, TemplateText& out) {
    TemplateScope& inner = *memory_.make(TemplateScope{.parent = &scope});
    for (const TemplateParameter& parameter : s.parameters) set(inner, parameter.name, eval(*parameter.value, scope));
    return run(s.branches[0].body, inner, out);
  }

  // {% set x %} and {% filter %}: the text of the body, filtered if there are filters.
  Flow run_captured(const Statement& s, TemplateScope& scope, TemplateText& out) {
    TemplateScope& inner = *memory_.make(TemplateScope{.parent = &scope});
    TemplateText text = memory_.new_text();
    const Flow flow = run(s.branches[0].body, inner, text);
    Value value = memory_.keep(std::move(text));
    if (s.expr != nullptr) value = eval_filter(*s.expr, scope, &value);
    if (s.kind == StatementKind::kSetBlock) {
      assign(s, value, scope);
    } else {
      append_text(value, out);
    }
    return flow;
  }

  void set(TemplateScope& scope, std::string_view name, Value value) {
    budget_.work(8 * scope.names.size());
    for (auto& [known, old] : scope.names) {
      if (known == name) {
        old = value;
        return;
      }
    }
    const bool grows = scope.names.size() == scope.names.capacity();
    if (grows) budget_.take(2 * (scope.names.size() + 1) * sizeof(TemplateNames::value_type));
    scope.names.emplace_back(name, value);
  }

  Value look_up(const TemplateScope& innermost, std::string_view name) {
    for (const TemplateScope* scope = &innermost; scope != nullptr; scope = scope->parent) {
      budget_.work(8 * scope->names.size());
      for (const auto& [known, value] : scope->names) {
        if (known == name) return value;
      }
    }
    if (const TemplateNative native = find_template_global(name)) {
      return memory_.make(TemplateFunction{.native = native, .name = name});
    }
    return Undefined{name};
  }

  // Assigns a part of the value to each of the names.
  void unpack(const Statement& s, const Value& value, TemplateScope& scope) {
    if (s.names.size() == 1) return set(scope, s.names[0], value);
    const std::vector<Value> parts = items_of(value, budget_);
    if (parts.size() != s.names.size()) object("{} values for {} names", parts.size(), s.names.size());
    for (size_t i = 0; i < parts.size(); ++i) set(scope, s.names[i], parts[i]);
  }

  void assign(const Statement& s, const Value& value, TemplateScope& scope) {
    if (s.text.empty()) return unpack(s, value, scope);
    const Value of = look_up(scope, s.names[0]);
    const auto* space = std::get_if<TemplateNamespace*>(&of);
    if (space == nullptr) object("an attribute of a {} is set; only namespaces can change", type_name(of));
    if (const Value* known = find(**space, s.text, budget_)) {
      *const_cast<Value*>(known) = value;
    } else {
      budget_.take(2 * sizeof(TemplateNames::value_type));
      (*space)->items.emplace_back(s.text, value);
    }
  }

  Value eval(const Expr& e, TemplateScope& scope) {
    const NestingGuard guard(depth_, kMostCalls, kTooManyCalls);
    budget_.step();
    switch (e.kind) {
      case ExprKind::kLiteral:
        return e.value;
      case ExprKind::kName:
        return look_up(scope, e.name);
      case ExprKind::kList:
      case ExprKind::kTuple:
        return memory_.list(eval_all(e.parts, scope), e.kind == ExprKind::kTuple);
      case ExprKind::kDict:
        return eval_dict(e, scope);
      case ExprKind::kAttribute:
        return attribute(eval(*e.parts[0], scope), e.name, memory_);
      case ExprKind::kItem:
        return eval_item(e, scope);
      case ExprKind::kSlice:
        return eval_slice(e, scope);
      case ExprKind::kCall:
        return call(e, scope, {});
      case ExprKind::kFilter:
        return eval_filter(e, scope, nullptr);
      case ExprKind::kTest: {
        TemplateCall test = arguments(e, e.name, scope);
        test.args.insert(test.args.begin(), eval(*e.parts[0], scope));
        return call_template_test(test);
      }
      default:
        return eval_operators(e, scope);
    }
  }

  Value eval_operators(const Expr& e, TemplateScope& scope) {
    switch (e.kind) {
      case ExprKind::kNegative:
        return negative(eval(*e.parts[0], scope), memory_);
      case ExprKind::kPositive:
        return arithmetic(int64_t{0}, "+", eval(*e.parts[0], scope), memory_);
      case ExprKind::kNot:
        return !is_true(eval(*e.parts[0], scope));
      case ExprKind::kAnd:
      case ExprKind::kOr:
        return eval_logic(e, scope);
      case ExprKind::kCompare:
        return eval_comparison(e, scope);
      case ExprKind::kConcat:
        return eval_concatenation(e, scope);
      case ExprKind::kCondition:
        if (is_true(eval(*e.parts[1], scope))) return eval(*e.parts[0], scope);
        return e.parts[2] == nullptr ? Value(Undefined{"the value of an if without an else"})
                                     : eval(*e.parts[2], scope);
      default: {
        Value value = eval(*e.parts[0], scope);
        for (size_t i = 1; i < e.parts.size(); ++i) {
          value = arithmetic(value, e.operators[i - 1], eval(*e.parts[i], scope), memory_);
        }
        return value;
      }
    }
  }

  std::vector<Value> eval_all(std::span<const Expr* const> exprs, TemplateScope& scope) {
    budget_.take(exprs.size() * sizeof(Value));
    std::vector<Value> values;
    values.reserve(exprs.size());
    for (const Expr* expr : exprs) values.push_back(eval(*expr, scope));
    return values;
  }

  Value eval_dict(const Expr& e, TemplateScope& scope) {
    const std::vector<Value> values = eval_all(e.parts, scope);
    std::vector<std::pair<Value, Value>> items;
    for (size_t i = 0; i < values.size(); i += 2) items.emplace_back(values[i], values[i + 1]);
    return memory_.dict(std::move(items));
  }

  Value eval_item(const Expr& e, TemplateScope& scope) {
    const Value of = eval(*e.parts[0], scope);
    return item(of, eval(*e.parts[1], scope), memory_);
  }

  Value eval_slice(const Expr& e, TemplateScope& scope) {
    const auto bound = [&](size_t i) { return e.parts[i] == nullptr ? Value(None{}) : eval(*e.parts[i], scope); };
    const Value of = eval(*e.parts[0], scope);
    return slice(of, {.from = bound(1), .to = bound(2), .step = bound(3)}, memory_);
  }

  Value eval_logic(const Expr& e, TemplateScope& scope) {
    Value value;
    for (const Expr* part : e.parts) {
      value = eval(*part, scope);
      if (is_true(value) == (e.kind == ExprKind::kOr)) break;
    }
    return value;
  }

  Value eval_comparison(const Expr& e, TemplateScope& scope) {
    Value left = eval(*e.parts[0], scope);
    for (size_t i = 1; i < e.parts.size(); ++i) {
      const Value right = eval(*e.parts[i], scope);
      if (!compare(left, e.operators[i - 1], right, budget_)) return false;
      left = right;
    }
    return true;
  }

  Value eval_concatenation(const Expr& e, TemplateScope& scope) {
    TemplateText text = memory_.new_text();
    for (const Expr* part : e.parts) append_text(eval(*part, scope), text);
    return memory_.keep(std::move(text));
  }

  // If the expression names no input, the first of its filters is applied to `text`.
  Value eval_filter(const Expr& e, TemplateScope& scope, const Value* text) {
    const NestingGuard guard(depth_, kMostCalls, kTooManyCalls);
    Value of;
    if (e.parts[0] == nullptr) {
      of = *text;
    } else {
      of = text != nullptr ? eval_filter(*e.parts[0], scope, text) : eval(*e.parts[0], scope);
    }
    TemplateCall filter = arguments(e, e.name, scope);
    filter.args.insert(filter.args.begin(), of);
    return call_template_filter(filter);
  }

  TemplateCall arguments(const Expr& e, std::string_view name, TemplateScope& scope) {
    TemplateCall made{.memory = memory_, .name = name, .args = eval_all(std::span(e.parts).subspan(1), scope)};
    budget_.take(e.named.size() * sizeof(TemplateNames::value_type));
    for (const auto& [argument, value] : e.named) made.named.emplace_back(argument, eval(*value, scope));
    return made;
  }

  // `caller`: what a call block passes on; undefined: nothing.
  Value call(const Expr& e, TemplateScope& scope, const Value& caller) {
    const Expr& callee = *e.parts[0];
    if (callee.kind != ExprKind::kAttribute) {
      return call_value(eval(callee, scope), callee.name, arguments(e, callee.name, scope), caller);
    }
    if (changes_list(callee.name) && callee.parts[0]->kind == ExprKind::kAttribute) {
      const Value owner = eval(*callee.parts[0]->parts[0], scope);
      if (auto* const* space = std::get_if<TemplateNamespace*>(&owner))
        return change_list(**space, callee.parts[0]->name, arguments(e, callee.name, scope));
    }
    const Value of = eval(*callee.parts[0], scope);
    if (auto* const* loop = std::get_if<TemplateLoop*>(&of)) return call_loop(**loop, arguments(e, callee.name, scope));
    const TemplateNative method = find_template_method(of, callee.name);
    TemplateCall made = arguments(e, callee.name, scope);
    if (method == nullptr) return call_value(attribute(of, callee.name, memory_), callee.name, std::move(made), caller);
    made.args.insert(made.args.begin(), of);
    return method(made);
  }

  Value call_value(const Value& callee, std::string_view name, TemplateCall&& made, const Value& caller) {
    const auto* function = std::get_if<const TemplateFunction*>(&callee);
    if (function == nullptr) object("'{}' is called, but is {}", printable(name), type_name(callee));
    if ((*function)->is_method) refuse_template("a call of {}() by another name", (*function)->name);
    if ((*function)->macro != nullptr) return call_macro(**function, made, caller);
    if ((*function)->state != nullptr) made.args.insert(made.args.begin(), (*function)->state);
    return (*function)->native(made);
  }

  Value call_loop(TemplateLoop& loop, const TemplateCall& made) {
    if (made.name == "cycle" && !made.args.empty()) return made.args[loop.index % made.args.size()];
    if (made.name != "changed") object("'{}' is no function of a loop", printable(made.name));
    bool is_same = loop.last_seen.size() == made.args.size() && loop.index > 0;
    for (size_t i = 0; is_same && i < made.args.size(); ++i) is_same = equal(loop.last_seen[i], made.args[i], budget_);
    loop.last_seen = made.args;
    return !is_same;
  }

  Value function(const Statement& s, TemplateScope& scope) {
    return memory_.make(TemplateFunction{.name = s.text, .macro = &s, .scope = &scope});
  }

  Value call_macro(const TemplateFunction& macro, const TemplateCall& made, const Value& caller) {
    const auto& parameters = macro.macro->parameters;
    TemplateScope& scope = *memory_.make(TemplateScope{.parent = macro.scope});
    if (made.args.size() > parameters.size()) {
      object("{}() takes at most {} arguments", printable(macro.name), parameters.size());
    }
    for (const auto& [name, value] : made.named) {
      if (std::ranges::find(parameters, name, &TemplateParameter::name) == parameters.end()) {
        object("{}() has no parameter '{}'", printable(macro.name), printable(name));
      }
    }
    budget_.work(32 * parameters.size() * (1 + made.named.size()));
    for (size_t i = 0; i < parameters.size(); ++i) {
      const TemplateParameter& parameter = parameters[i];
      const Value* given = made.find(i, parameter.name);
      Value value = Undefined{parameter.name};
      if (given != nullptr) value = *given;
      if (given == nullptr && parameter.value != nullptr) value = eval(*parameter.value, scope);
      set(scope, parameter.name, value);
    }
    if (!std::holds_alternative<Undefined>(caller)) set(scope, "caller", caller);
    TemplateText text = memory_.new_text();
    run(macro.macro->branches[0].body, scope, text);
    return memory_.keep(std::move(text));
  }

  TemplateMemory& memory_;
  TemplateBudget& budget_;
  int depth_ = 0;
};

}  // namespace

TemplateText render_template(const TemplateBody& body, TemplateNames names, TemplateMemory& memory) {
  TemplateScope& outermost = *memory.make(TemplateScope{.names = std::move(names)});
  TemplateText out = memory.new_text();
  TemplateRenderer(memory).run(body, outermost, out);
  return out;
}

}  // namespace tern
