#include "grammar/schema/clauses.h"

#include <algorithm>

#include "base/pauses.h"
#include "base/text/quoted.h"

namespace tern::grammar {
namespace {

using Kind = JsonValue::Kind;

constexpr int kMaxReferences = 200;  // chained one after another
constexpr size_t kMaxClauses = 400'000;

bool is_true(const JsonValue* value) { return value && value->kind == Kind::kTrue; }

// Collects the values in which `$anyOrder` counts.
void find_unordered(const JsonValue& value, bool counts, std::set<const JsonValue*>& out) {
  if (value.kind != Kind::kObject && value.kind != Kind::kArray) return;
  const JsonValue* own = value.kind == Kind::kObject ? value.find("$anyOrder") : nullptr;
  if (own && (own->kind == Kind::kTrue || own->kind == Kind::kFalse)) counts = is_true(own);
  if (counts) out.insert(&value);
  for (const JsonValue& item : value.items) find_unordered(item, counts, out);
}

}  // namespace

void Lengths::meet(const Lengths& other) {
  low = std::max(low, other.low);
  if (other.high) high = std::min(high.value_or(*other.high), *other.high);
}

SchemaReader::SchemaReader(const JsonValue& root) : root_(root), references_(root) {
  find_unordered(root, false, unordered_);
  add({.schema = &root});
  add({.schema = &root, .types = 0, .names_type = true});
}

std::unexpected<Error> SchemaReader::refuse(const JsonValue& schema, std::string_view keyword,
                                            std::string_view why) const {
  std::string place = pointer_to(root_, schema);
  if (!keyword.empty()) place += "/" + std::string(keyword);
  return fail(ErrorCode::kNotSupported, "at {}: {}", tern::quoted(place.empty() ? "/" : place), why);
}

std::unexpected<Error> SchemaReader::refuse(const Clauses& clauses, std::string_view keyword,
                                            std::string_view why) const {
  const auto says = std::ranges::find_if(clauses, [&](ClauseId id) { return at(id).schema->find(keyword); });
  if (says != clauses.end()) return refuse(*at(*says).schema, keyword, why);
  return refuse(clauses.empty() ? root_ : *at(clauses[0]).schema, "", why);
}

bool SchemaReader::in_any_order(const Clauses& clauses) const {
  return std::ranges::any_of(clauses, [this](ClauseId id) { return unordered_.contains(at(id).schema); });
}

ClauseId SchemaReader::clause_of(const JsonValue& schema, bool is_negated) {
  if (schema.kind == Kind::kTrue) return is_negated ? kNothing : kAnything;
  if (schema.kind == Kind::kFalse) return is_negated ? kAnything : kNothing;
  const auto [known, is_new] = known_.try_emplace({&schema, is_negated}, static_cast<ClauseId>(origins_.size()));
  if (is_new) {
    origins_.push_back({&schema, is_negated});
    read_.push_back(nullptr);
  }
  return known->second;
}

ClauseId SchemaReader::add(Clause clause) {
  clauses_.push_back(std::move(clause));
  origins_.push_back({});
  read_.push_back(&clauses_.back());
  return static_cast<ClauseId>(read_.size() - 1);
}

ClauseId SchemaReader::with_types(uint8_t types) {
  ClauseId& known = with_types_[types];
  if (known == kAnything) known = add({.schema = &root_, .types = types, .names_type = true});
  return known;
}

Result<const Clause*> SchemaReader::clause(ClauseId id) {
  TRY_STATUS(read_all(id, 0));
  return read_[id];
}

// Reads a clause and those that it consists of. A schema that leads back to itself without a step into a document has
// no meaning.
Result<void> SchemaReader::read_all(ClauseId id, int depth) {
  enum : uint8_t { kNew, kOpen, kDone };
  visited_.resize(read_.size());
  if (visited_[id] == kDone) return {};
  const JsonValue& schema = read_[id] ? *read_[id]->schema : *origins_[id].schema;
  if (visited_[id] == kOpen) return refuse(schema, "", "this schema refers to itself and says nothing else");
  if (depth > kMaxReferences)
    return refuse(schema, "", format_text("more than {} references one behind the other", kMaxReferences));
  visited_[id] = kOpen;
  if (!read_[id]) {
    const auto [origin, is_negated] = origins_[id];
    if (read_.size() > kMaxClauses) return refuse(*origin, "", "the schema is too large, or has too many alternatives");
    TRY_STATUS(check_keywords(*origin));
    TRY(Clause own, is_negated ? read_negated(*origin) : read(*origin));
    own.schema = origin;
    clauses_.push_back(std::move(own));
    read_[id] = &clauses_.back();
  }
  for (const ClauseId one : at(id).all) TRY_STATUS(read_all(one, depth + 1));
  for (size_t i = 0; i < at(id).choices.size(); ++i) {
    for (const ClauseId one : at(id).choices[i]) TRY_STATUS(read_all(one, depth + 1));
  }
  visited_.resize(read_.size());
  visited_[id] = kDone;
  return {};
}

Result<void> SchemaReader::check_keywords(const JsonValue& schema) const {
  Pauses::check_point(100);
  for (size_t i = 0; i < schema.names.size(); ++i) {
    const Keyword* known = find_keyword(schema.names[i]);
    if (!known || has_shape(schema.items[i], known->shape)) continue;
    auto error = refuse(schema, schema.names[i], expected(known->shape));
    error.error().code = ErrorCode::kInvalidArgument;
    return error;
  }
  return {};
}

Result<Clause> SchemaReader::read(const JsonValue& schema) {
  Clause out = {.schema = &schema};
  TRY_STATUS(read_references(schema, out));
  if (schema.find("$ref") && !references_.siblings_count()) return out;
  for (const std::string& name : schema.names) {
    if (const Keyword* known = find_keyword(name)) out.about |= known->types;
  }
  read_values(schema, out);
  TRY_STATUS(read_numbers(schema, out));
  const auto count = [&](const char* name) { return schema.find(name) ? count_of(*schema.find(name)) : std::nullopt; };
  out.length = {count("minLength").value_or(0), count("maxLength")};
  for (const char* name : {"pattern", "format"}) {
    if (const JsonValue* value = schema.find(name)) out.texts.push_back({value, name[0] == 'f', false});
  }
  out.grammar = schema.find("$lark");
  out.n_items = {count("minItems").value_or(0), count("maxItems")};
  out.n_properties = {count("minProperties").value_or(0), count("maxProperties")};
  read_arrays(schema, out);
  read_objects(schema, out);
  read_choices(schema, out);
  return out;
}

Result<const JsonValue*> SchemaReader::target_of(const JsonValue& schema, std::string_view keyword) const {
  const std::string& to = schema.find(keyword)->text;
  const JsonValue* target = keyword == "$ref"          ? references_.find(schema, to)
                            : keyword == "$dynamicRef" ? references_.find_dynamic(schema, to)
                                                       : references_.find_recursive(schema, to);
  if (target && is_schema(*target)) return target;
  return refuse(schema, keyword, "this must refer to one schema in the same document, as #/$defs/NAME does");
}

Result<void> SchemaReader::read_references(const JsonValue& schema, Clause& out) {
  for (const char* keyword : {"$ref", "$dynamicRef", "$recursiveRef"}) {
    if (!schema.find(keyword)) continue;
    TRY(const JsonValue* target, target_of(schema, keyword));
    out.all.push_back(clause_of(*target));
  }
  return {};
}

void SchemaReader::read_values(const JsonValue& schema, Clause& out) const {
  if (const JsonValue* type = schema.find("type")) {
    out.types = types_named(*type);
    if (is_true(schema.find("nullable"))) out.types |= kNullType;
    out.names_type = true;
  }
  std::vector<std::vector<const JsonValue*>>& lists = out.one_of_values;
  if (const JsonValue* only = schema.find("const")) lists.push_back({only});
  if (const JsonValue* list = schema.find("enum")) {
    lists.emplace_back();
    for (const JsonValue& value : list->items) lists.back().push_back(&value);
  }
  for (const auto& list : lists) {
    uint8_t types = 0;
    for (const JsonValue* value : list) types |= type_of(*value);
    out.types &= types;
    out.names_type = true;
  }
}

Result<void> SchemaReader::read_numbers(const JsonValue& schema, Clause& out) const {
  for (const auto& [name, exclusive, is_low] :
       {std::tuple("minimum", "exclusiveMinimum", true), std::tuple("maximum", "exclusiveMaximum", false)}) {
    const JsonValue* own = schema.find(exclusive);
    const auto meet = [&, is_low = is_low](const JsonValue& value, bool is_inside) -> Result<void> {
      TRY(const Decimal number, Decimal::of(value.text));
      is_low ? out.bounds.add_low({number, is_inside}) : out.bounds.add_high({number, is_inside});
      return {};
    };
    if (const JsonValue* value = schema.find(name)) TRY_STATUS(meet(*value, !is_true(own)));
    if (own && own->kind == Kind::kNumber) TRY_STATUS(meet(*own, false));
  }
  if (const JsonValue* multiple = schema.find("multipleOf")) {
    TRY(const Decimal number, Decimal::of(multiple->text));
    if (number.is_negative || number.is_zero()) return refuse(schema, "multipleOf", "must be greater than 0");
    const auto own = Multiple::of(number);
    if (!own) return refuse(schema, "multipleOf", Multiple::kRange);
    out.bounds.multiple = *own;
  }
  return {};
}

}  // namespace tern::grammar
