// Texts that JavaScript leaves for C++.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace tern {

// A text in memory of malloc, which is freed. Null is "".
inline std::string take_text(char* text) {
  const std::string taken = text ? text : "";
  std::free(text);
  return taken;
}

// What stands between the separators; nothing of an empty text.
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
