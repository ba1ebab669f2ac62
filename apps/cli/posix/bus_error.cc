#include "cli/bus_error.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/files/unfinished_files.h"

namespace tern::cli {
namespace {

// The functions below run inside a signal handler: only system calls, and memory that is already allocated.

void write_error(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

// Returns the path in a line of /proc/self/maps ("begin-end rw-p offset device inode   /path") if `address` is in it.
std::string_view file_at(std::string_view line, uintptr_t address) {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  const char* const last = line.data() + line.size();
  const auto [dash, bad_begin] = std::from_chars(line.data(), last, begin, 16);
  if (bad_begin != std::errc() || dash == last) return {};
  const auto [rest, bad_end] = std::from_chars(dash + 1, last, end, 16);
  const size_t path = line.find('/');
  if (bad_end != std::errc() || address < begin || address >= end || path == line.npos) return {};
  return line.substr(path);
}

// Returns the file that is mapped at `address`; empty if not found. Lines longer than `buffer` are skipped.
std::string_view mapped_file_at(uintptr_t address, std::span<char> buffer) {
  const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return {};
  size_t n_held = 0;
  while (true) {
    const ssize_t n = ::read(maps, buffer.data() + n_held, buffer.size() - n_held);
    if (n <= 0) break;
    std::string_view held(buffer.data(), n_held + static_cast<size_t>(n));
    for (size_t end = held.find('\n'); end != held.npos; end = held.find('\n')) {
      const std::string_view file = file_at(held.substr(0, end), address);
      if (!file.empty()) return file;  // the program ends: nothing to close
      held.remove_prefix(end + 1);
    }
    n_held = held.size() == buffer.size() ? 0 : held.size();
    std::copy(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(n_held), buffer.begin());
  }
  ::close(maps);
  return {};
}

std::array<char, 8192> maps_buffer;
std::atomic<bool> is_ending = false;

void on_bus_error(int signal, siginfo_t* info, void*) {
  if (info->si_code != BUS_ADRERR) {  // not a file's fault: default action
    std::signal(signal, SIG_DFL);
    ::raise(signal);
    return;
  }
  // All worker threads run into it; only one prints the message.
  while (is_ending.exchange(true)) ::pause();
  const std::string_view file = mapped_file_at(reinterpret_cast<uintptr_t>(info->si_addr), maps_buffer);
  write_error("tern: ");
  write_error(file.empty() ? "a file" : file);
  write_error(
      ": the file became shorter, or its disk failed, while it was in use; nothing may write to a model meanwhile\n");
  remove_unfinished_files();
  ::_exit(1);
}

}  // namespace

void explain_bus_errors() {
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace tern::cli
