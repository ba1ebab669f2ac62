// Files to remove if the program ends before they are complete.
#pragma once

#include <string>

namespace tern {

// Lists a file for its lifetime.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(const std::string& path);
  UnfinishedFile(UnfinishedFile&& other) noexcept;
  UnfinishedFile& operator=(UnfinishedFile&&) = delete;
  ~UnfinishedFile();

 private:
  int place_ = -1;  // -1: not listed, as the list was full
};

// Removes the files that are listed. Signal handlers may call this: it only makes system calls. The program ends
// afterwards.
void remove_unfinished_files() noexcept;

}  // namespace tern
