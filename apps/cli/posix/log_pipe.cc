#include "cli/terminal/log_pipe.h"

#include <poll.h>

#include <cerrno>

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

}  // namespace tern::cli
