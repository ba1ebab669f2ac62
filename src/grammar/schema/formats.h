// Regular expressions for JSON Schema's `format`.
#pragma once

#include <string_view>

namespace tern::grammar {

struct Format {
  std::string_view name;
  std::string_view pattern;  // every whole text that matches has the format
  std::string_view wide;     // every text that has the format matches; empty: the same
  std::string_view widest() const { return wide.empty() ? pattern : wide; }
};

// nullptr: a format that Tern does not know.
const Format* find_format(std::string_view name);

}  // namespace tern::grammar
