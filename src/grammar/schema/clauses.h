// JSON Schema in positive form: clauses whose conditions must all hold. `not` is pushed down to the conditions, and
// every keyword that combines schemas becomes a conjunction or a choice.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "grammar/rules/char_automaton.h"
#include "grammar/rules/regex.h"
#include "grammar/schema/json_value.h"
#include "grammar/schema/keywords.h"
#include "grammar/schema/number_rules.h"
#include "grammar/schema/references.h"

namespace tern::grammar {

using ClauseId = uint32_t;
using Clauses = std::vector<ClauseId>;  // all must hold; each once
inline constexpr ClauseId kAnything = 0, kNothing = 1;

// A greater maxLength is lowered to this where there is a pattern or a format.
inline constexpr size_t kMaxMatchedLength = 512;

// Limits on the length of strings, the items of arrays, or the properties of objects.
struct Lengths {
  size_t low = 0;
  std::optional<size_t> high = {};
  void meet(const Lengths& other);
  bool is_empty() const { return high && *high < low; }
  bool holds(size_t n) const { return n >= low && (!high || n <= *high); }
};

struct Clause {
  const JsonValue* schema = nullptr;  // where it comes from, for messages

  uint8_t types = kAllTypes;
  bool names_type = false;                                        // `type`, `enum` or `const` said so
  uint8_t about = 0;                                              // types that keywords apply to
  std::vector<std::vector<const JsonValue*>> one_of_values = {};  // of each list
  std::vector<const JsonValue*> no_values = {};

  NumberBounds bounds = {};

  struct Text {
    const JsonValue* value;  // of `pattern` or `format`
    bool is_format, is_negated;
  };
  Lengths length = {};
  std::vector<Text> texts = {};
  const JsonValue* grammar = nullptr;  // `$lark`

  struct Contained {
    ClauseId item;
    size_t from;  // among the items from this index
    Lengths times;
  };
  Lengths n_items = {};
  bool is_unique = false;
  Clauses prefix = {};
  ClauseId items = kAnything, unevaluated_items = kAnything;
  bool says_items = false;
  std::vector<Contained> contains = {};

  struct Property {
    std::string_view name;
    ClauseId value;
  };
  // Some property that these do not apply to has a value of `value`.
  struct OtherProperty {
    const JsonValue* names;     // `properties`
    const JsonValue* patterns;  // `patternProperties`
    ClauseId value;
  };
  Lengths n_properties = {};
  const JsonValue* properties = nullptr;
  const JsonValue* patterns = nullptr;
  std::vector<Property> more_properties = {};
  ClauseId other_properties = kAnything, unevaluated_properties = kAnything, names = kAnything;
  bool says_others = false;
  std::vector<std::string_view> required = {};
  std::vector<OtherProperty> some = {};

  Clauses all = {};                       // these must hold too
  std::vector<Clauses> choices = {};      // and one of each of these
  std::optional<ClauseId> opposite = {};  // a clause that does not hold exactly if this one does
};

// How a value is compared with a schema. `is_wide`: formats count as the widest reading of them, otherwise as the
// narrowest.
struct Reading {
  bool is_wide = false;
  int depth = 0;
  Reading deeper() const { return {is_wide, depth + 1}; }
};

class SchemaReader {
 public:
  // `root` must outlive this object.
  explicit SchemaReader(const JsonValue& root);

  // The error for `schema`, or for its member `keyword`.
  std::unexpected<Error> refuse(const JsonValue& schema, std::string_view keyword, std::string_view why) const;
  std::unexpected<Error> refuse(const Clauses& clauses, std::string_view keyword, std::string_view why) const;

  ClauseId clause_of(const JsonValue& schema, bool is_negated = false);
  ClauseId opposite_of(ClauseId id);  // of a schema's clause
  ClauseId add(Clause clause);
  ClauseId with_types(uint8_t types);
  // Reads the clause when it is first asked for. Errors: a value that a keyword cannot have, references that lead
  // nowhere, clauses that refer to themselves before they say anything.
  Result<const Clause*> clause(ClauseId id);
  const JsonValue* schema_of(ClauseId id) const { return read_[id] ? read_[id]->schema : origins_[id].schema; }
  // A clause that was read before.
  const Clause& at(ClauseId id) const { return *read_[id]; }

  // What follows is about clauses that were read and hold together.

  // `meant`: if no clause names a type, only those that its keywords apply to.
  uint8_t types(const Clauses& clauses, bool meant) const;
  NumberBounds bounds(const Clauses& clauses) const;
  Lengths lengths(const Clauses& clauses, Lengths Clause::* which) const;
  // True if some clause excludes a value of this kind.
  bool excludes(const Clauses& clauses, JsonValue::Kind kind) const;
  // The values that `enum` and `const` of all clauses have; nullopt: there are none.
  Result<std::optional<std::vector<const JsonValue*>>> values(const Clauses& clauses);
  Result<bool> allows(const Clauses& clauses, const JsonValue& value, Reading reading = {});
  // Without the clauses that these consist of.
  Result<bool> allows_alone(const Clauses& clauses, const JsonValue& value, Reading reading = {});

  // The patterns, formats and excluded texts, with the lengths; nullopt: there are only lengths.
  Result<std::optional<CharAutomaton>> texts(const Clauses& clauses, bool is_wide);
  // The grammar that the texts have; null: none. No other condition on texts may stand beside it.
  Result<const JsonValue*> grammar(const Clauses& clauses) const;
  // The texts that a pattern matches.
  Result<const CharAutomaton*> pattern(const JsonValue& schema, const std::string& text);
  Result<const CharAutomaton*> other_than(const JsonValue& schema, const std::string& text);

  // The names of properties that one set of clauses applies to.
  struct Names {
    std::optional<std::string_view> name = {};  // one name, or
    std::set<std::string_view> patterns = {};   // undeclared ones that match these and no other patterns
  };
  Result<Clauses> property(const Clauses& clauses, const Names& names);
  // Adds the schemas of `properties` and `patternProperties` that apply to a property. True: there are some.
  Result<bool> add_named(const JsonValue* properties, const JsonValue* patterns, const Names& names, Clauses& out);
  // True if their members may come in any order.
  bool in_any_order(const Clauses& clauses) const;
  Clauses item(const Clauses& clauses, size_t index);
  std::vector<std::string_view> declared_properties(const Clauses& clauses) const;  // in their order, each once
  std::vector<std::string_view> required(const Clauses& clauses) const;

 private:
  struct Origin {
    const JsonValue* schema;
    bool is_negated;
  };
  Result<void> check_keywords(const JsonValue& schema) const;
  Result<void> read_all(ClauseId id, int depth);
  Result<Clause> read(const JsonValue& schema);
  Result<void> read_references(const JsonValue& schema, Clause& out);
  void read_choices(const JsonValue& schema, Clause& out);
  void read_values(const JsonValue& schema, Clause& out) const;
  Result<void> read_numbers(const JsonValue& schema, Clause& out) const;
  void read_arrays(const JsonValue& schema, Clause& out);
  void read_objects(const JsonValue& schema, Clause& out);
  void read_dependencies(const JsonValue& schema, Clause& out);
  Clauses one_of(const JsonValue& schema, const JsonValue& branches);

  Result<Clause> read_negated(const JsonValue& schema);
  Result<const JsonValue*> target_of(const JsonValue& schema, std::string_view keyword) const;

  Result<void> add_property(const Clause& own, const Names& names, Clauses& out);
  Result<bool> matches(const JsonValue& patterns, size_t index, const Names& names);
  Result<bool> evaluates(ClauseId id, const Clauses& clauses, const Names& names, bool is_top);
  bool evaluates_item(ClauseId id, const Clauses& clauses, size_t index, bool is_top) const;
  Result<bool> allows_own(const Clause& own, const JsonValue& value, Reading reading);
  Result<bool> allows_items(const Clause& own, const JsonValue& value, Reading reading);
  Result<bool> allows_members(const Clause& own, const JsonValue& value, Reading reading);

  Result<const CharAutomaton*> automaton_of(const JsonValue& place, const Clause::Text& text, bool is_wide);
  Result<const CharAutomaton*> parsed(const JsonValue& place, std::string_view keyword, const std::string& key,
                                      std::string_view pattern, RegexMatch match);

  const JsonValue& root_;
  std::set<const JsonValue*> unordered_ = {};  // schemas in which members come in any order
  References references_;
  std::map<std::pair<const JsonValue*, bool>, ClauseId> known_;
  std::vector<Origin> origins_;
  std::vector<const Clause*> read_;  // by id; null: not yet
  std::vector<uint8_t> visited_;     // by id, for read_all()
  std::map<uint8_t, ClauseId> with_types_;
  std::deque<Clause> clauses_;
  std::map<std::string, CharAutomaton, std::less<>> automata_;
  std::map<std::vector<const JsonValue*>, std::set<std::string>> texts_of_;  // canonical texts of lists of values
  size_t work_ = 0;
};

}  // namespace tern::grammar
