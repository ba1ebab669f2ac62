// Checks file names in a model's directory.
#pragma once

#include <string_view>

namespace tern {

// True if `name`, from an index, is a file in the directory itself: an index must not make Tern open files elsewhere.
inline bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

}  // namespace tern
