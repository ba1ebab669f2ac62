#include "text/jinja/value.h"

#include <algorithm>
#include <cmath>

#include "text/jinja/text.h"

namespace tern {
namespace {

constexpr int kMostListDepth = 64;  // nested in each other

int depth_of(const TemplateValue& value) {
  if (const auto* list = std::get_if<const TemplateList*>(&value)) return (*list)->depth;
  if (const auto* dict = std::get_if<const TemplateDict*>(&value)) return (*dict)->depth;
  return 0;
}

void deepen(int& depth, const TemplateValue& child) {
  depth = std::max(depth, depth_of(child) + 1);
  if (depth > kMostListDepth) refuse_template("its values are nested more than {} deep", kMostListDepth);
}

template <class T>
const T* as(const TemplateValue& value) {
  return std::get_if<T>(&value);
}

bool equal_lists(const TemplateList& a, const TemplateList& b, TemplateBudget& budget) {
  if (a.items.size() != b.items.size() || a.is_tuple != b.is_tuple) return false;
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!equal(a.items[i], b.items[i], budget)) return false;
  }
  return true;
}

bool equal_dicts(const TemplateDict& a, const TemplateDict& b, TemplateBudget& budget) {
  if (a.items.size() != b.items.size()) return false;
  for (const auto& [key, value] : a.items) {
    const TemplateValue* other = find(b, key, budget);
    if (other == nullptr || !equal(value, *other, budget)) return false;
  }
  return true;
}

bool less_lists(const TemplateList& a, const TemplateList& b, TemplateBudget& budget) {
  const size_t n = std::min(a.items.size(), b.items.size());
  for (size_t i = 0; i < n; ++i) {
    if (!equal(a.items[i], b.items[i], budget)) return less(a.items[i], b.items[i], budget);
  }
  return a.items.size() < b.items.size();
}

}  // namespace

std::string_view TemplateMemory::keep(std::string&& text) {
  budget_.take(text.size() + kOverhead);
  texts_.push_back(std::move(text));
  return texts_.back();
}

std::string_view TemplateMemory::keep_own(std::string&& text) {
  const std::string_view kept = keep(std::move(text));
  own(kept);
  return kept;
}

std::string_view TemplateMemory::keep(TemplateText&& text) {
  const std::vector<TextRange> own_parts = text.own();
  const std::string_view kept = keep(std::move(text).take());
  budget_.take(own_parts.size() * kOverhead);
  for (const TextRange& part : own_parts) own(kept.substr(part.begin, part.end - part.begin));
  return kept;
}

std::string_view TemplateMemory::as_safe(std::string_view text) {
  if (is_safe(text)) return text;
  TemplateText copy = new_text();  // at a place of its own
  copy.append(text);
  const std::string_view kept = keep(std::move(copy));
  safe_[kept.data()] = kept.size();
  return kept;
}

bool TemplateMemory::is_safe(std::string_view text) const {
  const auto found = safe_.find(text.data());
  return found != safe_.end() && found->second == text.size();
}

std::string_view TemplateMemory::escaped(std::string_view text) {
  std::string out = escape_markup(text, budget_);
  return is_own(text) ? keep_own(std::move(out)) : keep(std::move(out));
}

TemplateValue TemplateMemory::group(const TemplateValue& grouper, const TemplateValue& list) {
  const TemplateValue made = this->list({grouper, list}, true);
  lists_.back().is_group = true;
  return made;
}

TemplateValue TemplateMemory::list(std::vector<TemplateValue>&& items, bool is_tuple) {
  budget_.take(2 * items.size() * sizeof(TemplateValue) + kOverhead);
  TemplateList made{.items = std::move(items), .is_tuple = is_tuple};
  for (const TemplateValue& item : made.items) deepen(made.depth, item);
  lists_.push_back(std::move(made));
  return &lists_.back();
}

TemplateValue TemplateMemory::dict(std::vector<std::pair<TemplateValue, TemplateValue>>&& items) {
  budget_.take(4 * items.size() * sizeof(TemplateValue) + kOverhead);
  TemplateDict made;
  for (auto& [key, value] : items) {
    if (as<const TemplateList*>(key) || as<const TemplateDict*>(key)) object("a {} as a key", type_name(key));
    deepen(made.depth, value);
    if (const TemplateValue* same = find(made, key, budget_)) {
      *const_cast<TemplateValue*>(same) = value;
    } else {
      made.items.emplace_back(key, value);
    }
  }
  dicts_.push_back(std::move(made));
  return &dicts_.back();
}

bool is_number(const TemplateValue& value) { return as<bool>(value) || as<int64_t>(value) || as<double>(value); }

double to_double(const TemplateValue& value) {
  if (const auto* b = as<bool>(value)) return *b ? 1 : 0;
  if (const auto* i = as<int64_t>(value)) return static_cast<double>(*i);
  if (const auto* d = as<double>(value)) return *d;
  object("a number is needed, not {}", type_name(value));
}

bool is_true(const TemplateValue& value) {
  if (is_number(value)) return to_double(value) != 0;
  if (const auto* text = as<std::string_view>(value)) return !text->empty();
  if (const auto* list = as<const TemplateList*>(value)) return !(*list)->items.empty();
  if (const auto* dict = as<const TemplateDict*>(value)) return !(*dict)->items.empty();
  return !as<Undefined>(value) && !as<None>(value);
}

std::string_view type_name(const TemplateValue& value) {
  if (const auto* list = as<const TemplateList*>(value)) return (*list)->is_tuple ? "tuple" : "list";
  constexpr std::string_view kNames[] = {"undefined", "none", "bool",      "int",  "float",   "str",
                                         "list",      "dict", "namespace", "loop", "function"};
  static_assert(std::size(kNames) == std::variant_size_v<TemplateValue>);
  return kNames[value.index()];
}

bool equal(const TemplateValue& a, const TemplateValue& b, TemplateBudget& budget) {
  budget.step();
  if (as<int64_t>(a) && as<int64_t>(b)) return *as<int64_t>(a) == *as<int64_t>(b);
  if (is_number(a) && is_number(b)) return to_double(a) == to_double(b);
  if (a.index() != b.index()) return false;
  if (const auto* text = as<std::string_view>(a)) {
    budget.work(text->size());
    return *text == *as<std::string_view>(b);
  }
  if (const auto* list = as<const TemplateList*>(a)) return equal_lists(**list, **as<const TemplateList*>(b), budget);
  if (const auto* dict = as<const TemplateDict*>(a)) return equal_dicts(**dict, **as<const TemplateDict*>(b), budget);
  if (const auto* space = as<TemplateNamespace*>(a)) return *space == *as<TemplateNamespace*>(b);
  if (const auto* function = as<const TemplateFunction*>(a)) return *function == *as<const TemplateFunction*>(b);
  return true;  // both None, or both undefined
}

bool less(const TemplateValue& a, const TemplateValue& b, TemplateBudget& budget) {
  budget.step();
  if (as<int64_t>(a) && as<int64_t>(b)) return *as<int64_t>(a) < *as<int64_t>(b);
  if (is_number(a) && is_number(b)) return to_double(a) < to_double(b);
  if (as<std::string_view>(a) && as<std::string_view>(b)) {
    budget.work(as<std::string_view>(a)->size());
    return *as<std::string_view>(a) < *as<std::string_view>(b);  // UTF-8 sorts like its characters
  }
  if (as<const TemplateList*>(a) && as<const TemplateList*>(b)) {
    return less_lists(**as<const TemplateList*>(a), **as<const TemplateList*>(b), budget);
  }
  object("{} and {} have no order", type_name(a), type_name(b));
}

const TemplateValue* find(const TemplateDict& dict, const TemplateValue& key, TemplateBudget& budget) {
  for (const auto& [known, value] : dict.items) {
    if (equal(known, key, budget)) return &value;
  }
  return nullptr;
}

const TemplateValue* find(const TemplateNamespace& of, std::string_view name, TemplateBudget& budget) {
  budget.work(8 * of.items.size());
  for (const auto& [known, value] : of.items) {
    if (known == name) return &value;
  }
  return nullptr;
}

std::vector<TemplateValue> items_of(const TemplateValue& value, TemplateBudget& budget) {
  std::vector<TemplateValue> items;
  if (const auto* list = as<const TemplateList*>(value)) {
    budget.take((*list)->items.size() * sizeof(TemplateValue));
    items = (*list)->items;
  } else if (const auto* dict = as<const TemplateDict*>(value)) {
    budget.take(2 * (*dict)->items.size() * sizeof(TemplateValue));
    for (const auto& item : (*dict)->items) items.push_back(item.first);
  } else if (const auto* text = as<std::string_view>(value)) {
    budget.take(2 * text->size() * sizeof(TemplateValue));
    for (size_t at = 0; at < text->size();) {
      const size_t n = character_bytes(text->substr(at));
      items.emplace_back(text->substr(at, n));
      at += n;
    }
  } else if (!as<Undefined>(value)) {
    object("a {} has no items", type_name(value));
  }
  return items;
}

}  // namespace tern
