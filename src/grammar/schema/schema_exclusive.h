// Checks that two schemas allow no value in common, as JSON Schema's oneOf requires of its branches.
#pragma once

#include <span>

#include "grammar/schema/schema_terms.h"

namespace tern::grammar {

// True if it is certain that `other` allows no value that a reply to `said` may have. Replies have only the properties
// that `said` names, unless it asks for others.
Result<bool> excludes(SchemaReader& reader, const Terms& said, const Terms& other, int depth = 0);

// Refuses the `branches` of a schema's oneOf, each of which `said` describes in full, unless all exclude each other.
Result<void> check_exclusive(SchemaReader& reader, const JsonValue& schema, std::span<const Terms> said,
                             const JsonValue& branches);

}  // namespace tern::grammar
