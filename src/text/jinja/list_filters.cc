#include "text/jinja/list_filters.h"

#include <algorithm>
#include <string>
#include <utility>

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

// An attribute's value. A default, if there is one, is in the place of every undefined step to it.
TemplateValue value_at(TemplateCall& call, TemplateValue of, std::string_view path, const TemplateValue* otherwise) {
  const auto is_default = [&] {
    return otherwise != nullptr && !std::holds_alternative<None>(*otherwise) && std::holds_alternative<Undefined>(of);
  };
  for (const std::string_view part : split(path, ".", -1, call.budget())) {
    of = attribute_path(of, part, call.memory);
    if (is_default()) of = *otherwise;
  }
  return of;
}

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

// Lists of `n` items; what is missing in the last one is filled with a value, if one is given.
TemplateValue batch(TemplateCall& call) {
  const int64_t n = to_integer(call.need(1, "linecount"));
  const TemplateValue* fill = call.find(2, "fill_with");
  Items lists, one;
  for (const TemplateValue& value : self_items(call)) {
    if (static_cast<int64_t>(one.size()) == n) lists.push_back(call.memory.list(std::exchange(one, {})));
    one.push_back(value);
  }
  if (one.empty()) return call.memory.list(std::move(lists));
  if (fill != nullptr && !std::holds_alternative<None>(*fill)) {
    for (auto i = static_cast<int64_t>(one.size()); i < n; ++i) {
      call.budget().take(sizeof(TemplateValue));
      one.push_back(*fill);
    }
  }
  lists.push_back(call.memory.list(std::move(one)));
  return call.memory.list(std::move(lists));
}

// `n` lists; the first ones have one item more, if there is a rest, and a value fills the others, if one is given.
TemplateValue slice_list(TemplateCall& call) {
  const int64_t n = to_integer(call.need(1, "slices"));
  const TemplateValue* fill = call.find(2, "fill_with");
  const Items items = self_items(call);
  if (n == 0) object("a division by zero");
  if (n < 0) return call.memory.list({});
  const auto n_items = static_cast<int64_t>(items.size());
  Items lists;
  for (int64_t i = 0, at = 0; i < n; ++i) {
    const int64_t count = n_items / n + (i < n_items % n ? 1 : 0);
    Items one(items.begin() + at, items.begin() + at + count);
    at += count;
    if (i >= n_items % n && fill != nullptr && !std::holds_alternative<None>(*fill)) one.push_back(*fill);
    lists.push_back(call.memory.list(std::move(one)));
  }
  return call.memory.list(std::move(lists));
}

// Pairs of an attribute's value and the items that have it, in the order of the values.
TemplateValue group(TemplateCall& call) {
  const TemplateValue& attribute = call.need(1, "attribute");
  const std::string path = to_text(attribute, call.budget());
  const TemplateValue* otherwise = call.find(2, "default");
  const bool keeps_case = call.flag(3, "case_sensitive", false);
  const auto value_of = [&](const TemplateValue& item) { return value_at(call, item, path, otherwise); };
  std::vector<Keyed> keyed;
  for (const TemplateValue& item : self_items(call)) {
    keyed.emplace_back(sort_key(call, value_of(item), "", keeps_case), item);
  }
  Items groups, one;
  TemplateValue key;
  const auto end_group = [&] {
    if (one.empty()) return;
    const TemplateValue grouper = value_of(one.front());
    groups.push_back(call.memory.group(grouper, call.memory.list(std::exchange(one, {}))));
  };
  for (const TemplateValue& item : sorted(call, std::move(keyed), false)) {
    const TemplateValue own = sort_key(call, value_of(item), "", keeps_case);
    if (!one.empty() && !equal(own, key, call.budget())) end_group();
    key = own;
    one.push_back(item);
  }
  end_group();
  return call.memory.list(std::move(groups));
}

// An attribute of an object, but not a dict's item.
TemplateValue attribute_of(TemplateCall& call) {
  const std::string_view name = to_string_view(call.need(1, "name"));
  if (std::holds_alternative<const TemplateDict*>(call.self())) return Undefined{name};
  return attribute(call.self(), name, call.memory);
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
      value = value_at(call, value, path, otherwise);
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
    {"attr", attribute_of},
    {"batch", batch},
    {"count", length_of},
    {"dictsort", sort_dict},
    {"first", [](TemplateCall& call) { return first_or_last(call, true); }},
    {"groupby", group},
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
    {"slice", slice_list},
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
