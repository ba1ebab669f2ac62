// Tests such as "x is even".
#include <algorithm>
#include <functional>

#include "text/jinja/functions.h"
#include "text/jinja/text.h"

namespace tern {
namespace {

template <class T>
bool holds(TemplateCall& call) {
  return std::holds_alternative<T>(call.self());
}

bool is_list(const TemplateValue& value) {
  return std::holds_alternative<const TemplateList*>(value) || std::holds_alternative<std::string_view>(value) ||
         std::holds_alternative<const TemplateDict*>(value);
}

template <bool (*kIs)(std::string_view, TemplateBudget&)>
bool is_in_case(TemplateCall& call) {
  return kIs(to_text(call.self(), call.budget()), call.budget());
}

template <bool kEven>
bool is_even_or_odd(TemplateCall& call) {
  return (to_integer(call.self()) % 2 == 0) == kEven;
}

bool is_divisible(TemplateCall& call) {
  const int64_t by = to_integer(call.need(1, "num"));
  if (by == 0) object("a division by zero");
  return by == -1 || to_integer(call.self()) % by == 0;
}

// Jinja has several names for some tests.
struct NamedTest {
  std::string_view name;
  TemplateTest test;
};

bool is_equal(TemplateCall& call) { return equal(call.self(), call.need(1, "other"), call.budget()); }
bool is_unequal(TemplateCall& call) { return !is_equal(call); }
bool is_less(TemplateCall& call) { return less(call.self(), call.need(1, "other"), call.budget()); }
bool is_greater(TemplateCall& call) { return less(call.need(1, "other"), call.self(), call.budget()); }
bool is_at_most(TemplateCall& call) { return !is_greater(call); }
bool is_at_least(TemplateCall& call) { return !is_less(call); }
bool is_in(TemplateCall& call) { return compare(call.self(), "in", call.need(1, "seq"), call.budget()); }
bool is_same(TemplateCall& call) { return call.self().index() == call.need(1, "other").index() && is_equal(call); }

constexpr NamedTest kTests[] = {
    {"defined", [](TemplateCall& call) { return !holds<Undefined>(call); }},
    {"undefined", holds<Undefined>},
    {"none", holds<None>},
    {"boolean", holds<bool>},
    {"true", [](TemplateCall& call) { return holds<bool>(call) && is_true(call.self()); }},
    {"false", [](TemplateCall& call) { return holds<bool>(call) && !is_true(call.self()); }},
    {"integer", holds<int64_t>},
    {"float", holds<double>},
    {"number", [](TemplateCall& call) { return is_number(call.self()); }},
    {"string", holds<std::string_view>},
    {"mapping", holds<const TemplateDict*>},
    {"sequence", [](TemplateCall& call) { return is_list(call.self()) || holds<Undefined>(call); }},
    {"iterable", [](TemplateCall& call) { return is_list(call.self()) || holds<Undefined>(call); }},
    {"filter", [](TemplateCall& call) { return find_template_filter(to_string_view(call.self())) != nullptr; }},
    {"test", [](TemplateCall& call) { return find_template_test(to_string_view(call.self())) != nullptr; }},
    {"callable", holds<const TemplateFunction*>},
    {"lower", is_in_case<is_all_lower>},
    {"upper", is_in_case<is_all_upper>},
    {"even", is_even_or_odd<true>},
    {"odd", is_even_or_odd<false>},
    {"divisibleby", is_divisible},
    {"eq", is_equal},
    {"equalto", is_equal},
    {"==", is_equal},
    {"ne", is_unequal},
    {"!=", is_unequal},
    {"lt", is_less},
    {"lessthan", is_less},
    {"<", is_less},
    {"gt", is_greater},
    {"greaterthan", is_greater},
    {">", is_greater},
    {"le", is_at_most},
    {"<=", is_at_most},
    {"ge", is_at_least},
    {">=", is_at_least},
    {"in", is_in},
    {"sameas", is_same},
};

}  // namespace

TemplateTest find_template_test(std::string_view name) {
  const auto* found = std::ranges::find(kTests, name, &NamedTest::name);
  return found == std::end(kTests) ? nullptr : found->test;
}

}  // namespace tern
