// `tern chat` in a pseudo-terminal, for tests.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "end_to_end/run_program.h"

namespace tern::test {

inline constexpr auto kPatience = std::chrono::seconds(60);

// A chat with the default model, and its output so far.
class Terminal {
 public:
  explicit Terminal(const ScratchFolder& folder, std::vector<std::string> more = {"-n", "3"}) {
    master_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0) return;
    const std::string slave = ::ptsname(master_);
    const winsize size = {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(master_, TIOCSWINSZ, &size);
    const std::string state = folder.path("");
    const std::string program = program_path();
    process_ = ::fork();
    if (process_ != 0) return;
    ::setsid();
    const int fd = ::open(slave.c_str(), O_RDWR);
    for (const int standard : {0, 1, 2}) ::dup2(fd, standard);
    ::setenv("XDG_STATE_HOME", state.c_str(), 1);
    ::setenv("TERM", "xterm", 1);
    ::setenv("NO_COLOR", "1", 1);
    std::vector<std::string> words = {"tern", "chat", "-m", default_model(), "--temp", "0"};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(program.c_str(), pointers.data());
    ::_exit(127);
  }
  ~Terminal() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    if (master_ >= 0) ::close(master_);
  }

  bool works() const { return process_ > 0; }

  void type(std::string_view keys) { EXPECT_EQ(::write(master_, keys.data(), keys.size()), std::ssize(keys)); }

  // Waits until `text` appears after the texts that earlier calls waited for.
  bool shows(const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (shown_.find(text, seen_) == shown_.npos) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      if (!read_some()) return shown_.find(text, seen_) != shown_.npos;
    }
    seen_ = shown_.find(text, seen_) + text.size();
    return true;
  }

  int exit_code() {
    while (read_some()) {
    }
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  void resize(unsigned short columns) {
    const winsize size = {.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(master_, TIOCSWINSZ, &size);
    ::kill(process_, SIGWINCH);
  }

  const std::string& all() const { return shown_; }

 private:
  bool read_some() {
    pollfd ready = {.fd = master_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())) <= 0) return false;
    char bytes[4096];
    const ssize_t n = ::read(master_, bytes, sizeof bytes);
    if (n > 0) shown_.append(bytes, static_cast<size_t>(n));
    return n > 0;
  }

  int master_ = -1;
  pid_t process_ = -1;
  std::string shown_;
  size_t seen_ = 0;
};

}  // namespace tern::test
