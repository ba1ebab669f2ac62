// Objects: the properties that a schema names, in its order, and then others.
#include <algorithm>

#include "grammar/rules/utf8_chars.h"
#include "grammar/schema/any_order.h"
#include "grammar/schema/name_tree.h"
#include "grammar/schema/schema_writer.h"

namespace tern::grammar {
namespace {

constexpr size_t kMaxCounted = 4000;     // properties, times distinct counts of them
constexpr size_t kMaxPatterns = 10;      // of names in one object
constexpr size_t kMaxNameLength = 512;   // where propertyNames limits it
constexpr size_t kMaxKnownNames = 2000;  // that propertyNames lists

}  // namespace

class ObjectWriter {
 public:
  ObjectWriter(SchemaWriter& writer, const Clauses& clauses)
      : writer_(writer), reader_(writer.reader_), rules_(writer.rules_), json_(writer.json_), clauses_(clauses) {}

  Result<void> write(StateId start, StateId end) {
    lengths_ = reader_.lengths(clauses_, &Clause::n_properties);
    for (const ClauseId id : clauses_) {
      if (reader_.at(id).names != kAnything) name_clauses_.push_back(reader_.at(id).names);
    }
    TRY_STATUS(read_names());
    TRY_STATUS(read_named());
    if (is_impossible_ || lengths_.is_empty()) return {};
    TRY(const std::optional<RuleId> other, other_property());
    if (reader_.in_any_order(clauses_)) return write_in_any_order(other, start, end);
    return write_members(other, start, end);
  }

 private:
  struct Property {
    std::string_view name;
    RuleId rule;
    bool is_required;
  };

  std::unexpected<Error> refuse(std::string_view keyword, std::string_view why) const {
    return reader_.refuse(clauses_, keyword, why);
  }

  // What propertyNames says: names one by one if they are few, or else automata, one of which must take a name.
  Result<void> read_names() {
    if (name_clauses_.empty()) return {};
    TRY(const std::vector<Clauses> all, writer_.alternatives_.of(name_clauses_));
    for (const Clauses& one : all) {
      TRY(const auto values, reader_.values(one));
      if (values) {
        for (const JsonValue* value : *values) {
          if (value->kind == JsonValue::kString) listed_.emplace_back(value->text);
        }
        continue;
      }
      if ((reader_.types(one, /*meant=*/false) & kStringType) == 0) continue;
      TRY(auto texts, reader_.texts(one, /*is_wide=*/false));
      const Lengths length = reader_.lengths(one, &Clause::length);
      if (length.low > kMaxNameLength)
        return refuse("propertyNames", format_text("names of more than {} characters", kMaxNameLength));
      const size_t high = std::min(length.high.value_or(0), std::max(length.low, kMaxNameLength));
      automata_of_names_.push_back(texts ? *std::move(texts)
                                         : CharAutomaton::repeated(CharSet::all(), static_cast<int>(length.low),
                                                                   length.high ? static_cast<int>(high) : -1));
    }
    if (listed_.size() > kMaxKnownNames)
      return refuse("propertyNames", format_text("this lists more than {} names", kMaxKnownNames));
    return {};
  }

  // The properties that the schema declares, in its order, then those that it only requires, or lists as names.
  Result<void> read_named() {
    const auto required = reader_.required(clauses_);
    std::vector<std::string_view> names = reader_.declared_properties(clauses_);
    for (const std::string& name : listed_) {
      if (!std::ranges::contains(names, name)) names.push_back(name);
    }
    for (const std::string_view name : names) {
      names_.push_back(name);
      const bool is_required = std::ranges::binary_search(required, name);
      TRY(Clauses value, reader_.property(clauses_, {.name = name}));
      bool is_allowed = !std::ranges::contains(value, kNothing);
      if (is_allowed && !name_clauses_.empty()) {
        const JsonValue text = {.kind = JsonValue::kString, .text = std::string(name)};
        TRY(is_allowed, reader_.allows(name_clauses_, text));
      }
      if (is_allowed) named_.push_back({name, writer_.rule_of(value), is_required});
      is_impossible_ |= !is_allowed && is_required;
    }
    return {};
  }

  // The rule for a property that the schema does not name, with its name; nullopt: none is allowed. Its names are
  // divided by the patterns that they match.
  Result<std::optional<RuleId>> other_property() {
    std::set<std::string_view> patterns;
    const JsonValue* place = nullptr;
    for (const ClauseId id : clauses_) {
      const JsonValue* own = reader_.at(id).patterns;
      if (own) patterns.insert(own->names.begin(), own->names.end());
      if (own) place = own;
    }
    if (patterns.size() > kMaxPatterns)
      return refuse("patternProperties", format_text("more than {} patterns for one object", kMaxPatterns));
    if (!name_clauses_.empty() && automata_of_names_.empty()) return std::nullopt;
    Division all = {.place = place, .patterns = {patterns.begin(), patterns.end()}};
    for (size_t matched = 0; matched < size_t{1} << all.patterns.size(); ++matched) {
      SchemaReader::Names names;
      for (size_t i = 0; i < all.patterns.size(); ++i) {
        if (matched >> i & 1) names.patterns.insert(all.patterns[i]);
      }
      TRY(Clauses value, reader_.property(clauses_, names));
      all.is_allowed |= !std::ranges::contains(value, kNothing);
      all.values.push_back(std::move(value));
    }
    if (!all.is_allowed) return std::nullopt;
    const RuleId rule = all.rule = rules_.new_rule("another property");
    rules_.end(all.last = rules_.new_state());
    TRY_STATUS(divide(all, 0, 0, std::nullopt));
    return rule;
  }

  // The names of other properties, by the patterns that they match.
  struct Division {
    const JsonValue* place = nullptr;  // of the patterns
    std::vector<std::string_view> patterns = {};
    std::vector<Clauses> values = {};  // by the set of patterns that match, as bits
    bool is_allowed = false;           // true for some set
    RuleId rule = 0;
    StateId last = 0;
  };

  // Divides names by the patterns from `n` on. The ones before are decided: `matched` match, and `names` are left; all
  // if there are none.
  Result<void> divide(const Division& all, size_t n, size_t matched, const std::optional<CharAutomaton>& names) {
    bool is_useful = false;
    for (size_t rest = 0; rest < size_t{1} << (all.patterns.size() - n); ++rest)
      is_useful |= !std::ranges::contains(all.values[matched | rest << n], kNothing);
    if (!is_useful) return {};
    if (n == all.patterns.size()) {
      TRY(const RuleId name, names_rule(all, matched, names));
      const StateId colon = json_.add_colon(json_.add(rules_.start_of(all.rule), name));
      rules_.add_call(colon, writer_.rule_of(all.values[matched]), all.last);
      return {};
    }
    const std::string text(all.patterns[n]);
    TRY(const CharAutomaton* own, reader_.pattern(*all.place, text));
    const CharAutomaton both = names ? names->common(*own) : *own;
    TRY_STATUS(check(both));
    if (both.is_empty()) return divide(all, n + 1, matched, names);
    TRY_STATUS(divide(all, n + 1, matched | size_t{1} << n, both));
    TRY(const CharAutomaton* other, reader_.other_than(*all.place, text));
    const CharAutomaton rest = names ? names->common(*other) : *other;
    TRY_STATUS(check(rest));
    return rest.is_empty() ? Result<void>() : divide(all, n + 1, matched, rest);
  }

  Result<void> check(const CharAutomaton& names) const {
    if (!names.is_full()) return {};
    return refuse("patternProperties", "the names of its properties take too many states");
  }

  // A rule for these names in quotation marks, without those that are declared. Objects with the same names share it.
  Result<RuleId> names_rule(const Division& all, size_t matched, const std::optional<CharAutomaton>& names) {
    const bool is_plain = !names && name_clauses_.empty();
    if (is_plain && names_.empty()) return json_.string();
    std::string key = format_text("{}", names ? matched : 0);
    for (const auto& part : {names ? all.patterns : std::vector<std::string_view>(), names_}) {
      for (const std::string_view text : part) key.append(text) += '\0';
      key += '\1';
    }
    for (const ClauseId id : name_clauses_) key += format_text("{},", id);
    const auto [known, is_new] = writer_.names_.try_emplace(std::move(key), 0);
    if (!is_new) return known->second;
    const RuleId rule = known->second = rules_.new_rule("another name");
    const StateId inside = rules_.add_text(rules_.start_of(rule), "\""), behind = rules_.new_state();
    rules_.end(rules_.add_text(behind, "\""));
    if (is_plain) {
      NameTree(names_).write(rules_, inside, behind);
    } else {
      TRY_STATUS(write_matched(names, inside, behind));
    }
    return rule;
  }

  Result<void> write_matched(std::optional<CharAutomaton> all, StateId inside, StateId behind) {
    const auto meet = [&](const CharAutomaton& own) { all = all ? all->common(own) : own; };
    std::vector<std::u32string> declared;
    for (const std::string_view name : names_) {
      std::u32string chars = chars_of(name);
      if (!all || all->takes(chars)) declared.push_back(std::move(chars));
    }
    if (!declared.empty() || !all) meet(CharAutomaton::all_but(declared));
    std::vector<CharAutomaton> automata;
    for (const CharAutomaton& own : automata_of_names_) automata.push_back(all->common(own));
    if (automata_of_names_.empty()) automata.push_back(*std::move(all));
    for (const CharAutomaton& own : automata) {
      TRY_STATUS(check(own));
      rules_.add_empty(own.write(rules_, inside, CharAutomaton::Spelling::kJson), behind);
    }
    return {};
  }

  // The state before a property, after its comma if it is not the first.
  StateId before(StateId from, bool is_first) { return is_first ? from : json_.add_space(rules_.add_text(from, ",")); }

  Result<void> write_in_any_order(std::optional<RuleId> other, StateId start, StateId end) {
    Unordered all = {.other = other, .least = lengths_.low, .most = lengths_.high};
    if (named_.size() > Unordered::kMost)
      return refuse("properties", format_text("more than {} in any order take too many states", Unordered::kMost));
    const auto n_required = static_cast<size_t>(std::ranges::count_if(named_, &Property::is_required));
    if (other && (lengths_.high || lengths_.low > n_required))
      return refuse(lengths_.high ? "maxProperties" : "minProperties",
                    "properties that the schema does not name cannot be counted in any order");
    for (const Property& property : named_) {
      const RuleId rule = rules_.new_rule("a property");
      const StateId colon = json_.add_colon(rules_.add_text(rules_.start_of(rule), json_string(property.name)));
      const StateId last = rules_.new_state();
      rules_.add_call(colon, property.rule, last);
      rules_.end(last);
      all.members.push_back({rule, property.is_required});
    }
    const StateId inside = json_.add_space(rules_.add_text(start, "{"));
    if (all.may_be_empty()) rules_.add_empty(rules_.add_text(inside, "}"), end);
    const StateId last = write_unordered(rules_, inside, all, [&](StateId at) { return before(at, false); });
    rules_.add_empty(rules_.add_text(json_.add_space(last), "}"), end);
    return {};
  }

  // Uses a state for each number of named properties passed, and of properties written, as far as the counts matter.
  Result<void> write_members(std::optional<RuleId> other, StateId start, StateId end) {
    // Unnamed properties may repeat a name and then count once, so only the first is sure to add to the count.
    if (lengths_.low > named_.size() + (other ? 1 : 0)) {
      if (!other) return {};
      return refuse("minProperties", "a reply cannot be held to several properties that the schema does not name");
    }
    size_t cap = std::max(lengths_.low, size_t{1});
    if (lengths_.high && (other || *lengths_.high < named_.size())) cap = std::max(cap, *lengths_.high);
    if (cap > 1 && (named_.size() + 1) * cap > kMaxCounted)
      return refuse(lengths_.high ? "maxProperties" : "minProperties",
                    format_text("counting so many properties takes more than {} states", kMaxCounted));
    std::vector<StateId> here(cap + 1), next(cap + 1);
    for (StateId& state : here) state = rules_.new_state();
    rules_.add_empty(json_.add_space(rules_.add_text(start, "{")), here[0]);
    const bool is_limited = lengths_.high && cap >= *lengths_.high;
    for (const Property& property : named_) {
      for (StateId& state : next) state = rules_.new_state();
      // Without counting, a property is written once, for use with and without a comma before it.
      std::optional<StateId> shared;
      for (size_t n = 0; n <= cap && !rules_.is_full(); ++n) {
        if (!property.is_required) rules_.add_empty(here[n], next[n]);
        if (is_limited && n == *lengths_.high) continue;
        const StateId from = before(here[n], n == 0);
        if (shared && cap == 1) {
          rules_.add_empty(from, *shared);
          continue;
        }
        shared = n == 0 ? rules_.new_state() : from;
        if (n == 0) rules_.add_empty(from, *shared);
        const StateId colon = json_.add_colon(rules_.add_text(*shared, json_string(property.name)));
        rules_.add_call(colon, property.rule, next[std::min(n + 1, cap)]);
      }
      here.swap(next);
    }
    const StateId close = rules_.new_state();
    rules_.add_empty(rules_.add_text(close, "}"), end);
    for (size_t n = 0; n <= cap && !rules_.is_full(); ++n) write_others(other, n, here[n], close, is_limited);
    return {};
  }

  // Writes what follows `n` named properties: others, of which the first counts for a minimum, and all for a maximum.
  void write_others(std::optional<RuleId> other, size_t n, StateId from, StateId close, bool is_limited) {
    const auto end_at = [&](StateId state, size_t least, size_t most) {
      if (least >= lengths_.low && (!is_limited || most <= *lengths_.high))
        rules_.add_empty(most == 0 ? state : json_.add_space(state), close);
    };
    end_at(from, n, n);
    if (!other) return;
    StateId at = from;
    for (size_t total = n; !is_limited || total < *lengths_.high; ++total) {
      const StateId behind = rules_.new_state();
      rules_.add_call(before(at, total == 0), *other, behind);
      end_at(behind, n + 1, total + 1);
      at = behind;
      if (is_limited) continue;
      rules_.add_call(before(at, false), *other, at);
      return;
    }
  }

  SchemaWriter& writer_;
  SchemaReader& reader_;
  RuleWriter& rules_;
  JsonRules& json_;
  const Clauses& clauses_;
  Lengths lengths_;
  Clauses name_clauses_;
  std::vector<std::string> listed_;
  std::vector<CharAutomaton> automata_of_names_;
  std::vector<std::string_view> names_;  // all that are declared, also those that are not allowed
  std::vector<Property> named_;
  bool is_impossible_ = false;
};

Result<void> SchemaWriter::write_object(const Clauses& clauses, StateId start, StateId end) {
  return ObjectWriter(*this, clauses).write(start, end);
}

}  // namespace tern::grammar
