// `tern chat` in a pseudo-terminal, with keys as a terminal sends them.
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
#include <nlohmann/json.hpp>

#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);

// A chat with the default model, and its output so far.
class Terminal {
 public:
  explicit Terminal(const ScratchFolder& folder) {
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
    ::execl(program.c_str(), "tern", "chat", "-m", default_model().c_str(), "--temp", "0", "-n", "3", nullptr);
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

class TerminalTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!terminal_.works()) GTEST_SKIP() << "there are no pseudo-terminals here";
    ASSERT_TRUE(terminal_.shows("/help lists the commands")) << terminal_.all();
    if (!terminal_.shows("\x1b[?2004h")) GTEST_SKIP() << "Tern was built without isocline";
  }

  // The conversation's text, from a saved file.
  std::string story() {
    terminal_.type("/save " + folder_.path("saved.json") + "\r");
    EXPECT_TRUE(terminal_.shows("saved to")) << terminal_.all();
    return nlohmann::json::parse(read_file(folder_.path("saved.json"))).at("messages").at(0).at("content");
  }

  void leave() {
    EXPECT_TRUE(terminal_.shows("\x1b[?2004h"));
    terminal_.type("\x04");
    EXPECT_EQ(terminal_.exit_code(), 0) << terminal_.all();
  }

  ScratchFolder folder_;
  Terminal terminal_{folder_};
};

TEST_F(TerminalTest, KeysEditAndNoneLeavesCharacters) {
  terminal_.type("lived a bear");
  terminal_.type("\x1b[H\x1b[15~\x1b[5~\x1b[2~\x1b[24;5~There ");           // Home, and keys that do nothing
  terminal_.type("\x1b[F\x1b[1;3D\x1b[1;5Dbrown \x1b[F");                   // two words back
  terminal_.type(" x y\x17\x17\x1b[1;5D\x1b[1;5C\x1b[Cand a fox\x1bz.\r");  // two words deleted
  ASSERT_TRUE(terminal_.shows("\x1b[?2004l"));
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h")) << terminal_.all();
  EXPECT_TRUE(story().starts_with("There lived brown a bear and a fox.")) << story();
  leave();
}

TEST_F(TerminalTest, APastedTextIsOneMessageAndComesBackFromTheHistory) {
  terminal_.type("\x1b[200~One day\r\nthe bear\tand\x1b[A the fox\x1b[201~");
  ASSERT_TRUE(terminal_.shows("the fox")) << terminal_.all();
  terminal_.type(" met.\r");
  ASSERT_TRUE(terminal_.shows("\x1b[?2004l"));
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h")) << terminal_.all();
  EXPECT_TRUE(story().starts_with("One day\nthe bear\tand[A the fox met.")) << story();
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h"));
  terminal_.type("/reset\r");
  ASSERT_TRUE(terminal_.shows("forgotten"));
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h"));
  terminal_.type("\x1b[A\x1b[A\x1b[A\x1b[A");  // the message was entered before /reset and /save
  ASSERT_TRUE(terminal_.shows("One day")) << terminal_.all();
  terminal_.type("\r");
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h")) << terminal_.all();
  EXPECT_TRUE(story().starts_with("One day\nthe bear\tand[A the fox met.")) << story();
  leave();
}

TEST_F(TerminalTest, WideCharactersLongLinesAndAnotherWidth) {
  std::string line;
  for (int i = 0; i < 60; ++i) line += "世";
  terminal_.type(line);
  terminal_.resize(30);
  terminal_.type("\x1b[Hx\r");
  ASSERT_TRUE(terminal_.shows("\x1b[?2004l"));
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h")) << terminal_.all();
  EXPECT_TRUE(story().starts_with("x" + line)) << story();
  leave();
}

TEST_F(TerminalTest, TabCompletesCommandsAndTwoSlashesAreNone) {
  terminal_.type("/set te\t0\r");
  EXPECT_TRUE(terminal_.shows("temp is 0")) << terminal_.all();
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h"));
  terminal_.type("//help\r");
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h"));
  EXPECT_TRUE(story().starts_with("/help")) << story();
  leave();
}

TEST_F(TerminalTest, CtrlCEmptiesTheLineAndCtrlDLeaves) {
  terminal_.type("nonsense\x03");
  EXPECT_TRUE(terminal_.shows("press Ctrl-D or type /quit to leave")) << terminal_.all();
  leave();
}

}  // namespace
}  // namespace tern::test
