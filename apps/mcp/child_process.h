// A program with pipes for its standard input, output and error.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "mcp/config.h"

namespace tern::mcp {

class ChildProcess {
 public:
  // Starts the program in a process group of its own, so that Ctrl-C in the terminal does not reach it. It gets this
  // process's variables, but not those with Tern's own keys. kNotFound, kIo: it cannot be started.
  static Result<ChildProcess> start(const ServerConfig& config);

  ChildProcess(ChildProcess&& other) noexcept { *this = std::move(other); }
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();  // kills what is left of the group

  // The ends of the pipes, not blocking; -1 once closed.
  int in() const { return in_; }
  int out() const { return out_; }
  int err() const { return err_; }
  void close_in();
  void close_out();
  void close_err();

  // True once the program has ended. The group's id stays taken until end_group(), so signals reach no other.
  bool has_ended();
  void signal_group(int signal) const;
  void end_group();  // kills the rest of the group and forgets the process

  // "with exit code 1", "by signal 9"; "" while it runs.
  std::string how_it_ended() const;

 private:
  ChildProcess() = default;

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
  bool ended_ = false;
  int code_ = 0;
  bool by_signal_ = false;
};

}  // namespace tern::mcp
