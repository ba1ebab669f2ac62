#include <cstdlib>

#include "cli/terminal/layout.h"
#include "cli/terminal/terminal.h"

namespace tern::cli {

Style Style::of(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool refused = (no_color && *no_color) || (term && std::string_view(term) == "dumb");
  return Style(is_terminal(fd) && !refused);
}

std::string Style::wrap(std::string_view code, std::string_view text) const {
  if (!enabled_) return std::string(text);
  return format_text("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace tern::cli
