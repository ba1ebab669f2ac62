// JSON Schema (draft 2020-12) as rules for the documents that it allows.
#pragma once

#include <string_view>

#include "base/result.h"
#include "grammar/rules/rules.h"

namespace tern::grammar {

// See Grammar::json_schema. Errors name the place in the schema as a JSON pointer.
Result<Rules> parse_schema(std::string_view schema_json);

// See Grammar::tool_call.
Result<Rules> parse_schema_before(std::string_view schema_json, std::string_view end);

// Any JSON object.
Result<Rules> any_json_object();

}  // namespace tern::grammar
