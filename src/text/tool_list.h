// The functions that a request offers, ChatOptions::tools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tern {

struct Tool {
  std::string name;
  std::string_view parameters;  // a JSON schema, as written: the order of properties is the order of what it describes
  bool is_strict = false;       // the model's calls are to be valid by it
};

// kInvalidArgument: what is wrong with the list. Parts of the tools point into `text`.
Result<std::vector<Tool>> read_tools(std::string_view text);

}  // namespace tern
