#include "cli/terminal/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

#include "cli/terminal/answer.h"

namespace tern::cli {

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

int terminal_width(int fd) {
  winsize size = {};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void discard_typed() { ::tcflush(STDIN_FILENO, TCIFLUSH); }

std::optional<std::string> read_answer(const InterruptPipe& interrupt) {
  std::string line;
  while (true) {
    pollfd ends[] = {{STDIN_FILENO, POLLIN, 0}, {interrupt.fd(), POLLIN, 0}};
    if (::poll(ends, 2, -1) < 0 && errno != EINTR) return std::nullopt;
    if (ends[1].revents != 0) return std::nullopt;
    if (ends[0].revents == 0) continue;
    char byte = 0;
    const ssize_t n = ::read(STDIN_FILENO, &byte, 1);
    if (n <= 0) return std::nullopt;
    if (byte == '\n') return line;
    line += byte;
  }
}

}  // namespace tern::cli
