#include "cli/terminal/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

#include "base/result.h"
#include "cli/terminal/terminal.h"

namespace tern::cli {
namespace {

const char* remedy(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; free some space, or write elsewhere";
    default:
      return "";
  }
}

bool pipe_closed = false;

Result<void> output_error(int error) {
  pipe_closed = pipe_closed || error == EPIPE;
  const std::string reason = std::generic_category().message(error);
  return fail(ErrorCode::kIo, "cannot write to standard output: {}{}", reason, remedy(error));
}

// C0 control characters except tab and line feed, and DEL.
bool is_control(unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F; }

std::string without_controls(std::string_view text) {
  constexpr std::string_view kReplacement = "\uFFFD";
  std::string safe;
  safe.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (is_control(c)) {
      safe += kReplacement;
    } else if (c == 0xC2 && next >= 0x80 && next < 0xA0) {  // C1 controls as UTF-8; U+009B starts escape sequences too
      safe += kReplacement;
      ++i;
    } else {
      safe += text[i];
    }
  }
  return safe;
}

}  // namespace

void prepare_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // open() uses the lowest free number, `fd`. The wrong direction makes every later use fail, as before.
    if (::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

bool is_output_pipe_closed() { return pipe_closed; }

void die_of_closed_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  ::raise(SIGPIPE);
  ::_exit(128 + SIGPIPE);  // reached if SIGPIPE is blocked
}

Result<void> print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return output_error(errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Result<void> print_untrusted(std::string_view text) {
  static const bool on_terminal = is_terminal(STDOUT_FILENO);
  return on_terminal ? print(without_controls(text)) : print(text);
}

Result<void> close_output() {
  if (::close(STDOUT_FILENO) != 0 && errno != EBADF && errno != EINTR) return output_error(errno);
  return {};
}

}  // namespace tern::cli
