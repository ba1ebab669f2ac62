#include "base/platform/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace tern::platform {
namespace {

// A browser has no folders, although HOME is set.
#ifdef __EMSCRIPTEN__
constexpr bool kHasFolders = false;
#else
constexpr bool kHasFolders = true;
#endif

std::string absolute_path(const char* variable) {
  if (!kHasFolders) return "";
  const char* path = std::getenv(variable);
  return path != nullptr && path[0] == '/' ? path : "";
}

std::string user_folder(const char* variable, const char* below_home) {
  if (const std::string folder = absolute_path(variable); !folder.empty()) return folder;
  const std::string home = absolute_path("HOME");
  return home.empty() ? "" : home + below_home;
}

}  // namespace

int process_id() { return ::getpid(); }

std::string host_name() {
  std::array<char, 256> name = {};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "host";
}

uint64_t peak_memory_bytes() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return static_cast<uint64_t>(usage.ru_maxrss);
#else
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
#endif
}

std::optional<uint64_t> address_space_limit() {
  rlimit memory = {};
  if (::getrlimit(RLIMIT_AS, &memory) != 0 || memory.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return memory.rlim_cur;
}

void allow_open_files(unsigned most) {
  rlimit files = {};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= most) return;
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, most);
  ::setrlimit(RLIMIT_NOFILE, &files);
}

std::string user_cache_folder() { return user_folder("XDG_CACHE_HOME", "/.cache"); }
std::string user_state_folder() { return user_folder("XDG_STATE_HOME", "/.local/state"); }

std::string user_home_folder() {
  const char* home = std::getenv("HOME");
  return home != nullptr ? home : "";
}

std::tm local_time(std::time_t time) {
  std::tm parts{};
  ::localtime_r(&time, &parts);
  return parts;
}

std::tm utc_time(std::time_t time) {
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  return parts;
}

size_t find_bytes(std::string_view text, std::string_view what) {
  const void* found = ::memmem(text.data(), text.size(), what.data(), what.size());
  return found == nullptr ? text.npos : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace tern::platform
