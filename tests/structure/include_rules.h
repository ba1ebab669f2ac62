// Which folder may include which: the project's layers as one table, and a check of a source tree against it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tern::structure {

struct FolderRule {
  std::string_view folder;  // relative to the root of the tree; its subfolders without a row belong to it
  std::vector<std::string_view> may_include;  // folders, besides itself and include/tern
};

// The table. A row's folder may not include folders that the row does not name.
const std::vector<FolderRule>& include_table();

// Checks every C++ file below include/, src/ and apps/ of `root`. Returns one line per violation,
// "src/file/gguf/gguf.cc:12: src/file may not include src/model (model/source/config.h)", sorted by file; empty if all
// is well.
std::vector<std::string> check_includes(const std::filesystem::path& root);

// Folders that include each other, over one or more steps: "src/a -> src/b -> src/a" for each folder that is part of a
// cycle. Code of tests does not count.
std::vector<std::string> find_folder_cycles(const std::filesystem::path& root);

}  // namespace tern::structure
