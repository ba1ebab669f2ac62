#include "source_files.h"

#include <algorithm>

namespace fs = std::filesystem;

namespace tern::structure {

std::vector<std::string> files_below(const fs::path& root, std::initializer_list<std::string_view> folders,
                                     std::initializer_list<std::string_view> extensions) {
  std::vector<std::string> files;
  for (const std::string_view folder : folders) {
    if (!fs::is_directory(root / folder)) continue;
    for (auto entry = fs::recursive_directory_iterator(root / folder); entry != fs::recursive_directory_iterator();
         ++entry) {
      if (entry->path().filename() == "node_modules") entry.disable_recursion_pending();
      if (!entry->is_regular_file() || !std::ranges::contains(extensions, entry->path().extension().string())) continue;
      files.push_back(entry->path().lexically_relative(root).generic_string());
    }
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace tern::structure
