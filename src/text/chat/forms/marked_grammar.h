// The grammar of calls between marks.
#pragma once

#include <string>
#include <vector>

#include "tern/chat_reply.h"
#include "text/chat/forms/tool_list.h"

namespace tern {

// A tool and the schema of its arguments, a reference into `definitions`.
struct CalledTool {
  std::string name;
  std::string schema;
};

// `definitions` is what the schemas refer to, members of "$defs".
ToolCallGrammar marked_call_grammar(const ToolCallFormat& format, const std::vector<CalledTool>& tools,
                                    const std::string& definitions, const ToolChoice& choice);

}  // namespace tern
