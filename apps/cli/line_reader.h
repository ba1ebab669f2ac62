// Lines from standard input: with editing and a history where a person types, as they are where not.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tern::cli {

// The beginning of a line that Tab can complete, and what it does.
struct Completion {
  std::string text;
  std::string help;
};

class LineReader {
 public:
  enum class Event { kLine, kInterrupted, kEnd };  // kInterrupted: Ctrl-C, nothing was entered

  // Editing needs a terminal at both standard input and standard error, where the prompt goes.
  static std::unique_ptr<LineReader> open(std::vector<Completion> completions);
  virtual ~LineReader() = default;

  // Without the line break at its end. An edited or pasted one may hold others.
  virtual Event read(const std::string& prompt, std::string& line) = 0;
};

}  // namespace tern::cli
