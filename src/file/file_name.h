// Names of files in a model's directory.
#pragma once

#include <filesystem>
#include <string_view>

namespace tern {

// Whether `name`, from an index, is a file in the directory itself: an index must not make Tern open files elsewhere.
inline bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

inline bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace tern
