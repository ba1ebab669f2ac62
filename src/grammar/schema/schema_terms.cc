#include "grammar/schema/schema_terms.h"

#include <algorithm>
#include <numeric>

#include "base/text/quoted.h"
#include "grammar/rules/regex.h"
#include "grammar/rules/utf8_chars.h"
#include "grammar/schema/formats.h"

namespace tern::grammar {
namespace {

constexpr int kMaxReferences = 200;           // chained one after another
constexpr size_t kMaxSchemaWork = 3'000'000;  // schemas visited
constexpr size_t kMaxCount = 1'000'000'000;

using Kind = JsonValue::Kind;

// The required form of a keyword's value.
enum class Shape : uint8_t {
  kAnything,
  kNumber,
  kCount,
  kString,
  kSchema,
  kSchemas,
  kSchemaMap,
  kNames,
  kTypes,
  kList,
  kBoolean
};

struct Keyword {
  std::string_view name;
  Shape shape;
  uint8_t types;  // types that it applies to; 0: any
};

constexpr uint8_t kNumberTypes = kIntegerType | kFractionType;

constexpr Keyword kKeywords[] = {
    {"type", Shape::kTypes, 0},
    {"enum", Shape::kList, 0},
    {"const", Shape::kAnything, 0},
    {"anyOf", Shape::kSchemas, 0},
    {"oneOf", Shape::kSchemas, 0},
    {"allOf", Shape::kSchemas, 0},
    {"$ref", Shape::kString, 0},
    {"$defs", Shape::kSchemaMap, 0},
    {"definitions", Shape::kSchemaMap, 0},
    {"properties", Shape::kSchemaMap, kObjectType},
    {"required", Shape::kNames, kObjectType},
    {"additionalProperties", Shape::kSchema, kObjectType},
    {"minProperties", Shape::kCount, kObjectType},
    {"maxProperties", Shape::kCount, kObjectType},
    {"items", Shape::kSchema, kArrayType},
    {"prefixItems", Shape::kSchemas, kArrayType},
    {"minItems", Shape::kCount, kArrayType},
    {"maxItems", Shape::kCount, kArrayType},
    {"uniqueItems", Shape::kBoolean, kArrayType},
    {"minLength", Shape::kCount, kStringType},
    {"maxLength", Shape::kCount, kStringType},
    {"pattern", Shape::kString, kStringType},
    {"format", Shape::kString, kStringType},
    {"minimum", Shape::kNumber, kNumberTypes},
    {"maximum", Shape::kNumber, kNumberTypes},
    {"exclusiveMinimum", Shape::kNumber, kNumberTypes},
    {"exclusiveMaximum", Shape::kNumber, kNumberTypes},
    {"multipleOf", Shape::kNumber, kNumberTypes},
    // Annotations for people, which change nothing.
    {"title", Shape::kAnything, 0},
    {"description", Shape::kAnything, 0},
    {"default", Shape::kAnything, 0},
    {"example", Shape::kAnything, 0},
    {"examples", Shape::kAnything, 0},
    {"deprecated", Shape::kAnything, 0},
    {"readOnly", Shape::kAnything, 0},
    {"writeOnly", Shape::kAnything, 0},
    {"$schema", Shape::kAnything, 0},
    {"$id", Shape::kAnything, 0},
    {"$comment", Shape::kAnything, 0},
};

constexpr std::pair<std::string_view, uint8_t> kTypeNames[] = {
    {"null", kNullType},     {"boolean", kBooleanType}, {"integer", kIntegerType}, {"number", kNumberTypes},
    {"string", kStringType}, {"array", kArrayType},     {"object", kObjectType}};

std::optional<uint8_t> type_named(const JsonValue& name) {
  if (name.kind != Kind::kString) return std::nullopt;
  for (const auto& [known, bits] : kTypeNames) {
    if (known == name.text) return bits;
  }
  return std::nullopt;
}

std::optional<size_t> count_of(const JsonValue& value) {
  if (value.kind != Kind::kNumber) return std::nullopt;
  const auto number = Decimal::of(value.text);
  if (!number || number->is_negative || !number->is_integer() || number->exponent > 10) return std::nullopt;
  size_t count = 0;
  for (int place = number->exponent - 1; place >= 0; --place)
    count = count * 10 + static_cast<size_t>(number->digit(place));
  return std::min(count, kMaxCount);
}

bool is_schema(const JsonValue& value) {
  return value.kind == Kind::kObject || value.kind == Kind::kTrue || value.kind == Kind::kFalse;
}

bool has_shape(const JsonValue& value, Shape shape) {
  const bool is_list = value.kind == Kind::kArray && !value.items.empty();
  const auto is_string = [](const JsonValue& one) { return one.kind == Kind::kString; };
  switch (shape) {
    case Shape::kAnything:
      return true;
    case Shape::kNumber:
      return value.kind == Kind::kNumber && Decimal::of(value.text);
    case Shape::kCount:
      return count_of(value).has_value();
    case Shape::kString:
      return is_string(value);
    case Shape::kSchema:
      return is_schema(value);
    case Shape::kSchemas:
      return is_list && std::ranges::all_of(value.items, is_schema);
    case Shape::kSchemaMap:
      return value.kind == Kind::kObject && std::ranges::all_of(value.items, is_schema);
    case Shape::kNames:
      return value.kind == Kind::kArray && std::ranges::all_of(value.items, is_string);
    case Shape::kTypes:
      return type_named(value) ||
             (is_list && std::ranges::all_of(value.items, [](const auto& one) { return type_named(one).has_value(); }));
    case Shape::kList:
      return is_list;
    case Shape::kBoolean:
      return value.kind == Kind::kTrue || value.kind == Kind::kFalse;
  }
  return false;
}

std::string_view expected(Shape shape) {
  switch (shape) {
    case Shape::kNumber:
      return "must be a number, of a sensible size";
    case Shape::kCount:
      return "must be a whole number from 0 up";
    case Shape::kString:
      return "must be a string";
    case Shape::kSchema:
      return "must be a schema: an object, true or false";
    case Shape::kSchemas:
      return "must be a list of schemas, and not empty";
    case Shape::kSchemaMap:
      return "must be an object of schemas";
    case Shape::kNames:
      return "must be a list of names";
    case Shape::kTypes:
      return "must be null, boolean, integer, number, string, array or object, or a list of these";
    case Shape::kList:
      return "must be a list that is not empty";
    case Shape::kBoolean:
      return "must be true or false";
    case Shape::kAnything:
      break;
  }
  return "";
}

}  // namespace

uint8_t type_of(const JsonValue& value) {
  switch (value.kind) {
    case Kind::kNull:
      return kNullType;
    case Kind::kFalse:
    case Kind::kTrue:
      return kBooleanType;
    case Kind::kNumber: {
      const auto number = Decimal::of(value.text);
      return number && number->is_integer() ? kIntegerType : kFractionType;
    }
    case Kind::kString:
      return kStringType;
    case Kind::kArray:
      return kArrayType;
    case Kind::kObject:
      break;
  }
  return kObjectType;
}

std::unexpected<Error> SchemaReader::refuse(const JsonValue& schema, std::string_view keyword,
                                            std::string_view why) const {
  std::string place = pointer_to(root_, schema);
  if (!keyword.empty()) place += "/" + std::string(keyword);
  return fail(ErrorCode::kNotSupported, "at {}: {}", tern::quoted(place.empty() ? "/" : place), why);
}

Result<void> SchemaReader::check_keywords(const JsonValue& schema) {
  if (std::exchange(is_checked_[&schema], true)) return {};
  for (size_t i = 0; i < schema.names.size(); ++i) {
    const std::string& name = schema.names[i];
    const auto* const known = std::ranges::find(kKeywords, name, &Keyword::name);
    if (known == std::end(kKeywords))
      return refuse(schema, name, "this keyword is not one that a reply can be held to");
    if (!has_shape(schema.items[i], known->shape)) {
      auto error = refuse(schema, name, expected(known->shape));
      error.error().code = ErrorCode::kInvalidArgument;
      return error;
    }
    if (name == "uniqueItems" && schema.items[i].kind == Kind::kTrue) {
      return refuse(schema, name, "a reply cannot be held to items that all differ");
    }
  }
  return {};
}

Result<void> SchemaReader::add(const Term& term, Found& found, std::vector<const JsonValue*>& open) {
  const JsonValue& schema = *term.schema;
  if (schema.kind == Kind::kTrue) return {};
  if (std::ranges::contains(open, &schema))
    return refuse(schema, "", "this schema refers to itself and says nothing else");
  if (++work_ > kMaxSchemaWork) return refuse(schema, "", "the schema is too large, or has too many alternatives");
  if (open.size() > kMaxReferences)
    return refuse(schema, "", format_text("more than {} references one behind the other", kMaxReferences));
  if (!found.try_emplace(&schema, term.without).second && !open.empty()) return {};
  if (schema.kind == Kind::kFalse) return {};
  TRY_STATUS(check_keywords(schema));
  open.push_back(&schema);
  if (const JsonValue* reference = schema.find("$ref")) {
    const std::string& to = reference->text;
    const JsonValue* target = to.starts_with('#') ? find_at(root_, std::string_view(to).substr(1)) : nullptr;
    if (!target || !is_schema(*target)) {
      return refuse(schema, "$ref", "this must refer to a schema in the same document, as #/$defs/NAME does");
    }
    TRY_STATUS(add({target}, found, open));
  }
  if (const JsonValue* all = schema.find("allOf")) {
    for (const JsonValue& one : all->items) TRY_STATUS(add({&one}, found, open));
  }
  open.pop_back();
  return {};
}

Result<Terms> SchemaReader::flatten(const Terms& terms) {
  Found found;
  for (const Term& term : terms) {
    if (term.schema->kind != Kind::kTrue) found.emplace(term.schema, term.without);
  }
  std::vector<const JsonValue*> open;
  for (const Term& term : terms) TRY_STATUS(add(term, found, open));
  Terms flat;
  for (const auto& [schema, without] : found) flat.push_back({schema, without});
  return flat;
}

Result<uint8_t> SchemaReader::types(const Terms& terms) const {
  uint8_t bits = kAllTypes, about = 0;
  bool is_named = false;
  for (const Term& term : terms) {
    if (term.schema->kind == Kind::kFalse) return uint8_t{0};
    if (const JsonValue* type = term.schema->find("type")) {
      uint8_t own = type_named(*type).value_or(0);
      for (const JsonValue& one : type->items) own |= type_named(one).value_or(0);
      bits &= own;
      is_named = true;
    }
    for (const std::string& name : term.schema->names)
      about |= std::ranges::find(kKeywords, name, &Keyword::name)->types;
  }
  return is_named || about == 0 ? bits : about;
}

Result<NumberBounds> SchemaReader::bounds(const Terms& terms) const {
  NumberBounds out;
  for (const Term& term : terms) {
    for (const auto& [name, is_low, is_inside] :
         {std::tuple("minimum", true, true), std::tuple("exclusiveMinimum", true, false),
          std::tuple("maximum", false, true), std::tuple("exclusiveMaximum", false, false)}) {
      const JsonValue* value = term.schema->find(name);
      if (!value) continue;
      TRY(const Decimal number, Decimal::of(value->text));
      is_low ? out.add_low({number, is_inside}) : out.add_high({number, is_inside});
    }
    if (const JsonValue* multiple = term.schema->find("multipleOf")) {
      constexpr size_t kMost = 1000;
      const auto count = count_of(*multiple);
      if (!count || *count == 0 || *count > kMost) {
        return refuse(*term.schema, "multipleOf",
                      format_text("a reply can be held to multiples of whole numbers from 1 to {}", kMost));
      }
      const auto together = std::lcm(uint64_t{out.multiple_of}, uint64_t{*count});
      if (together > kMost)
        return refuse(*term.schema, "multipleOf",
                      format_text("together with others, a multiple of more than {}", kMost));
      out.multiple_of = static_cast<uint32_t>(together);
    }
  }
  return out;
}

Result<Lengths> SchemaReader::lengths(const Terms& terms, std::string_view least, std::string_view most) const {
  Lengths out;
  for (const Term& term : terms) {
    if (const JsonValue* low = term.schema->find(least)) out.low = std::max(out.low, count_of(*low).value_or(0));
    if (const JsonValue* high = term.schema->find(most)) {
      out.high = std::min(out.high.value_or(kMaxCount), count_of(*high).value_or(0));
    }
  }
  return out;
}

Result<const CharAutomaton*> SchemaReader::automaton_of(const JsonValue& schema, std::string_view keyword) {
  const JsonValue* value = schema.find(keyword);
  if (const auto known = automata_.find(value); known != automata_.end()) return &known->second;
  const bool is_format = keyword == "format";
  const auto pattern = is_format ? format_pattern(value->text) : std::optional<std::string_view>(value->text);
  if (!pattern)
    return refuse(schema, keyword,
                  format_text("the format {} is not one that a reply can be held to", tern::quoted(value->text)));
  auto made = parse_regex(*pattern, is_format ? RegexMatch::kWhole : RegexMatch::kAnywhere);
  if (!made) {
    auto error = refuse(schema, keyword, made.error().message);
    error.error().code = made.error().code;
    return error;
  }
  return &automata_.emplace(value, *std::move(made)).first->second;
}

Result<std::optional<CharAutomaton>> SchemaReader::texts(const Terms& terms) {
  std::optional<CharAutomaton> out;
  for (const Term& term : terms) {
    for (const char* keyword : {"pattern", "format"}) {
      if (!term.schema->find(keyword)) continue;
      TRY(const CharAutomaton* own, automaton_of(*term.schema, keyword));
      out = out ? out->common(*own) : *own;
      if (out->is_full()) return refuse(*term.schema, keyword, "together with others this takes too many states");
    }
  }
  return out;
}

Result<std::optional<std::vector<const JsonValue*>>> SchemaReader::values(const Terms& terms) {
  const JsonValue* list = nullptr;
  std::vector<const JsonValue*> out;
  for (const Term& term : terms) {
    const JsonValue* one = term.schema->find("const");
    const JsonValue* several = term.schema->find("enum");
    if (!one && !several) continue;
    if (one) {
      out.push_back(one);
    } else {
      for (const JsonValue& value : several->items) out.push_back(&value);
    }
    list = one ? one : several;
    break;
  }
  if (!list) return std::nullopt;
  std::vector<const JsonValue*> allowed;
  for (const JsonValue* value : out) {
    TRY(const bool is_allowed, allows(terms, *value));
    if (is_allowed) allowed.push_back(value);
  }
  return allowed;
}

Terms SchemaReader::property(const Terms& terms, std::string_view name, bool* declared) const {
  Terms out;
  for (const Term& term : terms) {
    const JsonValue* properties = term.schema->find("properties");
    const JsonValue* own = properties ? properties->find(name) : nullptr;
    if (own && declared) *declared = true;
    if (!own) own = term.schema->find("additionalProperties");
    if (own) out.push_back({own});
  }
  return out;
}

Terms SchemaReader::item(const Terms& terms, size_t index, bool* declared) const {
  Terms out;
  for (const Term& term : terms) {
    const JsonValue* prefix = term.schema->find("prefixItems");
    const JsonValue* own = prefix && index < prefix->items.size() ? &prefix->items[index] : term.schema->find("items");
    if (own) out.push_back({own});
    if (own && declared) *declared = true;
  }
  return out;
}

std::vector<std::string> SchemaReader::required(const Terms& terms) const {
  std::vector<std::string> out;
  for (const Term& term : terms) {
    const JsonValue* names = term.schema->find("required");
    if (!names) continue;
    for (const JsonValue& name : names->items) out.push_back(name.text);
  }
  std::ranges::sort(out);
  const auto repeated = std::ranges::unique(out);
  out.erase(repeated.begin(), repeated.end());
  return out;
}

std::vector<std::string> SchemaReader::declared_properties(const Terms& terms) const {
  std::vector<std::string> out;
  for (const Term& term : terms) {
    if (const JsonValue* own = term.schema->find("properties"))
      out.insert(out.end(), own->names.begin(), own->names.end());
  }
  return out;
}

bool SchemaReader::forbids_others(const Terms& terms) const {
  return std::ranges::any_of(terms, [](const Term& term) {
    const JsonValue* own = term.schema->find("additionalProperties");
    return own && own->kind == Kind::kFalse;
  });
}

bool SchemaReader::asks_for_others(const Terms& terms) const {
  return std::ranges::any_of(terms,
                             [](const Term& term) { return term.schema->find("additionalProperties") != nullptr; });
}

}  // namespace tern::grammar
