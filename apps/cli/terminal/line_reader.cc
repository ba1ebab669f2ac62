#include "cli/terminal/line_reader.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "cli/terminal/editing_reader.h"
#include "cli/terminal/terminal.h"

namespace tern::cli {
namespace {

class PlainReader : public LineReader {
 public:
  explicit PlainReader(bool shows_prompt) : shows_prompt_(shows_prompt) {}

  Event read(const std::string& prompt, std::string& line) override {
    return read_plainly(shows_prompt_ ? prompt : std::string(), line);
  }

 private:
  const bool shows_prompt_;
};

}  // namespace

LineReader::Event read_plainly(const std::string& prompt, std::string& line) {
  std::fputs(prompt.c_str(), stderr);
  if (!std::getline(std::cin, line)) return LineReader::Event::kEnd;
  if (line.ends_with('\r')) line.pop_back();
  return LineReader::Event::kLine;
}

std::unique_ptr<LineReader> LineReader::open(std::vector<Completion> completions) {
  const bool person = is_terminal(STDIN_FILENO) && is_terminal(STDERR_FILENO);
  const char* term = std::getenv("TERM");
  if (person && term && std::string_view(term) != "dumb") {
    if (std::unique_ptr<LineReader> editor = open_editing_reader(std::move(completions))) return editor;
  }
  return std::make_unique<PlainReader>(person);
}

}  // namespace tern::cli
