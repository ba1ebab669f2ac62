// Whether two schemas allow no value together, as the branches of oneOf must not.
#pragma once

#include "grammar/schema_terms.h"

namespace tern::grammar {

// Whether no value that a reply to `said` may be is allowed by `other`: true only where that is sure. Replies have no
// properties that `said` does not name, unless it asks for others.
Result<bool> excludes(SchemaReader& reader, const Terms& said, const Terms& other, int depth = 0);

}  // namespace tern::grammar
