#include "base/files/unfinished_files.h"

#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/platform/disk_file.h"

namespace tern {
namespace {

constexpr size_t kMost = 256;  // more than any program writes at once; others stay, and the next writer removes them

// Paths, each of which belongs to the one that takes it out: a listed file's destructor, or the end of the program.
std::array<std::atomic<const char*>, kMost> paths;
// Those that the end of the program took. A signal handler may not free them, so they stay here, where leak checkers
// find them.
std::array<const char*, kMost> taken;

}  // namespace

UnfinishedFile::UnfinishedFile(const std::string& path) {
  char* copy = new char[path.size() + 1];
  std::memcpy(copy, path.c_str(), path.size() + 1);
  for (size_t i = 0; i < kMost; ++i) {
    const char* none = nullptr;
    if (!paths[i].compare_exchange_strong(none, copy)) continue;
    place_ = static_cast<int>(i);
    return;
  }
  delete[] copy;
}

UnfinishedFile::UnfinishedFile(UnfinishedFile&& other) noexcept : place_(std::exchange(other.place_, -1)) {}

UnfinishedFile::~UnfinishedFile() {
  if (place_ >= 0) delete[] paths[static_cast<size_t>(place_)].exchange(nullptr);
}

void remove_unfinished_files() noexcept {
  for (size_t i = 0; i < kMost; ++i) {
    const char* path = paths[i].exchange(nullptr);
    if (!path) continue;
    platform::remove_file_at_end(path);
    taken[i] = path;
  }
}

}  // namespace tern
