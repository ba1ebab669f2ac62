// The result of a tools/call, as text for a model.
#pragma once

#include "base/json_reader.h"
#include "mcp/session.h"

namespace tern::mcp {

// Texts follow each other; images, sounds and other bytes are named in brackets. Structured content is taken if there
// is nothing else.
ToolOutput read_output(const Json& result);

}  // namespace tern::mcp
