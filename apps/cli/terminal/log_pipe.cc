#include "cli/terminal/log_pipe.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace tern::cli {

bool LogPipe::takes_some() const {
  const auto patience = n_lost_ == 0 ? patience_ : std::chrono::milliseconds(0);
  pollfd end = {.fd = fd_, .events = POLLOUT, .revents = 0};
  int n = 0;
  do {
    n = ::poll(&end, 1, static_cast<int>(patience.count()));
  } while (n < 0 && errno == EINTR);
  return n > 0;
}

void LogPipe::write(std::string_view line) {
  const std::scoped_lock lock(mutex_);
  if (!takes_some()) {
    ++n_lost_;
    return;
  }
  std::string whole(line);
  whole += '\n';
  if (n_lost_ > 0)
    whole.insert(0, std::to_string(n_lost_) + " lines of this log were lost, because they were not read\n");
  n_lost_ = 0;
  // One write, so that lines of several programs do not mix.
  std::string_view rest = whole;
  while (!rest.empty()) {
    const ssize_t n = ::write(fd_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    rest.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace tern::cli
