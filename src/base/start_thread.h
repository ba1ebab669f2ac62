// Starting threads, which the system refuses at a limit on processes or memory.
#pragma once

#include <cstddef>
#include <latch>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tern {

// Other code starts no std::thread or std::jthread itself: the exception for a refused one would end the program.
// `purpose` completes "cannot start a thread for ...".
template <class Body>
Result<std::jthread> start_thread(std::string_view purpose, Body&& body) {
  try {
    return std::jthread(std::forward<Body>(body));
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kOutOfMemory,
                "cannot start a thread for {}: {}; end other programs, or raise the limit on processes or memory "
                "('ulimit -u', 'ulimit -v', or the container's)",
                purpose, error.code().message());
  }
}

// Tries to have n more threads at a time, for libraries that would end the program where the system refuses one, or
// wait for a thread that never starts.
inline Result<void> check_threads(size_t n, std::string_view purpose) {
  std::latch end(1);
  std::vector<std::jthread> threads;
  Result<void> result;
  for (size_t i = 0; i < n && result; ++i) {
    Result<std::jthread> thread = start_thread(purpose, [&] { end.wait(); });
    if (thread) {
      threads.push_back(*std::move(thread));
    } else {
      result = std::unexpected(std::move(thread).error());
    }
  }
  end.count_down();
  return result;
}

// Calls body(i) for each i below n, at the same time as far as there are threads. The caller runs those that the system
// refuses a thread. Returns when all are done.
template <class Body>
void run_at_once(size_t n, const Body& body) {
  std::vector<std::jthread> threads;
  threads.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    if (Result<std::jthread> thread = start_thread("a part of the work", [&body, i] { body(i); })) {
      threads.push_back(*std::move(thread));
    } else {
      body(i);
    }
  }
}

}  // namespace tern
