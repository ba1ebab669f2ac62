// SchemaReader: the opposite of a schema. One of its keywords fails, and each that can fail is a choice. A keyword
// whose opposite cannot be written is no choice: this only leaves out documents that would be valid.
#include <algorithm>

#include "grammar/schema/clauses.h"
#include "grammar/schema/formats.h"

namespace tern::grammar {
namespace {

using Kind = JsonValue::Kind;

constexpr size_t kMaxPairs = 8;  // branches of a oneOf of which two may hold

}  // namespace

// Collects the ways in which a schema fails.
class Opposite {
 public:
  Opposite(SchemaReader& reader, const JsonValue& schema, const Clause& own)
      : reader_(reader), schema_(schema), own_(own) {}

  Clauses options() {
    if (own_.names_type) option({.types = static_cast<uint8_t>(~own_.types & kAllTypes)});
    for (const auto& list : own_.one_of_values) {
      if (own_.types != 0) option({.no_values = list});
    }
    numbers();
    strings();
    arrays();
    objects();
    combined();
    return options_;
  }

 private:
  void option(Clause clause) {
    clause.schema = &schema_;
    if (clause.types != 0) options_.push_back(reader_.add(std::move(clause)));
  }

  void numbers() {
    const NumberBounds& bounds = own_.bounds;
    const auto flipped = [](const NumberBounds::Bound& bound) {
      return NumberBounds::Bound{bound.value, !bound.is_inside};
    };
    if (bounds.low) option({.types = kNumberTypes, .bounds = {.high = flipped(*bounds.low)}});
    if (bounds.high) option({.types = kNumberTypes, .bounds = {.low = flipped(*bounds.high)}});
    if (bounds.multiple) option({.types = kNumberTypes, .bounds = {.no_multiples = {*bounds.multiple}}});
  }

  void counts(uint8_t type, Lengths Clause::* which) {
    const Lengths& lengths = own_.*which;
    Clause fewer = {.types = type}, more = {.types = type};
    if (lengths.low > 0) (fewer.*which).high = lengths.low - 1, option(std::move(fewer));
    if (lengths.high) (more.*which).low = *lengths.high + 1, option(std::move(more));
  }

  void strings() {
    counts(kStringType, &Clause::length);
    for (const Clause::Text& text : own_.texts) {
      if (!text.is_format || find_format(text.value->text)) {
        option({.types = kStringType, .texts = {{text.value, text.is_format, true}}});
      }
    }
  }

  void arrays() {
    counts(kArrayType, &Clause::n_items);
    for (size_t i = 0; i < own_.prefix.size(); ++i) {
      if (own_.prefix[i] == kAnything) continue;
      Clause wrong = {.types = kArrayType, .n_items = {.low = i + 1}, .prefix = Clauses(i, kAnything)};
      wrong.prefix.push_back(reader_.opposite_of(own_.prefix[i]));
      option(std::move(wrong));
    }
    if (own_.items != kAnything) {
      option({.types = kArrayType,
              .n_items = {.low = own_.prefix.size() + 1},
              .contains = {{reader_.opposite_of(own_.items), own_.prefix.size(), {.low = 1}}}});
    }
    for (const auto& [item, from, times] : own_.contains) {
      if (times.low == 1) option({.types = kArrayType, .items = reader_.opposite_of(item), .says_items = true});
      if (times.low > 1) option({.types = kArrayType, .contains = {{item, from, {.high = times.low - 1}}}});
      if (times.high) option({.types = kArrayType, .contains = {{item, from, {.low = *times.high + 1}}}});
    }
  }

  // An option in which a property is there, with a value of this clause.
  Clause present(std::string_view name, ClauseId value) const {
    return {.types = kObjectType, .more_properties = {{name, value}}, .required = {name}};
  }

  void objects() {
    counts(kObjectType, &Clause::n_properties);
    for (const std::string_view name : own_.required) {
      option({.types = kObjectType, .more_properties = {{name, kNothing}}});
    }
    for (size_t i = 0; own_.properties && i < own_.properties->items.size(); ++i) {
      const ClauseId wrong = reader_.clause_of(own_.properties->items[i], true);
      if (wrong != kNothing) option(present(own_.properties->names[i], wrong));
    }
    if (own_.other_properties != kAnything) {
      option({.types = kObjectType,
              .n_properties = {.low = 1},
              .some = {{own_.properties, own_.patterns, reader_.opposite_of(own_.other_properties)}}});
    }
    for (const char* keyword : {"dependencies", "dependentRequired", "dependentSchemas"}) {
      const JsonValue* map = schema_.find(keyword);
      for (size_t i = 0; map && i < map->items.size(); ++i) dependency(map->names[i], map->items[i]);
    }
  }

  void dependency(std::string_view name, const JsonValue& asked) {
    const auto there = present(name, kAnything);
    if (asked.kind != Kind::kArray) {
      Clause fails = there;
      fails.all = {reader_.clause_of(asked, true)};
      return option(std::move(fails));
    }
    for (const JsonValue& missing : asked.items) {
      Clause fails = there;
      fails.more_properties.push_back({missing.text, kNothing});
      option(std::move(fails));
    }
  }

  void combined() {
    const auto add = [&](const JsonValue& one, bool is_negated) {
      options_.push_back(reader_.clause_of(one, is_negated));
    };
    if (const JsonValue* all = schema_.find("allOf")) {
      for (const JsonValue& one : all->items) add(one, true);
    }
    if (const JsonValue* other = schema_.find("not")) add(*other, false);
    for (const char* keyword : {"anyOf", "oneOf"}) {
      const JsonValue* branches = schema_.find(keyword);
      if (!branches) continue;
      Clause none;
      for (const JsonValue& one : branches->items) none.all.push_back(reader_.clause_of(one, true));
      option(std::move(none));
      if (keyword[0] == 'o') pairs(*branches);
    }
    if (const JsonValue* condition = schema_.find("if")) {
      for (const auto& [keyword, fails] : {std::pair("then", false), std::pair("else", true)}) {
        if (const JsonValue* own = schema_.find(keyword))
          option({.all = {reader_.clause_of(*condition, fails), reader_.clause_of(*own, true)}});
      }
    }
  }

  void pairs(const JsonValue& branches) {
    for (size_t i = 0; branches.items.size() <= kMaxPairs && i < branches.items.size(); ++i) {
      for (size_t j = 0; j < i; ++j)
        option({.all = {reader_.clause_of(branches.items[i]), reader_.clause_of(branches.items[j])}});
    }
  }

  SchemaReader& reader_;
  const JsonValue& schema_;
  const Clause& own_;
  Clauses options_;
};

ClauseId SchemaReader::opposite_of(ClauseId id) {
  if (id <= kNothing) return id == kAnything ? kNothing : kAnything;
  return clause_of(*origins_[id].schema, !origins_[id].is_negated);
}

Result<Clause> SchemaReader::read_negated(const JsonValue& schema) {
  TRY(const Clause own, read(schema));
  Clause out = {.schema = &schema, .opposite = clause_of(schema)};
  Clauses options;
  const bool is_reference = schema.find("$ref") && !references_.siblings_count();
  if (!is_reference) options = Opposite(*this, schema, own).options();
  for (const char* keyword : {"$ref", "$dynamicRef", "$recursiveRef"}) {
    if (!schema.find(keyword)) continue;
    TRY(const JsonValue* target, target_of(schema, keyword));
    options.push_back(clause_of(*target, true));
  }
  out.choices.push_back(std::move(options));
  return out;
}

}  // namespace tern::grammar
