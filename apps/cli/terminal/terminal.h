// Describes what a file descriptor is connected to.
#pragma once

#include <string>
#include <string_view>

namespace tern::cli {

bool is_terminal(int fd);

// Columns of the terminal behind `fd`; 80 if there is none or the width is unknown.
int terminal_width(int fd);

// Colors and weights for text on `fd`: escape sequences on a terminal, nothing elsewhere or if the environment asks for
// none (NO_COLOR not empty, or TERM=dumb).
class Style {
 public:
  static Style of(int fd);
  static Style plain() { return Style(false); }

  bool enabled() const { return enabled_; }
  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string dim(std::string_view text) const { return wrap("2", text); }
  std::string red(std::string_view text) const { return wrap("1;31", text); }
  std::string green(std::string_view text) const { return wrap("32", text); }
  std::string cyan(std::string_view text) const { return wrap("36", text); }

 private:
  explicit Style(bool enabled) : enabled_(enabled) {}
  std::string wrap(std::string_view code, std::string_view text) const;

  bool enabled_;
};

}  // namespace tern::cli
