#include <algorithm>

#include "cli/support/run_quietly.h"

namespace tern::cli {

std::vector<std::string> command_before_arguments(std::string_view command_line) {
  std::vector<std::string> words;
  const auto next = [&] {
    const size_t end = std::min(command_line.find('\0'), command_line.size());
    words.emplace_back(command_line.substr(0, end));
    command_line.remove_prefix(std::min(end + 1, command_line.size()));
  };
  next();
  const auto is_loaders = [&] {
    return command_line.starts_with(std::string_view("--argv0\0", 8)) ||
           command_line.starts_with(std::string_view("--library-path\0", 15));
  };
  if (!is_loaders()) return words;
  while (is_loaders()) {
    next();
    next();
  }
  next();
  return words;
}

}  // namespace tern::cli
