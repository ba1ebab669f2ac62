#include "cli/terminal/output.h"

#include <unistd.h>

#include <cerrno>
#include <span>
#include <string>
#include <system_error>

#include "base/platform/disk_file.h"
#include "base/result.h"
#include "cli/terminal/terminal.h"

namespace tern::cli {
namespace {

bool pipe_closed = false;

Result<void> output_error(std::error_code error) {
  pipe_closed = pipe_closed || error == std::errc::broken_pipe;
  return fail(ErrorCode::kIo, "cannot write to standard output: {}{}", error.message(),
              platform::is_disk_full(error) ? "; free some space, or write elsewhere" : "");
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

bool is_output_pipe_closed() { return pipe_closed; }

Result<void> print(std::string_view text) {
  static platform::DiskFile output = platform::DiskFile::standard_output();
  const auto written = output.write(std::as_bytes(std::span(text)));
  return written ? Result<void>() : output_error(written.error());
}

Result<void> print_untrusted(std::string_view text) {
  static const bool on_terminal = is_terminal(STDOUT_FILENO);
  return on_terminal ? print(without_controls(text)) : print(text);
}

Result<void> close_output() {
  if (::close(STDOUT_FILENO) != 0 && errno != EBADF && errno != EINTR)
    return output_error({errno, std::generic_category()});
  return {};
}

}  // namespace tern::cli
