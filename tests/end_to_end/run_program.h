// Runs the real `tern` and returns all of its output.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tern::test {

inline constexpr const char* kPrompt = "Once upon a time";  // the default model continues it for many tokens

struct RunOptions {
  std::string input = {};                                           // standard input
  std::string output_path = {};                                     // file for standard output; empty: into `out`
  bool closed_pipe = false;                                         // standard output is a pipe without a reader
  std::vector<std::pair<std::string, std::string>> variables = {};  // added to the environment
  double timeout_seconds = 120;
  // Called whenever standard output has grown.
  std::function<void(pid_t process, const std::string& out)> on_output = {};
  // Called about ten times a second.
  std::function<void(pid_t process)> on_tick = {};
  // Called whenever standard error has grown.
  std::function<void(pid_t process, const std::string& err)> on_errors = {};
};

struct RunResult {
  int exit_code = -1;  // 128 + the signal's number if a signal ended it; -1 after the timeout
  std::string out;
  std::string err;
};

RunResult run_tern(const std::vector<std::string>& arguments, const RunOptions& options = {});

// The `tern` of this build; or $TERN_TEST_PROGRAM, which may be a script that runs one of another system.
std::string program_path();

// Path of the default model in the repository.
std::string default_model();

// A prompt that the default model continues in the same way on every backend: each of the next 24 tokens is ahead of
// the second best by 0.9 in log probability, far more than any rounding.
inline constexpr const char* kClearStart = "The king";

// Success if the program failed as documented: with this exit code, nothing on standard output, and one line "tern: …"
// on standard error that contains all of `words`.
testing::AssertionResult failed_with(const RunResult& result, int exit_code, const std::vector<std::string>& words);

// A temporary folder of this test, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& bytes) const;

 private:
  std::string path_;
};

std::string read_file(const std::string& path);

}  // namespace tern::test
