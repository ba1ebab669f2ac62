#include "text/jinja/operations.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/jinja/format.h"
#include "text/jinja/functions.h"
#include "text/jinja/text.h"

namespace tern {
namespace {

TemplateValue at_index(const std::vector<TemplateValue>& items, int64_t index) {
  const auto n = static_cast<int64_t>(items.size());
  if (index < 0) index += n;
  if (index < 0 || index >= n) return Undefined{"an item beyond the end"};
  return items[static_cast<size_t>(index)];
}

TemplateValue loop_attribute(const TemplateLoop& loop, std::string_view name) {
  const auto n = static_cast<int64_t>(loop.items->size());
  const auto index = static_cast<int64_t>(loop.index);
  if (name == "index") return index + 1;
  if (name == "index0") return index;
  if (name == "revindex") return n - index;
  if (name == "revindex0") return n - index - 1;
  if (name == "first") return index == 0;
  if (name == "last") return index + 1 == n;
  if (name == "length") return n;
  if (name == "depth") return int64_t{1};  // only recursive loops are deeper
  if (name == "depth0") return int64_t{0};
  if (name == "previtem" && index > 0) return (*loop.items)[loop.index - 1];
  if (name == "nextitem" && index + 1 < n) return (*loop.items)[loop.index + 1];
  return Undefined{name};
}

TemplateValue character_at(std::string_view text, int64_t index, TemplateBudget& budget) {
  const auto n = static_cast<int64_t>(count_characters(text, budget));
  if (index < 0) index += n;
  if (index < 0 || index >= n) return Undefined{"a character beyond the end"};
  text.remove_prefix(character_offset(text, static_cast<size_t>(index)));
  return text.substr(0, character_bytes(text));
}

// A bound of a slice of `n` items, clipped as in Python.
int64_t bound(const TemplateValue& value, int64_t n, bool backwards, int64_t otherwise) {
  if (std::holds_alternative<None>(value)) return otherwise;
  int64_t at = to_integer(value);
  if (at < 0) at = at < -n ? -1 : at + n;
  return std::clamp<int64_t>(at, backwards ? -1 : 0, backwards ? n - 1 : n);
}

TemplateValue repeated(const TemplateValue& value, int64_t n, TemplateMemory& memory) {
  // Never exceeds the budget's bytes, so it fits in 32-bit sizes.
  size_t times = 0;
  const auto check = [&](size_t size) {
    if (n <= 0 || size == 0) return;
    constexpr size_t kMost = size_t{1} << 30;
    times = static_cast<size_t>(std::min<int64_t>(n, kMost));
    if (times > kMost / size) refuse_template("it makes too much out of the conversation");
    memory.budget().take(size * times);
  };
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    check(text->size());
    TemplateText out = memory.new_text();
    for (size_t i = 0; i < times && !text->empty(); ++i) out.append(*text);
    return memory.keep(std::move(out));
  }
  const auto& items = std::get<const TemplateList*>(value)->items;
  check(items.size() * sizeof(TemplateValue));
  std::vector<TemplateValue> out;
  if (!items.empty()) {
    out.reserve(items.size() * times);
    for (size_t i = 0; i < times; ++i) out.insert(out.end(), items.begin(), items.end());
  }
  return memory.list(std::move(out), std::get<const TemplateList*>(value)->is_tuple);
}

TemplateValue sum_of_texts(std::string_view a, std::string_view b, TemplateMemory& memory) {
  const bool is_safe = memory.is_safe(a) || memory.is_safe(b);
  TemplateText out = memory.new_text();
  for (const std::string_view text : {a, b}) {
    out.append(is_safe && !memory.is_safe(text) ? memory.escaped(text) : text);
  }
  const std::string_view sum = memory.keep(std::move(out));
  return is_safe ? memory.as_safe(sum) : sum;
}

TemplateValue integer_power(int64_t a, int64_t b) {
  const double power = std::pow(static_cast<double>(a), static_cast<double>(b));
  if (b < 0) return power;
  if (!(std::abs(power) < 9e15)) object("a number that is too large");  // exact limit of a double
  return static_cast<int64_t>(power);
}

TemplateValue on_integers(int64_t a, std::string_view op, int64_t b) {
  int64_t out = 0;
  const bool is_plain = op == "+" || op == "-" || op == "*";
  const bool overflows = (op == "+" && __builtin_add_overflow(a, b, &out)) ||
                         (op == "-" && __builtin_sub_overflow(a, b, &out)) ||
                         (op == "*" && __builtin_mul_overflow(a, b, &out));
  if (overflows) object("a number that is too large");
  if (is_plain) return out;
  if (op == "**") return integer_power(a, b);
  if (b == 0) object("a division by zero");
  if (op == "/") return static_cast<double>(a) / static_cast<double>(b);
  if (b == -1) return op == "%" ? TemplateValue(int64_t{0}) : on_integers(0, "-", a);  // division could overflow
  // Python rounds down, C++ toward zero.
  const bool rounds = a % b != 0 && (a < 0) != (b < 0);
  return op == "//" ? a / b - (rounds ? 1 : 0) : a % b + (rounds ? b : 0);
}

TemplateValue on_doubles(double a, std::string_view op, double b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "**") return std::pow(a, b);
  if (b == 0) object("a division by zero");
  if (op == "/") return a / b;
  const double whole = std::floor(a / b);
  return op == "//" ? whole : a - whole * b;
}

bool contains(const TemplateValue& all, const TemplateValue& value, TemplateBudget& budget) {
  if (const auto* text = std::get_if<std::string_view>(&all)) {
    return find_text(*text, to_string_view(value), budget) != text->npos;
  }
  if (const auto* dict = std::get_if<const TemplateDict*>(&all)) return find(**dict, value, budget) != nullptr;
  if (const auto* list = std::get_if<const TemplateList*>(&all)) {
    return std::ranges::any_of((*list)->items, [&](const TemplateValue& one) { return equal(one, value, budget); });
  }
  if (std::holds_alternative<Undefined>(all)) return false;
  object("a {} has no items", type_name(all));
}

bool is_int(const TemplateValue& value) {
  return std::holds_alternative<int64_t>(value) || std::holds_alternative<bool>(value);
}

bool is_sequence(const TemplateValue& value) {
  return std::holds_alternative<std::string_view>(value) || std::holds_alternative<const TemplateList*>(value);
}

[[noreturn]] void object_to_undefined(const TemplateValue& value) {
  object("{} is undefined", std::get<Undefined>(value).name);
}

}  // namespace

int64_t to_integer(const TemplateValue& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b ? 1 : 0;
  if (const auto* i = std::get_if<int64_t>(&value)) return *i;
  object("a whole number is needed, not {}", type_name(value));
}

std::string_view to_string_view(const TemplateValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return *text;
  object("a text is needed, not {}", type_name(value));
}

TemplateValue attribute(const TemplateValue& of, std::string_view name, TemplateMemory& memory) {
  if (std::holds_alternative<Undefined>(of)) object_to_undefined(of);
  const TemplateValue* found = nullptr;
  if (const auto* dict = std::get_if<const TemplateDict*>(&of)) {
    // As in Python, a method hides a member of its name.
    if (const TemplateNative method = find_dict_method(name))
      return memory.make(TemplateFunction{.native = method, .name = name, .is_method = true});
    found = find(**dict, name, memory.budget());
  }
  if (const auto* space = std::get_if<TemplateNamespace*>(&of)) found = find(**space, name, memory.budget());
  if (const auto* loop = std::get_if<TemplateLoop*>(&of)) return loop_attribute(**loop, name);
  if (const auto* list = std::get_if<const TemplateList*>(&of); list && (*list)->is_group) {
    if (name == "grouper" || name == "list") return (*list)->items[name == "list" ? 1 : 0];
  }
  return found == nullptr ? TemplateValue(Undefined{name}) : *found;
}

TemplateValue item(const TemplateValue& of, const TemplateValue& key, TemplateMemory& memory) {
  if (std::holds_alternative<Undefined>(of)) object_to_undefined(of);
  if (const auto* list = std::get_if<const TemplateList*>(&of); list && is_int(key)) {
    return at_index((*list)->items, to_integer(key));
  }
  if (const auto* text = std::get_if<std::string_view>(&of); text && is_int(key)) {
    return character_at(*text, to_integer(key), memory.budget());
  }
  if (const auto* dict = std::get_if<const TemplateDict*>(&of)) {
    const TemplateValue* found = find(**dict, key, memory.budget());
    const auto* name = std::get_if<std::string_view>(&key);
    return found != nullptr ? *found : TemplateValue(Undefined{name != nullptr ? *name : "an item"});
  }
  if (const auto* name = std::get_if<std::string_view>(&key)) return attribute(of, *name, memory);
  return Undefined{"an item"};
}

TemplateValue attribute_path(TemplateValue of, std::string_view path, TemplateMemory& memory) {
  for (const std::string_view name : split(path, ".", -1, memory.budget())) {
    int64_t index = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool is_index = error == std::errc() && end == name.data() + name.size();
    of = is_index ? item(of, index, memory) : item(of, name, memory);
  }
  return of;
}

TemplateValue slice(const TemplateValue& of, const TemplateSlice& bounds, TemplateMemory& memory) {
  if (std::holds_alternative<Undefined>(of)) object_to_undefined(of);
  if (!is_sequence(of)) object("a slice of a {}", type_name(of));
  const int64_t step = std::holds_alternative<None>(bounds.step) ? 1 : to_integer(bounds.step);
  if (step == 0) object("a slice with a step of zero");
  const auto n = static_cast<int64_t>(length(of, memory.budget()));
  const bool backwards = step < 0;
  const int64_t from = bound(bounds.from, n, backwards, backwards ? n - 1 : 0);
  const int64_t to = bound(bounds.to, n, backwards, backwards ? -1 : n);
  const auto* text = std::get_if<std::string_view>(&of);
  if (text != nullptr && step == 1) {
    if (from >= to) return std::string_view();
    const std::string_view rest = text->substr(character_offset(*text, static_cast<size_t>(from)));
    return rest.substr(0, character_offset(rest, static_cast<size_t>(to - from)));
  }
  const std::vector<TemplateValue> items = items_of(of, memory.budget());
  std::vector<TemplateValue> taken;
  for (int64_t i = from; backwards ? i > to : i < to; i += std::clamp(step, -n - 1, n + 1)) {
    taken.push_back(items[static_cast<size_t>(i)]);
  }
  if (text == nullptr) return memory.list(std::move(taken), std::get<const TemplateList*>(of)->is_tuple);
  TemplateText out = memory.new_text();
  for (const TemplateValue& character : taken) out.append(std::get<std::string_view>(character));
  return memory.keep(std::move(out));
}

size_t length(const TemplateValue& of, TemplateBudget& budget) {
  if (const auto* text = std::get_if<std::string_view>(&of)) return count_characters(*text, budget);
  if (const auto* list = std::get_if<const TemplateList*>(&of)) return (*list)->items.size();
  if (const auto* dict = std::get_if<const TemplateDict*>(&of)) return (*dict)->items.size();
  if (std::holds_alternative<Undefined>(of)) return 0;
  object("a {} has no length", type_name(of));
}

TemplateValue arithmetic(const TemplateValue& a, std::string_view op, const TemplateValue& b, TemplateMemory& memory) {
  memory.budget().step();
  if (std::holds_alternative<Undefined>(a)) object_to_undefined(a);
  if (std::holds_alternative<Undefined>(b)) object_to_undefined(b);
  if (is_int(a) && is_int(b)) return on_integers(to_integer(a), op, to_integer(b));
  if (is_number(a) && is_number(b)) return on_doubles(to_double(a), op, to_double(b));
  if (op == "%" && std::holds_alternative<std::string_view>(a)) {
    return memory.keep(format_percent(std::get<std::string_view>(a), b, memory));
  }
  if (op == "*" && is_sequence(a) && is_int(b)) return repeated(a, to_integer(b), memory);
  if (op == "*" && is_int(a) && is_sequence(b)) return repeated(b, to_integer(a), memory);
  if (op == "+" && a.index() == b.index() && is_sequence(a)) {
    if (std::holds_alternative<std::string_view>(a)) return sum_of_texts(to_string_view(a), to_string_view(b), memory);
    const bool is_tuple = std::get<const TemplateList*>(a)->is_tuple;
    if (is_tuple != std::get<const TemplateList*>(b)->is_tuple)
      object("no {} for {} and {}", op, type_name(a), type_name(b));
    std::vector<TemplateValue> items = items_of(a, memory.budget());
    const std::vector<TemplateValue> more = items_of(b, memory.budget());
    items.insert(items.end(), more.begin(), more.end());
    return memory.list(std::move(items), is_tuple);
  }
  object("no {} for {} and {}", op, type_name(a), type_name(b));
}

TemplateValue negative(const TemplateValue& value, TemplateMemory& memory) {
  if (const auto* real = std::get_if<double>(&value)) return -*real;  // 0.0 has a sign, too
  return arithmetic(int64_t{0}, "-", value, memory);
}

bool compare(const TemplateValue& a, std::string_view op, const TemplateValue& b, TemplateBudget& budget) {
  if (op == "==") return equal(a, b, budget);
  if (op == "!=") return !equal(a, b, budget);
  if (op == "in") return contains(b, a, budget);
  if (op == "not in") return !contains(b, a, budget);
  if (op == "<") return less(a, b, budget);
  if (op == ">") return less(b, a, budget);
  return op == "<=" ? !less(b, a, budget) : !less(a, b, budget);
}

}  // namespace tern
