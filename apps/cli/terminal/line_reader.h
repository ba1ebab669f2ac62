// Reads lines from standard input: with editing and a history on a terminal, unchanged otherwise.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tern::cli {

// A line that Tab offers as a completion, with its help.
struct Completion {
  std::string text;
  std::string help;
};

class LineReader {
 public:
  enum class Event { kLine, kInterrupted, kEnd };  // kInterrupted: Ctrl-C, nothing was entered

  // Editing requires that standard input and standard error, where the prompt goes, are terminals.
  static std::unique_ptr<LineReader> open(std::vector<Completion> completions);
  virtual ~LineReader() = default;

  // Returns the line without its final line break. An edited or pasted line may contain others.
  virtual Event read(const std::string& prompt, std::string& line) = 0;
};

// One line without editing, after the prompt.
LineReader::Event read_plainly(const std::string& prompt, std::string& line);

}  // namespace tern::cli
