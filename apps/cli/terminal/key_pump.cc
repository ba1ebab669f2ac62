#include "cli/terminal/key_pump.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/start_thread.h"

namespace tern::cli {
namespace {

constexpr std::string_view kMarkPastes = "\x1b[?2004h";
constexpr std::string_view kDoNotMarkPastes = "\x1b[?2004l";
constexpr std::string_view kNoKey = "\x1b[99~";   // makes the editor check the window size and nothing else
constexpr std::string_view kDrawAgain = " \x7f";  // a space that is deleted immediately
constexpr int kSequenceMs = 50;                   // the bytes of one key arrive together
constexpr int kAnswerMs = 500;                    // the editor needs a millisecond

// State that the handler of ending signals uses.
std::atomic<int> raw_fd = -1;
termios cooked;
struct sigaction term_before, hup_before;

void tell(int fd, std::string_view text) { [[maybe_unused]] const ssize_t n = ::write(fd, text.data(), text.size()); }

void on_end(int signal) {
  if (raw_fd >= 0) {
    ::tcsetattr(raw_fd, TCSANOW, &cooked);
    tell(STDERR_FILENO, kDoNotMarkPastes);
  }
  ::sigaction(signal, signal == SIGHUP ? &hup_before : &term_before, nullptr);
  ::raise(signal);
}

void make_pipe(int (&ends)[2], bool reader_waits) {
  if (::pipe(ends) != 0) {
    ends[0] = ends[1] = -1;
    return;
  }
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  if (!reader_waits) ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

}  // namespace

RawTerminal::RawTerminal(int fd) : fd_(fd) {
  ::tcgetattr(fd_, &before_);
  cooked = before_;
  raw_fd = fd_;
  struct sigaction action = {};
  action.sa_handler = on_end;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGTERM, &action, &term_before);
  ::sigaction(SIGHUP, &action, &hup_before);
  if (hup_before.sa_handler == SIG_IGN) ::sigaction(SIGHUP, &hup_before, nullptr);
  enter();
}

RawTerminal::~RawTerminal() {
  leave();
  raw_fd = -1;
  ::sigaction(SIGTERM, &term_before, nullptr);
  ::sigaction(SIGHUP, &hup_before, nullptr);
}

// TCSADRAIN keeps earlier input: it belongs to the line.
void RawTerminal::enter() {
  termios raw = before_;
  raw.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
  raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN | ISIG);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(fd_, TCSADRAIN, &raw);
  tell(STDERR_FILENO, kMarkPastes);
}

void RawTerminal::leave() {
  tell(STDERR_FILENO, kDoNotMarkPastes);
  ::tcsetattr(fd_, TCSADRAIN, &before_);
}

void RawTerminal::suspend() {
  leave();
  ::kill(0, SIGTSTP);  // the whole group, like the terminal: a calling script stops too
  enter();
}

KeyPump::KeyPump(int terminal) : terminal_(terminal) {
  make_pipe(keys_, /*reader_waits=*/true);
  make_pipe(wake_, /*reader_waits=*/false);
}

KeyPump::~KeyPump() {
  stop();
  for (const int fd : {keys_[0], keys_[1], wake_[0], wake_[1]}) {
    if (fd >= 0) ::close(fd);
  }
}

bool KeyPump::start() {
  interrupted_ = false;
  waiting_ = false;
  interrupt_.emplace(InterruptPipe::SecondPress::kRepeats);
  raw_.emplace(terminal_);
  sigset_t all, before;  // window signals go to the drawing thread
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  Result<std::jthread> thread = start_thread("the keyboard", [this] { run(*raw_, *interrupt_); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!thread) {
    raw_.reset();
    interrupt_.reset();
    return false;
  }
  thread_ = *std::move(thread);
  return true;
}

void KeyPump::stop() {
  if (!thread_.joinable()) return;
  tell(wake_[1], "q");
  thread_.join();
  raw_.reset();
  interrupt_.reset();
}

void KeyPump::resized() { tell(wake_[1], "w"); }

std::optional<EditAction> KeyPump::take_action() {
  const std::lock_guard lock(mutex_);
  if (actions_.empty()) return std::nullopt;
  EditAction action = std::move(actions_.front());
  actions_.pop_front();
  return action;
}

void KeyPump::answer(std::string keys) {
  {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(keys);
  }
  tell(wake_[1], "a");
}

bool KeyPump::take_tab() {
  if (n_tabs_ <= 0) return false;
  --n_tabs_;
  return true;
}

void KeyPump::run(RawTerminal& raw, const InterruptPipe& interrupt) {
  while (true) {
    const bool full = !unsent_.empty() && !waiting_;  // then stop reading
    pollfd ends[] = {{wake_[0], POLLIN, 0},
                     {interrupt.fd(), POLLIN, 0},
                     {full || ended_ ? -1 : terminal_, POLLIN, 0},
                     {full ? keys_[1] : -1, POLLOUT, 0}};
    const int ready = ::poll(ends, 4, filter_.in_sequence() ? kSequenceMs : waiting_ ? kAnswerMs : -1);
    if (ready < 0 && errno != EINTR) return;
    if (ready == 0) {
      if (!filter_.in_sequence()) waiting_ = false;  // the editor ignored the key in its current state
      filter_.end_sequence();
      send();
    }
    if (ready <= 0) continue;
    char message = 0;
    while (::read(wake_[0], &message, 1) == 1) {
      if (message == 'q') return;
      if (message == 'w') unsent_ += kNoKey;
      if (message == 'a') take_answer();
    }
    if (ends[1].revents != 0) {
      char unread[16];
      while (::read(interrupt.fd(), unread, sizeof unread) > 0) {
      }
      FilteredKeys interrupt_key;
      interrupt_key.keys = "\x03";
      forward(std::move(interrupt_key));
    }
    if (ends[2].revents != 0) read_terminal(raw);
    send();
  }
}

void KeyPump::read_terminal(RawTerminal& raw) {
  char bytes[4096];
  const ssize_t n = ::read(terminal_, bytes, sizeof bytes);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) {
    ended_ = true;
    unsent_ += '\x03';
    return;
  }
  FilteredKeys keys = filter_.feed({bytes, static_cast<size_t>(n)});
  const bool suspend = keys.suspend;
  forward(std::move(keys));
  if (!suspend) return;
  raw.suspend();
  unsent_ += kDrawAgain;
}

void KeyPump::forward(FilteredKeys keys) {
  if (keys.keys.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    for (EditAction& action : keys.actions) actions_.push_back(std::move(action));
  }
  n_tabs_ += keys.n_tabs;
  interrupted_ = keys.keys.ends_with('\x03');
  unsent_ += keys.keys;
}

void KeyPump::take_answer() {
  const std::lock_guard lock(mutex_);
  unsent_.insert(0, std::exchange(answer_, ""));
  waiting_ = false;
}

// Sends up to the next action, because later keys may depend on its result.
void KeyPump::send() {
  while (!unsent_.empty() && !waiting_) {
    const bool is_action = unsent_.starts_with(KeyFilter::kActionKey);
    const size_t size =
        is_action ? KeyFilter::kActionKey.size() : std::min(unsent_.find(KeyFilter::kActionKey), unsent_.size());
    const ssize_t n = ::write(keys_[1], unsent_.data(), size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    unsent_.erase(0, static_cast<size_t>(n));
    waiting_ = is_action;
  }
}

}  // namespace tern::cli
