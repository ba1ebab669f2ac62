#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "base/files/unfinished_files.h"
#include "base/platform/process.h"
#include "base/result.h"
#include "cli/sudden_end.h"

namespace tern::cli {
namespace {

constexpr rlim_t kWantedStack = rlim_t{8} << 20;   // what systems usually give
constexpr rlim_t kLeastStack = rlim_t{512} << 10;  // drivers of GPUs crash with 64 kB and work with 128

// What a crash under a limit says; empty without one.
std::array<char, 256> crash_line = {};
std::atomic<bool> is_crashing = false;

// The functions below run inside a signal handler: only system calls, and memory that is already allocated.

// The signal comes again when the handler returns, and then has its default action: SA_RESETHAND.
void on_end(int signal) {
  const int saved_errno = errno;
  remove_unfinished_files();
  ::raise(signal);
  errno = saved_errno;
}

void on_crash(int signal) {
  // Several threads may run into it; only one prints the line.
  while (is_crashing.exchange(true)) ::pause();
  remove_unfinished_files();
  if (crash_line[0] != '\0') {
    size_t n = 0;
    while (n < crash_line.size() && crash_line[n] != '\0') ++n;
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, crash_line.data(), n);
    ::_exit(1);
  }
  ::raise(signal);
}

void on_file_limit(int) {}  // write() then fails with EFBIG. A handler, unlike SIG_IGN, is not inherited by children

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {}, before = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, &before);
  // What was ignored when the program started, as with nohup, stays ignored.
  if (before.sa_handler == SIG_IGN) ::sigaction(signal, &before, nullptr);
}

void note_memory_limit() {
  const std::optional<uint64_t> memory = platform::address_space_limit();
  if (!memory) return;
  std::snprintf(crash_line.data(), crash_line.size(),
                "tern: crashed under a limit of %llu MB of memory ('ulimit -v'), as drivers of GPUs do where memory is "
                "refused; raise the limit, or use -b cpu\n",
                static_cast<unsigned long long>(*memory >> 20));
}

}  // namespace

void handle_end_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF})
    handle(signal, on_end, SA_RESETHAND);
  note_memory_limit();
  for (const int signal : {SIGABRT, SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGSYS}) handle(signal, on_crash, SA_RESETHAND);
  handle(SIGXFSZ, on_file_limit, SA_RESTART);
}

Result<void> widen_stack() {
  rlimit stack = {};
  if (::getrlimit(RLIMIT_STACK, &stack) != 0) return {};
  if (stack.rlim_cur < kWantedStack) {
    stack.rlim_cur = std::min(stack.rlim_max, kWantedStack);
    ::setrlimit(RLIMIT_STACK, &stack);
    // The C library took the size of other threads' stacks from the old limit.
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, kWantedStack);
#ifdef __GLIBC__
    ::pthread_setattr_default_np(&attributes);
#endif
    ::pthread_attr_destroy(&attributes);
  }
  if (stack.rlim_cur >= kLeastStack) return {};
  return fail(ErrorCode::kOutOfMemory, "the stack may have only {} kB here, and the program needs {}; use 'ulimit -s'",
              stack.rlim_cur >> 10, kLeastStack >> 10);
}

}  // namespace tern::cli
