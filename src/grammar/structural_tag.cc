#include "grammar/structural_tag.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text/quoted.h"
#include "grammar/rules/free_text.h"
#include "grammar/rules/gbnf.h"
#include "grammar/rules/regex.h"
#include "grammar/rules/utf8_chars.h"
#include "grammar/schema/json_value.h"
#include "grammar/schema/schema.h"

namespace tern::grammar {
namespace {

using Value = JsonValue;

constexpr size_t kMostTimes = 10'000;

// The value as JSON, with the members of objects in their order.
std::string written(const Value& value) {
  if (value.kind != Value::kArray && value.kind != Value::kObject) return json_text(value);
  const bool is_object = value.kind == Value::kObject;
  std::string out;
  for (size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) out += ',';
    if (is_object) out += json_string(value.names[i]) + ':';
    out += written(value.items[i]);
  }
  return is_object ? '{' + out + '}' : '[' + out + ']';
}

// The names of a format's members beside "type".
struct Members {
  std::string_view type;
  std::vector<std::string_view> names;
};
const std::vector<Members>& known_formats() {
  static const std::vector<Members> kFormats = {
      {"const_string", {"value"}},
      {"json_schema", {"json_schema", "style", "any_order"}},
      {"grammar", {"grammar"}},
      {"regex", {"pattern"}},
      {"any_text", {"excludes", "max_tokens", "max_chars"}},
      {"sequence", {"elements"}},
      {"or", {"elements"}},
      {"optional", {"content"}},
      {"plus", {"content"}},
      {"star", {"content"}},
      {"repeat", {"min", "max", "content"}},
      {"tag", {"begin", "content", "end"}},
      {"triggered_tags", {"triggers", "tags", "at_least_one", "stop_after_first", "excludes"}},
      {"tags_with_separator", {"tags", "separator", "at_least_one", "stop_after_first"}},
      {"dispatch", {"rules", "loop", "excludes"}}};
  return kFormats;
}

using Marks = std::vector<std::u32string>;

class TagWriter {
 public:
  explicit TagWriter(const Value& root) : root_(root) {}

  Result<Rules> write() {
    const RuleId rule = rules_.new_rule("the structural tag");
    TRY(const StateId end, add_root(rules_.start_of(rule)));
    rules_.end(end);
    return rules_.finish(rule);
  }

 private:
  std::unexpected<Error> at(ErrorCode code, const Value& value, std::string_view what) const {
    const std::string place = pointer_to(root_, value);
    return fail(code, "{}{}{}", place, place.empty() ? "" : ": ", what);
  }
  std::unexpected<Error> wrong(const Value& value, std::string_view what) const {
    return at(ErrorCode::kInvalidArgument, value, what);
  }
  std::unexpected<Error> refuse(const Value& value, std::string_view what) const {
    return at(ErrorCode::kNotSupported, value, what);
  }
  std::unexpected<Error> inside(const Value& value, const Error& error) const {
    return at(error.code, value, error.message);
  }

  Result<const Value*> member(const Value& of, std::string_view name, Value::Kind kind, std::string_view what) const {
    const Value* found = of.find(name);
    if (!found) return wrong(of, format_text("\"{}\" is missing", name));
    if (found->kind != kind) return wrong(*found, format_text("{} was expected", what));
    return found;
  }
  Result<const Value*> text(const Value& of, std::string_view name) const {
    return member(of, name, Value::kString, "a text");
  }
  Result<const Value*> list(const Value& of, std::string_view name) const {
    TRY(const Value* found, member(of, name, Value::kArray, "a list"));
    if (found->items.empty()) return wrong(*found, "the list is empty");
    return found;
  }
  Result<bool> flag(const Value& of, std::string_view name, bool otherwise) const {
    const Value* found = of.find(name);
    if (!found) return otherwise;
    if (found->kind != Value::kTrue && found->kind != Value::kFalse) return wrong(*found, "true or false was expected");
    return found->kind == Value::kTrue;
  }
  Result<size_t> times(const Value& of, std::string_view name) const {
    TRY(const Value* found, member(of, name, Value::kNumber, "a number"));
    const bool is_whole = std::ranges::all_of(found->text, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_whole || found->text.size() > 9) return wrong(*found, "a number of repetitions was expected");
    const auto n = static_cast<size_t>(std::stoul(found->text));
    if (n > kMostTimes) return refuse(*found, format_text("more than {} repetitions", kMostTimes));
    return n;
  }
  // Texts of a list, or of one text; not there: none. An empty text is the end of nothing.
  Result<Marks> marks(const Value* value) const {
    Marks all;
    if (!value) return all;
    const bool is_list = value->kind == Value::kArray;
    for (const Value& one : is_list ? std::span(value->items) : std::span(value, 1)) {
      if (one.kind != Value::kString) return wrong(one, "a text was expected");
      if (!one.text.empty()) all.push_back(chars_of(one.text));
    }
    return all;
  }

  // The request has the format alone, or a list of structures with triggers.
  Result<StateId> add_root(StateId from) {
    const Value* type = root_.find("type");
    if (!type || type->text != "structural_tag") return wrong(root_, "\"type\" has to be \"structural_tag\"");
    const bool is_list = root_.find("structures") != nullptr;
    for (const std::string& name : root_.names) {
      const bool is_known = name == "type" || (is_list ? name == "structures" || name == "triggers" : name == "format");
      if (!is_known) return refuse(root_, format_text("there is no {}", tern::quoted(name)));
    }
    if (is_list) return add_structures(from);
    TRY(const Value* format, member(root_, "format", Value::kObject, "an object"));
    return add(from, *format, {});
  }

  Result<StateId> add_structures(StateId from) {
    TRY(const Value* tags, list(root_, "structures"));
    TRY(const Value* triggers, list(root_, "triggers"));
    return add_triggered(from, *triggers, tags->items, {.ends = {}});
  }

  // Adds the format's texts at `from`. Returns the state after them. `ends`: what ends the tag that it is in.
  Result<StateId> add(StateId from, const Value& format, const Marks& ends) {
    if (format.kind != Value::kObject) return wrong(format, "a format is an object");
    TRY(const Value* type, text(format, "type"));
    const auto known = std::ranges::find(known_formats(), std::string_view(type->text), &Members::type);
    if (known == known_formats().end())
      return refuse(format, format_text("the format {} is not one that Tern has", tern::quoted(type->text)));
    for (const std::string& name : format.names) {
      if (name != "type" && !std::ranges::contains(known->names, name))
        return refuse(format, format_text("\"{}\" has no {}", type->text, tern::quoted(name)));
    }
    const std::string_view kind = type->text;
    if (kind == "const_string") return add_const(from, format);
    if (kind == "json_schema" || kind == "grammar" || kind == "regex") return add_form(from, format, kind);
    if (kind == "any_text") return add_any_text(from, format, ends);
    if (kind == "sequence" || kind == "or") return add_elements(from, format, ends, kind == "or");
    if (kind == "tag") return add_tag(from, format, /*already=*/0);
    if (kind == "triggered_tags") return add_triggered_tags(from, format, ends);
    if (kind == "tags_with_separator") return add_separated(from, format);
    if (kind == "dispatch") return add_dispatch(from, format, ends);
    return add_repeated(from, format, ends, kind);
  }

  Result<StateId> add_const(StateId from, const Value& format) {
    TRY(const Value* value, text(format, "value"));
    return rules_.add_text(from, value->text);
  }

  Result<StateId> call(StateId from, const Value& place, Result<Rules> form) {
    if (!form) return inside(place, form.error());
    const StateId to = rules_.new_state();
    rules_.add_call(from, rules_.add_rules(*form), to);
    return to;
  }

  Result<StateId> add_form(StateId from, const Value& format, std::string_view kind) {
    if (kind == "json_schema") {
      const Value* style = format.find("style");
      if (style && style->text != "json") return refuse(*style, "values are written as JSON only");
      const Value* schema = format.find("json_schema");
      if (!schema) return wrong(format, "\"json_schema\" is missing");
      TRY(const bool any_order, flag(format, "any_order", false));
      return add_schema(from, *schema, any_order);
    }
    if (kind == "grammar") {
      TRY(const Value* grammar, text(format, "grammar"));
      return call(from, *grammar, parse_gbnf(grammar->text, GbnfSyntax::kEbnf));
    }
    TRY(const Value* pattern, text(format, "pattern"));
    const auto automaton = parse_regex(pattern->text, RegexMatch::kWhole);
    if (!automaton) return inside(*pattern, automaton.error());
    const StateId start = rules_.new_state();
    rules_.add_empty(from, start);
    return automaton->write(rules_, start, CharAutomaton::Spelling::kUtf8);
  }

  Result<StateId> add_schema(StateId from, const Value& schema, bool any_order) {
    std::string json = written(schema);
    const bool is_full = schema.kind == Value::kObject && !schema.items.empty();
    if (any_order && is_full) json.insert(1, "\"$anyOrder\":true,");
    return call(from, schema, parse_schema(json));
  }

  Result<StateId> add_any_text(StateId from, const Value& format, const Marks& ends) {
    for (const std::string_view name : {"max_tokens", "max_chars"}) {
      const Value* most = format.find(name);
      if (most && most->kind != Value::kNull)
        return refuse(*most, "text cannot be limited; use max_tokens of the request");
    }
    TRY(Marks excluded, marks(format.find("excludes")));
    excluded.insert(excluded.end(), ends.begin(), ends.end());
    return add_free_text(rules_, from, excluded, {});
  }

  Result<StateId> add_elements(StateId from, const Value& format, const Marks& ends, bool is_choice) {
    TRY(const Value* elements, list(format, "elements"));
    const StateId to = rules_.new_state();
    for (const Value& element : elements->items) {
      const StateId own = rules_.new_state();
      rules_.add_empty(from, own);
      TRY(const StateId end, add(own, element, ends));
      if (is_choice) rules_.add_empty(end, to);
      if (!is_choice) from = end;
    }
    return is_choice ? to : from;
  }

  Result<StateId> add_repeated(StateId from, const Value& format, const Marks& ends, std::string_view kind) {
    size_t low = kind == "plus" ? 1 : 0;
    std::optional<size_t> high;
    if (kind == "optional") high = 1;
    if (kind == "repeat") {
      TRY(low, times(format, "min"));
      const Value* most = format.find("max");
      if (!most || most->text != "-1") {
        TRY(high, times(format, "max"));
      }
      if (high && *high < low) return wrong(format, "\"max\" is less than \"min\"");
    }
    TRY(const Value* content, member(format, "content", Value::kObject, "an object"));
    const RuleId rule = rules_.new_rule("what repeats");
    TRY(const StateId end, add(rules_.start_of(rule), *content, ends));
    rules_.end(end);
    return rules_.add_calls(from, rule, low, high);
  }

  // `already`: so many bytes of what begins the tag have come before.
  Result<StateId> add_tag(StateId from, const Value& tag, size_t already) {
    for (const std::string_view name : {"begin", "end"}) {
      const Value* token = tag.find(name);
      if (token && token->kind == Value::kObject) return refuse(*token, "tokens cannot begin or end a tag, only texts");
    }
    TRY(const Value* begin, text(tag, "begin"));
    const Value* end = tag.find("end");
    if (!end) return wrong(tag, "\"end\" is missing");
    TRY(const Marks ends, marks(end));
    const StateId inner = rules_.add_text(from, std::string_view(begin->text).substr(already));
    const Value* schema = tag.find("schema");
    const Value* content = tag.find("content");
    if (!schema && !content) return wrong(tag, "\"content\" is missing");
    TRY(const StateId after, schema ? add_schema(inner, *schema, false) : add(inner, *content, ends));
    const StateId to = rules_.new_state();
    for (const Value& one : end->kind == Value::kArray ? std::span(end->items) : std::span(end, 1)) {
      rules_.add_empty(rules_.add_text(after, one.text), to);
    }
    return to;
  }

  struct Dispatch {
    bool at_least_one = false;
    bool goes_on = true;  // text and marks may follow the first
    Marks excluded = {};
    Marks ends = {};
  };

  // Free text in which `marks` lead to their states, each of which leads to `after`.
  Result<StateId> add_text_with(StateId from, Dispatch how, const std::map<std::u32string, StateId>& marks,
                                StateId after) {
    how.excluded.insert(how.excluded.end(), how.ends.begin(), how.ends.end());
    const StateId start = rules_.new_state(), to = rules_.new_state();
    if (!how.at_least_one) rules_.add_empty(from, start);
    if (how.goes_on || !how.at_least_one) {
      TRY(const StateId end, add_free_text(rules_, start, how.excluded, marks));
      rules_.add_empty(end, to);
    }
    rules_.add_empty(after, how.goes_on ? start : to);
    return to;
  }

  Result<StateId> add_triggered(StateId from, const Value& triggers, std::span<const Value> tags, Dispatch how) {
    const StateId after = rules_.new_state();
    std::map<std::u32string, StateId> marks;
    TRY(const Marks all, this->marks(&triggers));
    std::vector<bool> is_used(all.size());
    for (const Value& tag : tags) {
      TRY(const Value* begin, text(tag, "begin"));
      const std::u32string own = chars_of(begin->text);
      const auto fits = [&](const std::u32string& trigger) { return own.starts_with(trigger); };
      if (std::ranges::count_if(all, fits) != 1)
        return wrong(*begin, "exactly one of the triggers has to begin this text");
      const auto trigger = std::ranges::find_if(all, fits);
      is_used[static_cast<size_t>(trigger - all.begin())] = true;
      const auto [mark, is_new] = marks.try_emplace(*trigger, 0);
      if (is_new) mark->second = rules_.new_state();
      std::string bytes;
      for (const char32_t c : *trigger) append_char(c, bytes);
      TRY(const StateId end, add_tag(mark->second, tag, bytes.size()));
      rules_.add_empty(end, after);
      if (!how.at_least_one) continue;
      TRY(const StateId first, add_tag(from, tag, 0));
      rules_.add_empty(first, after);
    }
    const auto unused = std::ranges::find(is_used, false);
    if (unused != is_used.end())
      return wrong(triggers, format_text("no tag begins with trigger {}", 1 + (unused - is_used.begin())));
    return add_text_with(from, std::move(how), marks, after);
  }

  Result<StateId> add_triggered_tags(StateId from, const Value& format, const Marks& ends) {
    TRY(const Value* triggers, list(format, "triggers"));
    TRY(const Value* tags, list(format, "tags"));
    Dispatch how = {.ends = ends};
    TRY(how.at_least_one, flag(format, "at_least_one", false));
    TRY(const bool stops, flag(format, "stop_after_first", false));
    how.goes_on = !stops;
    TRY(how.excluded, marks(format.find("excludes")));
    return add_triggered(from, *triggers, tags->items, std::move(how));
  }

  Result<StateId> add_dispatch(StateId from, const Value& format, const Marks& ends) {
    TRY(const Value* pairs, list(format, "rules"));
    Dispatch how = {.ends = ends};
    TRY(how.goes_on, flag(format, "loop", true));
    TRY(how.excluded, marks(format.find("excludes")));
    const StateId after = rules_.new_state();
    std::map<std::u32string, StateId> marks;
    for (const Value& pair : pairs->items) {
      const bool is_pair = pair.kind == Value::kArray && pair.items.size() == 2 &&
                           pair.items[0].kind == Value::kString && !pair.items[0].text.empty();
      if (!is_pair) return wrong(pair, "a rule is a list of a text and a format");
      const auto [mark, is_new] = marks.try_emplace(chars_of(pair.items[0].text), 0);
      if (!is_new) return wrong(pair, "there is a rule for this text already");
      mark->second = rules_.new_state();
      TRY(const StateId end, add(mark->second, pair.items[1], ends));
      rules_.add_empty(end, after);
    }
    return add_text_with(from, std::move(how), marks, after);
  }

  Result<StateId> add_separated(StateId from, const Value& format) {
    TRY(const Value* tags, list(format, "tags"));
    TRY(const Value* separator, text(format, "separator"));
    TRY(const bool at_least_one, flag(format, "at_least_one", false));
    TRY(const bool stops, flag(format, "stop_after_first", false));
    const StateId start = rules_.new_state(), after = rules_.new_state(), to = rules_.new_state();
    rules_.add_empty(from, start);
    for (const Value& tag : tags->items) {
      TRY(const StateId end, add_tag(start, tag, 0));
      rules_.add_empty(end, after);
    }
    rules_.add_empty(after, to);
    if (!at_least_one) rules_.add_empty(from, to);
    if (!stops) rules_.add_empty(rules_.add_text(after, separator->text), start);
    return to;
  }

  const Value& root_;
  RuleWriter rules_;
};

}  // namespace

Result<Rules> parse_structural_tag(std::string_view json) {
  TRY(const Value root, read_json(json));
  return TagWriter(root).write();
}

}  // namespace tern::grammar
