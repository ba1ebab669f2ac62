#include "text/jinja/list_filters.h"

#include <algorithm>

#include "text/jinja/text.h"

namespace tern {
namespace {

using Items = std::vector<TemplateValue>;

Items self_items(TemplateCall& call) { return items_of(call.self(), call.budget()); }

TemplateValue length_of(TemplateCall& call) { return static_cast<int64_t>(length(call.self(), call.budget())); }

TemplateValue first_or_last(TemplateCall& call, bool is_first) {
  const Items items = self_items(call);
  if (items.empty()) return Undefined{"an item of nothing"};
  return is_first ? items.front() : items.back();
}

TemplateValue reverse(TemplateCall& call) {
  const TemplateValue backwards = int64_t{-1};
  if (std::holds_alternative<std::string_view>(call.self())) {
    return slice(call.self(), {.step = backwards}, call.memory);
  }
  Items items = self_items(call);
  std::ranges::reverse(items);
  return call.memory.list(std::move(items));
}

TemplateValue pairs_of(TemplateCall& call) {
  if (std::holds_alternative<Undefined>(call.self())) return call.memory.list({});
  const auto* dict = std::get_if<const TemplateDict*>(&call.self());
  if (dict == nullptr) object("items() of a {}", type_name(call.self()));
  Items pairs;
  for (const auto& [key, value] : (*dict)->items) pairs.push_back(call.memory.list({key, value}, true));
  return call.memory.list(std::move(pairs));
}

// The sort key of a value: its attribute, if one is named, in lower case if case does not matter.
TemplateValue sort_key(TemplateCall& call, const TemplateValue& value, std::string_view path, bool keeps_case) {
  TemplateValue key = path.empty() ? value : attribute_path(value, path, call.memory);
  const auto* text = std::get_if<std::string_view>(&key);
  return text == nullptr || keeps_case ? key : call.keep(lower(*text, call.budget()));
}

using Keyed = std::pair<TemplateValue, TemplateValue>;  // sort key and value

// Sorts like Python, which keeps the order of equal values, also in reverse.
Items sorted(TemplateCall& call, std::vector<Keyed>&& keyed, bool reversed) {
  call.budget().take(2 * keyed.size() * sizeof(Keyed));
  std::ranges::stable_sort(keyed, [&](const Keyed& a, const Keyed& b) {
    return reversed ? less(b.first, a.first, call.budget()) : less(a.first, b.first, call.budget());
  });
  Items items;
  for (const Keyed& one : keyed) items.push_back(one.second);
  return items;
}

// Jinja's select, reject and map take none for nothing.
Items items_or_none(TemplateCall& call) {
  return std::holds_alternative<None>(call.self()) ? Items() : self_items(call);
}

std::string_view named_text(const TemplateCall& call, std::string_view name) { return call.text(SIZE_MAX, name, ""); }

TemplateValue sort(TemplateCall& call) {
  const std::string_view path = call.text(3, "attribute", "");
  const bool keeps_case = call.flag(2, "case_sensitive", false);
  std::vector<Keyed> keyed;
  for (const TemplateValue& value : self_items(call)) {
    keyed.emplace_back(sort_key(call, value, path, keeps_case), value);
  }
  return call.memory.list(sorted(call, std::move(keyed), call.flag(1, "reverse", false)));
}

TemplateValue sort_dict(TemplateCall& call) {
  const auto* dict = std::get_if<const TemplateDict*>(&call.self());
  if (dict == nullptr) object("dictsort() of a {}", type_name(call.self()));
  const bool keeps_case = call.flag(1, "case_sensitive", false);
  const bool by_value = call.text(2, "by", "key") == "value";
  std::vector<Keyed> keyed;
  for (const auto& [key, value] : (*dict)->items) {
    keyed.emplace_back(sort_key(call, by_value ? value : key, "", keeps_case), call.memory.list({key, value}, true));
  }
  return call.memory.list(sorted(call, std::move(keyed), call.flag(3, "reverse", false)));
}

TemplateValue unique(TemplateCall& call) {
  const std::string_view path = call.text(2, "attribute", "");
  const bool keeps_case = call.flag(1, "case_sensitive", false);
  Items seen;
  Items kept;
  for (const TemplateValue& value : self_items(call)) {
    const TemplateValue key = sort_key(call, value, path, keeps_case);
    if (std::ranges::any_of(seen, [&](const TemplateValue& other) { return equal(key, other, call.budget()); }))
      continue;
    seen.push_back(key);
    kept.push_back(value);
  }
  return call.memory.list(std::move(kept));
}

TemplateValue least_or_most(TemplateCall& call, bool is_least) {
  const std::string_view path = call.text(2, "attribute", "");
  const bool keeps_case = call.flag(1, "case_sensitive", false);
  TemplateValue best = Undefined{"an item of nothing"};
  TemplateValue best_key;
  for (const TemplateValue& value : self_items(call)) {
    const TemplateValue key = sort_key(call, value, path, keeps_case);
    const bool is_first = std::holds_alternative<Undefined>(best);
    if (is_first || (is_least ? less(key, best_key, call.budget()) : less(best_key, key, call.budget()))) {
      best = value;
      best_key = key;
    }
  }
  return best;
}

TemplateValue sum(TemplateCall& call) {
  const std::string_view path = call.text(1, "attribute", "");
  const TemplateValue* start = call.find(2, "start");
  TemplateValue total = start == nullptr ? TemplateValue(int64_t{0}) : *start;
  for (const TemplateValue& value : self_items(call)) {
    total = arithmetic(total, "+", path.empty() ? value : attribute_path(value, path, call.memory), call.memory);
  }
  return total;
}

TemplateValue join(TemplateCall& call) {
  const std::string_view path = call.text(2, "attribute", "");
  const std::string_view separator = call.text(1, "d", "");
  if (path.empty()) return join_texts(call, call.self(), separator);
  Items items = self_items(call);
  for (TemplateValue& value : items) value = attribute_path(value, path, call.memory);
  return join_texts(call, call.memory.list(std::move(items)), separator);
}

// map(attribute='name'), with a default; or map('filter', its arguments).
TemplateValue map_items(TemplateCall& call) {
  Items items = items_or_none(call);
  const std::string_view path = named_text(call, "attribute");
  const TemplateValue* otherwise = call.find(SIZE_MAX, "default");
  TemplateCall inner{.memory = call.memory, .name = path.empty() ? to_string_view(call.need(1, "filter")) : call.name};
  for (TemplateValue& value : items) {
    if (!path.empty()) {
      value = attribute_path(value, path, call.memory);
      if (otherwise != nullptr && std::holds_alternative<Undefined>(value)) value = *otherwise;
      continue;
    }
    inner.args.assign(call.args.begin() + 1, call.args.end());
    inner.args[0] = value;
    inner.named = call.named;
    value = call_template_filter(inner);
  }
  return call.memory.list(std::move(items));
}

// select(test, its arguments) and reject; selectattr and rejectattr test an attribute. The default test is truth.
template <bool kKeeps, bool kOfAttribute>
TemplateValue choose(TemplateCall& call) {
  constexpr size_t kTest = kOfAttribute ? 2 : 1;
  const std::string_view path = kOfAttribute ? to_string_view(call.need(1, "attribute")) : std::string_view();
  const TemplateValue* test = call.find(kTest, "test");
  TemplateCall inner{.memory = call.memory, .name = test == nullptr ? call.name : to_string_view(*test)};
  Items kept;
  for (const TemplateValue& value : items_or_none(call)) {
    const TemplateValue looked_at = kOfAttribute ? attribute_path(value, path, call.memory) : value;
    bool holds = is_true(looked_at);
    if (test != nullptr) {
      inner.args.assign(call.args.begin() + kTest, call.args.end());
      inner.args[0] = looked_at;
      holds = call_template_test(inner);
    }
    if (holds == kKeeps) kept.push_back(value);
  }
  return call.memory.list(std::move(kept));
}

struct NamedListFilter {
  std::string_view name;
  TemplateNative filter;
};

constexpr NamedListFilter kListFilters[] = {
    {"count", length_of},
    {"dictsort", sort_dict},
    {"first", [](TemplateCall& call) { return first_or_last(call, true); }},
    {"items", pairs_of},
    {"join", join},
    {"last", [](TemplateCall& call) { return first_or_last(call, false); }},
    {"length", length_of},
    {"list", [](TemplateCall& call) { return call.memory.list(self_items(call)); }},
    {"map", map_items},
    {"max", [](TemplateCall& call) { return least_or_most(call, false); }},
    {"min", [](TemplateCall& call) { return least_or_most(call, true); }},
    {"reject", choose<false, false>},
    {"rejectattr", choose<false, true>},
    {"reverse", reverse},
    {"select", choose<true, false>},
    {"selectattr", choose<true, true>},
    {"sort", sort},
    {"sum", sum},
    {"unique", unique},
};

}  // namespace

TemplateValue join_texts(TemplateCall& call, const TemplateValue& items, std::string_view separator) {
  TemplateText out = call.memory.new_text();
  bool is_first = true;
  for (const TemplateValue& value : items_of(items, call.budget())) {
    if (!is_first) out.append(separator);
    is_first = false;
    append_text(value, out);
  }
  return call.keep(std::move(out));
}

TemplateNative find_template_list_filter(std::string_view name) {
  const auto* found = std::ranges::find(kListFilters, name, &NamedListFilter::name);
  return found == std::end(kListFilters) ? nullptr : found->filter;
}

}  // namespace tern
