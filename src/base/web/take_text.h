// Takes texts that JavaScript allocated for C++.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace tern {

// Copies and frees a text allocated with malloc. Null gives "".
inline std::string take_text(char* text) {
  const std::string taken = text ? text : "";
  std::free(text);
  return taken;
}

// Splits at the separators; an empty text has no parts.
inline std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace tern
