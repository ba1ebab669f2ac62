// The functions that a request offers (ChatOptions::tools).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tern {

struct Tool {
  std::string name;
  std::string_view parameters;  // a JSON schema as written; its order of properties is that of the arguments
  bool is_strict = false;       // the model's calls must be valid by the schema
};

// kInvalidArgument: the list is invalid. Parts of the tools point into `text`.
Result<std::vector<Tool>> read_tools(std::string_view text);

}  // namespace tern
