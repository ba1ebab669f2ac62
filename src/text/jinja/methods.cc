// Methods such as "x.strip()", and global functions.
#include <algorithm>
#include <ctime>

#include "base/platform/process.h"
#include "text/jinja/format.h"
#include "text/jinja/functions.h"
#include "text/jinja/layout_filters.h"
#include "text/jinja/list_filters.h"
#include "text/jinja/text.h"
#include "text/unicode/unicode.h"

namespace tern {
namespace {

std::string_view self_view(TemplateCall& call) { return std::get<std::string_view>(call.self()); }

template <bool kLeft, bool kRight>
TemplateValue strip(TemplateCall& call) {
  std::string_view text = self_view(call);
  const TemplateValue* set = call.find(1, "chars");
  const bool of_spaces = set == nullptr || std::holds_alternative<None>(*set);
  call.budget().work(text.size());
  if (kRight) text = of_spaces ? strip_right(text) : strip_right(text, to_string_view(*set), call.budget());
  if (kLeft) text = of_spaces ? strip_left(text) : strip_left(text, to_string_view(*set), call.budget());
  return text;
}

bool has_prefix(std::string_view text, std::string_view prefix) { return text.starts_with(prefix); }
bool has_suffix(std::string_view text, std::string_view suffix) { return text.ends_with(suffix); }

TemplateValue without_prefix(TemplateCall& call) {
  const std::string_view prefix = to_string_view(call.need(1, "prefix"));
  return self_view(call).starts_with(prefix) ? self_view(call).substr(prefix.size()) : self_view(call);
}

TemplateValue without_suffix(TemplateCall& call) {
  const std::string_view suffix = to_string_view(call.need(1, "suffix"));
  const std::string_view text = self_view(call);
  return text.ends_with(suffix) ? text.substr(0, text.size() - suffix.size()) : text;
}

TemplateValue list_of(TemplateCall& call, const std::vector<std::string_view>& parts) {
  return call.memory.list(std::vector<TemplateValue>(parts.begin(), parts.end()));
}

TemplateValue split_self(TemplateCall& call) {
  const TemplateValue* given = call.find(1, "sep");
  const bool at_spaces = given == nullptr || std::holds_alternative<None>(*given);
  if (!at_spaces && to_string_view(*given).empty()) object("split() at nothing");
  return list_of(call, split(self_view(call), at_spaces ? "" : to_string_view(*given), call.integer(2, "maxsplit", -1),
                             call.budget()));
}

// With a limit, the rightmost separators count.
TemplateValue split_from_right(TemplateCall& call) {
  const TemplateValue* given = call.find(1, "sep");
  const bool at_spaces = given == nullptr || std::holds_alternative<None>(*given);
  const int64_t n_most = call.integer(2, "maxsplit", -1);
  if (at_spaces && n_most >= 0) refuse_template("rsplit() at white space with a limit");
  const std::string_view separator = at_spaces ? "" : to_string_view(*given);
  if (!at_spaces && separator.empty()) object("rsplit() at nothing");
  std::vector<std::string_view> parts = split(self_view(call), separator, -1, call.budget());
  if (n_most >= 0 && parts.size() > static_cast<size_t>(n_most) + 1) {
    const auto n_joined = parts.size() - static_cast<size_t>(n_most);
    const std::string_view last = parts[n_joined - 1];
    parts[n_joined - 1] = {self_view(call).data(), last.data() + last.size()};
    parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(n_joined) - 1);
  }
  return list_of(call, parts);
}

// The part of the text that arguments `i` (start) and `i` + 1 (end) choose, in characters.
std::string_view bounded_self(TemplateCall& call, size_t i) {
  if (call.args.size() <= i) return self_view(call);
  const TemplateValue end = call.args.size() > i + 1 ? call.args[i + 1] : TemplateValue(None{});
  return std::get<std::string_view>(slice(call.self(), {.from = call.args[i], .to = end}, call.memory));
}

// Takes one text or several, of which any may match.
template <bool (*kHas)(std::string_view, std::string_view)>
TemplateValue has_end(TemplateCall& call) {
  const TemplateValue& ends = call.need(1, "prefix");
  const std::string_view text = bounded_self(call, 2);
  call.budget().work(text.size());
  if (std::holds_alternative<std::string_view>(ends)) return kHas(text, to_string_view(ends));
  for (const TemplateValue& end : items_of(ends, call.budget())) {
    if (kHas(text, to_string_view(end))) return true;
  }
  return false;
}

// -1: not found.
template <bool kFromRight>
int64_t place_of(TemplateCall& call) {
  const std::string_view text = bounded_self(call, 2), sub = to_string_view(call.need(1, "sub"));
  call.budget().work(text.size());
  const size_t at = kFromRight ? text.rfind(sub) : find_text(text, sub, call.budget());
  if (at == text.npos) return -1;
  const auto from = static_cast<size_t>(text.data() - self_view(call).data());
  return static_cast<int64_t>(count_characters(self_view(call).substr(0, from + at), call.budget()));
}

template <bool kFromRight, bool kMustBe>
TemplateValue find_self(TemplateCall& call) {
  const int64_t at = place_of<kFromRight>(call);
  if (kMustBe && at < 0) object("{}() of something that is not in the text", call.name);
  return at;
}

// (before, the separator, behind), or the text and nothing if the separator is not in it.
template <bool kFromRight>
TemplateValue partition(TemplateCall& call) {
  const std::string_view text = self_view(call), separator = to_string_view(call.need(1, "sep"));
  if (separator.empty()) object("{}() at nothing", call.name);
  call.budget().work(text.size());
  const size_t at = kFromRight ? text.rfind(separator) : find_text(text, separator, call.budget());
  const std::string_view none;
  if (at == text.npos) {
    std::vector<TemplateValue> parts(3, none);
    parts[kFromRight ? 2 : 0] = text;
    return call.memory.list(std::move(parts), true);
  }
  return call.memory.list({text.substr(0, at), text.substr(at, separator.size()), text.substr(at + separator.size())},
                          true);
}

TemplateValue format_self(TemplateCall& call) {
  return call.keep(format_fields(self_view(call), std::span(call.args).subspan(1), call.named, call.memory));
}

TemplateValue count_in_text(TemplateCall& call) {
  const std::string_view what = to_string_view(call.need(1, "sub"));
  if (what.empty()) return static_cast<int64_t>(count_characters(self_view(call), call.budget())) + 1;
  return static_cast<int64_t>(split(self_view(call), what, -1, call.budget()).size()) - 1;
}

TemplateValue replace_in_text(TemplateCall& call) {
  TemplateText out = call.memory.new_text();
  replace(self_view(call), to_string_view(call.need(1, "old")), to_string_view(call.need(2, "new")),
          call.integer(3, "count", -1), out);
  return call.keep(std::move(out));
}

template <std::string (*kMap)(std::string_view, TemplateBudget&)>
TemplateValue map_self(TemplateCall& call) {
  return call.keep_like(self_view(call), kMap(self_view(call), call.budget()));
}

template <bool (*kIs)(char32_t)>
TemplateValue all_are(TemplateCall& call) {
  return all_of(self_view(call), kIs, call.budget());
}

bool is_decimal(char32_t c) { return c >= '0' && c <= '9'; }  // other digits are not known here
bool is_alphanumeric(char32_t c) { return is_decimal(c) || is_letter(c); }
bool is_ascii(char32_t c) { return c < 0x80; }

TemplateValue test_self(TemplateCall& call) {
  TemplateCall inner{.memory = call.memory, .name = call.name.substr(2), .args = {call.self()}};
  return call_template_test(inner);
}

TemplateValue filter_self(TemplateCall& call) { return call_template_filter(call); }

const TemplateDict& self_dict(TemplateCall& call) { return *std::get<const TemplateDict*>(call.self()); }

TemplateValue get(TemplateCall& call) {
  const TemplateValue* found = find(self_dict(call), call.need(1, "key"), call.budget());
  if (found != nullptr) return *found;
  const TemplateValue* otherwise = call.find(2, "default");
  return otherwise == nullptr ? TemplateValue(None{}) : *otherwise;
}

TemplateValue keys(TemplateCall& call) { return call.memory.list(items_of(call.self(), call.budget())); }

TemplateValue values(TemplateCall& call) {
  std::vector<TemplateValue> found;
  for (const auto& item : self_dict(call).items) found.push_back(item.second);
  return call.memory.list(std::move(found));
}

TemplateValue count_in_list(TemplateCall& call) {
  const auto& items = std::get<const TemplateList*>(call.self())->items;
  return static_cast<int64_t>(std::ranges::count_if(
      items, [&](const TemplateValue& item) { return equal(item, call.need(1, "value"), call.budget()); }));
}

TemplateValue index_in_list(TemplateCall& call) {
  const auto& items = std::get<const TemplateList*>(call.self())->items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (equal(items[i], call.need(1, "value"), call.budget())) return static_cast<int64_t>(i);
  }
  object("index() of something that is not in the list");
}

struct NamedMethod {
  std::string_view name;
  TemplateNative method;
};

constexpr NamedMethod kTextMethods[] = {
    {"capitalize", map_self<capitalize>},
    {"count", count_in_text},
    {"endswith", has_end<has_suffix>},
    {"find", find_self<false, false>},
    {"format", format_self},
    {"index", find_self<false, true>},
    {"isalnum", all_are<is_alphanumeric>},
    {"isalpha", all_are<is_letter>},
    {"isascii", all_are<is_ascii>},
    {"isdecimal", all_are<is_decimal>},
    {"isdigit", all_are<is_decimal>},
    {"islower", test_self},
    {"isnumeric", all_are<is_decimal>},
    {"isspace", all_are<is_python_space>},
    {"isupper", test_self},
    {"join", [](TemplateCall& call) { return join_texts(call, call.need(1, "iterable"), self_view(call)); }},
    {"lower", map_self<lower>},
    {"lstrip", strip<true, false>},
    {"partition", partition<false>},
    {"removeprefix", without_prefix},
    {"removesuffix", without_suffix},
    {"replace", replace_in_text},
    {"rfind", find_self<true, false>},
    {"rindex", find_self<true, true>},
    {"rpartition", partition<true>},
    {"rsplit", split_from_right},
    {"rstrip", strip<false, true>},
    {"split", split_self},
    {"splitlines",
     [](TemplateCall& call) {
       return list_of(call, split_lines(self_view(call), call.flag(1, "keepends", false), call.budget()));
     }},
    {"startswith", has_end<has_prefix>},
    {"strip", strip<true, true>},
    {"title", map_self<title>},
    {"upper", map_self<upper>},
};

// Nothing changes a list or a dict, so a copy is the same.
TemplateValue copy(TemplateCall& call) { return call.self(); }

constexpr NamedMethod kDictMethods[] = {
    {"copy", copy}, {"get", get}, {"items", filter_self}, {"keys", keys}, {"values", values}};
constexpr NamedMethod kListMethods[] = {{"copy", copy}, {"count", count_in_list}, {"index", index_in_list}};
constexpr std::string_view kChanging[] = {"append", "clear",   "extend", "insert",     "pop",   "popitem",
                                          "remove", "reverse", "sort",   "setdefault", "update"};

template <size_t kN>
TemplateNative find_named(const NamedMethod (&methods)[kN], std::string_view name) {
  const auto* found = std::ranges::find(methods, name, &NamedMethod::name);
  return found == std::end(methods) ? nullptr : found->method;
}

TemplateValue range(TemplateCall& call) {
  const bool has_start = call.args.size() > 1;
  const int64_t from = has_start ? to_integer(call.args[0]) : 0;
  const int64_t to = to_integer(call.need(has_start ? 1 : 0, "stop"));
  const int64_t step = call.integer(2, "step", 1);
  if (step == 0) object("range() with a step of zero");
  std::vector<TemplateValue> items;
  for (int64_t i = from; step > 0 ? i < to : i > to;) {
    call.budget().take(2 * sizeof(TemplateValue));
    items.emplace_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return call.memory.list(std::move(items));
}

using Pairs = std::vector<std::pair<TemplateValue, TemplateValue>>;

TemplateValue make_dict(TemplateCall& call) {
  Pairs items;
  if (!call.args.empty()) {
    const auto* dict = std::get_if<const TemplateDict*>(&call.args[0]);
    if (dict == nullptr) object("dict() of a {}", type_name(call.args[0]));
    items = (*dict)->items;
  }
  items.insert(items.end(), call.named.begin(), call.named.end());
  return call.memory.dict(std::move(items));
}

TemplateValue make_namespace(TemplateCall& call) {
  TemplateNamespace made;
  if (!call.args.empty()) {
    const auto* dict = std::get_if<const TemplateDict*>(&call.args[0]);
    if (dict == nullptr) object("namespace() of a {}", type_name(call.args[0]));
    for (const auto& [key, value] : (*dict)->items) made.items.emplace_back(to_string_view(key), value);
  }
  call.budget().take(4 * (made.items.size() + call.named.size()) * sizeof(TemplateValue));
  made.items.insert(made.items.end(), call.named.begin(), call.named.end());
  return call.memory.make(std::move(made));
}

// Returns an empty text the first time, and the separator after that.
TemplateValue join_next(TemplateCall& call) {
  auto& state = std::get<TemplateNamespace*>(call.self())->items;
  const TemplateValue result = is_true(state[1].second) ? state[0].second : TemplateValue(std::string_view());
  state[1].second = true;
  return result;
}

TemplateValue make_joiner(TemplateCall& call) {
  TemplateNamespace* state =
      call.memory.make(TemplateNamespace{.items = {{"sep", call.text(0, "sep", ", ")}, {"used", false}}});
  return call.memory.make(TemplateFunction{.native = join_next, .name = "joiner", .state = state});
}

TemplateValue raise_exception(TemplateCall& call) { object("{}", to_text(call.need(0, "message"), call.budget())); }

TemplateValue strftime_now(TemplateCall& call) {
  const std::time_t now = std::time(nullptr);
  const std::tm local = platform::local_time(now);
  char text[256];
  const std::string format(call.text(0, "format", ""));
  return call.keep(std::string(text, std::strftime(text, sizeof text, format.c_str(), &local)));
}

constexpr NamedMethod kGlobals[] = {
    {"dict", make_dict},
    {"joiner", make_joiner},
    {"namespace", make_namespace},
    {"raise_exception", raise_exception},
    {"range", range},
    {"strftime_now", strftime_now},
};

}  // namespace

TemplateNative find_template_method(const TemplateValue& of, std::string_view name) {
  const bool is_list = std::holds_alternative<const TemplateList*>(of);
  const bool is_dict = std::holds_alternative<const TemplateDict*>(of);
  if ((is_list || is_dict) && std::ranges::contains(kChanging, name)) {
    refuse_template("a call of {}(), which changes what it is given", name);
  }
  if (is_list) return find_named(kListMethods, name);
  if (is_dict) return find_named(kDictMethods, name);
  if (!std::holds_alternative<std::string_view>(of)) return nullptr;
  const TemplateNative method = find_named(kTextMethods, name);
  return method != nullptr ? method : find_template_layout_method(name);
}

TemplateNative find_dict_method(std::string_view name) { return find_named(kDictMethods, name); }

bool changes_list(std::string_view method) { return method == "append" || method == "pop"; }

TemplateValue change_list(TemplateNamespace& owner, std::string_view name, const TemplateCall& call) {
  const auto kept = std::ranges::find(owner.items, name, &std::pair<std::string_view, TemplateValue>::first);
  const auto* list = kept == owner.items.end() ? nullptr : std::get_if<const TemplateList*>(&kept->second);
  if (list == nullptr || (*list)->is_tuple) object("{}() of something that is no list", call.name);
  std::vector<TemplateValue> items = (*list)->items;
  TemplateValue result = None{};
  if (call.name == "append") {
    items.push_back(call.need(0, "value"));
  } else {
    const int64_t index = call.integer(0, "index", -1);
    const int64_t at = index < 0 ? index + static_cast<int64_t>(items.size()) : index;
    if (at < 0 || at >= static_cast<int64_t>(items.size())) object("pop() of an item that the list has not");
    result = items[static_cast<size_t>(at)];
    items.erase(items.begin() + at);
  }
  kept->second = call.memory.list(std::move(items));
  return result;
}

TemplateNative find_template_global(std::string_view name) { return find_named(kGlobals, name); }

}  // namespace tern
