// The project's own files, for tests that read all of them.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tern::structure {

// Files below these folders of `root` with one of these extensions (".cc"), sorted, relative to `root`. Folders that
// are not there have none, and node_modules is left out.
std::vector<std::string> files_below(const std::filesystem::path& root, std::initializer_list<std::string_view> folders,
                                     std::initializer_list<std::string_view> extensions);

}  // namespace tern::structure
