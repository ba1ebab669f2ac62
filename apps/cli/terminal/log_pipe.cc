#include "cli/terminal/log_pipe.h"

#include <unistd.h>

#include <cerrno>
#include <string>

namespace tern::cli {

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
    const auto n = ::write(fd_, rest.data(), static_cast<unsigned>(rest.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    rest.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace tern::cli
