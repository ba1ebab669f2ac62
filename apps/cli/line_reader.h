// Lines from standard input: with editing and a history where a person types, as they are where not.
#pragma once

#include <memory>
#include <string>

namespace tern::cli {

class LineReader {
 public:
  enum class Event { kLine, kInterrupted, kEnd };  // kInterrupted: Ctrl-C, nothing was entered

  // Editing needs a terminal at both standard input and standard error, where the prompt goes.
  static std::unique_ptr<LineReader> open();
  virtual ~LineReader() = default;

  virtual Event read(const std::string& prompt, std::string& line) = 0;  // without the line break
};

}  // namespace tern::cli
