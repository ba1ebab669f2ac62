#include "text/template_scope.h"

#include <cstdlib>

namespace tern {
namespace {

constexpr std::intptr_t kMaxStack = 1 << 20;  // bytes; macros may call themselves
constexpr size_t kMaxSteps = 200'000;         // about a second; a conversation needs about 20 a message
constexpr size_t kMaxDepth = 64;              // of values in values
constexpr size_t kNode = 16;                  // bytes that every value counts for

constexpr std::string_view kTooLarge = "it produces too much text from the conversation";

// Not the address of a local variable: sanitizers put those elsewhere.
std::intptr_t stack_position() { return reinterpret_cast<std::intptr_t>(__builtin_frame_address(0)); }

// The numbers among the arguments of a call, by position or name.
template <class Function>
void for_each_argument(minja::ArgumentsValue& args, const Function& function) {
  for (auto& value : args.args) function(value);
  for (auto& [name, value] : args.kwargs) function(value);
}

// How many numbers range() would make.
void check_range(minja::ArgumentsValue& args, const TemplateBudget& budget) {
  double largest = 0;
  for_each_argument(args, [&](const minja::Value& value) {
    if (value.is_number()) largest = std::max(largest, std::abs(value.get<double>()));
  });
  budget.check_size(largest < 1e9 ? static_cast<size_t>(largest) * 2 * kNode : SIZE_MAX);
}

// join() puts the separator between all items.
void check_join(minja::ArgumentsValue& args, const TemplateBudget& budget) {
  size_t n_items = 1;
  size_t n_bytes = kNode;
  for_each_argument(args, [&](const minja::Value& value) {
    if (value.is_array()) n_items += value.size();
    if (value.is_string()) n_bytes += value.size();
  });
  if (args.args.empty() || !args.args[0].is_array()) throw std::runtime_error("join() of something that is not a list");
  budget.check_size(n_items * n_bytes);
}

// The width of indent() and tojson().
void check_width(minja::ArgumentsValue& args, const TemplateBudget&) {
  for_each_argument(args, [](const minja::Value& value) {
    if (value.is_number() && std::abs(value.get<double>()) > kMaxDepth) throw TemplateStopped{kTooLarge};
  });
}

}  // namespace

TemplateBudget::TemplateBudget(size_t n_input, size_t n_template)
    : base_(stack_position()),
      n_template_(n_template),
      max_value_((256 << 10) + 8 * n_input),
      max_bytes_((32 << 20) + 64 * n_input) {}

void TemplateBudget::count_step() {
  if (++n_steps_ > kMaxSteps) throw TemplateStopped{"it runs for too long"};
}

void TemplateBudget::check_stack() const {
  if (std::abs(stack_position() - base_) > kMaxStack) throw TemplateStopped{"it calls itself too often"};
}

void TemplateBudget::count_value(const minja::Value& value) {
  count_step();
  n_bytes_ += n_template_ + measure(value, 0, 0);
  check_size(0);
  if (n_bytes_ > max_bytes_) throw TemplateStopped{kTooLarge};
}

void TemplateBudget::check_value(const minja::Value& value) const { measure(value, 0, 0); }

void TemplateBudget::check_size(size_t bytes) const {
  if (bytes > max_value_) throw TemplateStopped{kTooLarge};
}

// `so_far` with the bytes of `value` added, as far as it is allowed to be.
size_t TemplateBudget::measure(const minja::Value& value, size_t depth, size_t so_far) const {
  if (depth > kMaxDepth) throw TemplateStopped{"its values are nested too deep"};
  so_far += kNode;
  if (value.is_string()) so_far += value.size();
  check_size(so_far);
  if (value.is_callable()) return so_far;
  if (value.is_array()) {
    value.for_each([&](minja::Value& item) { so_far = measure(item, depth + 1, so_far); });
  } else if (value.is_object()) {
    value.for_each([&](minja::Value& key) {
      so_far = measure(key, depth + 1, so_far);
      so_far = measure(const_cast<minja::Value&>(value).at(key), depth + 1, so_far);
    });
  }
  return so_far;
}

bool TemplateScope::contains(const minja::Value& key) {
  budget_->check_stack();
  if (outermost_) budget_->count_step();
  return Context::contains(key);
}

// Namespaces change without a scope being told, so they are looked at when they are used.
minja::Value& TemplateScope::at(const minja::Value& key) {
  minja::Value& value = Context::at(key);
  if (values_.contains(key) && value.is_object()) budget_->check_value(value);
  return value;
}

minja::Value TemplateScope::get(const minja::Value& key) {
  if (outermost_) budget_->count_step();
  return Context::get(key);
}

void TemplateScope::set(const minja::Value& key, const minja::Value& value) {
  budget_->check_stack();
  budget_->count_value(value);
  Context::set(key, value);
}

std::shared_ptr<TemplateScope> make_outermost_scope(minja::Value&& values, std::shared_ptr<TemplateBudget> budget) {
  const auto builtins = minja::Context::builtins();
  const auto guard = [&](const char* name, void (*check)(minja::ArgumentsValue&, const TemplateBudget&)) {
    const minja::Value original = builtins->get(name);
    values.set(name,
               minja::Value::callable([=](const std::shared_ptr<minja::Context>& context, minja::ArgumentsValue& args) {
                 check(args, *budget);
                 minja::Value result = original.call(context, args);
                 budget->check_value(result);
                 return result;
               }));
  };
  guard("range", check_range);
  guard("join", check_join);
  guard("indent", check_width);
  guard("tojson", check_width);
  return std::make_shared<TemplateScope>(std::move(values), builtins, std::move(budget), true);
}

}  // namespace tern

namespace minja {

// What Context::make() of the bounded header calls.
std::shared_ptr<Context> make_scope(Value&& values, const std::shared_ptr<Context>& parent) {
  if (const auto* scope = dynamic_cast<tern::TemplateScope*>(parent.get())) {
    return std::make_shared<tern::TemplateScope>(std::move(values), parent, scope->budget(), false);
  }
  return std::make_shared<Context>(std::move(values), parent);
}

}  // namespace minja
