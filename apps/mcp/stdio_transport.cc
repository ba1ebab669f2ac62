#include "mcp/stdio_transport.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>

#include "base/start_thread.h"
#include "base/text/quoted.h"
#include "mcp/child_process.h"

namespace tern::mcp {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kToEnd(2000);     // that a server has to end after its input has ended, and again after SIGTERM
constexpr milliseconds kAfterEnd(300);   // that a process has to end after its output has
constexpr milliseconds kLook(10);        // between two looks at a process that is about to end
constexpr size_t kMostLogBytes = 4096;   // of a line of standard error
constexpr int kMostOtherLines = 10'000;  // on standard output that are no messages

// Takes what can be read now; false at the end of the stream.
bool read_available(int fd, std::string& text) {
  char bytes[65536];
  const ssize_t n = ::read(fd, bytes, sizeof bytes);
  if (n > 0) text.append(bytes, static_cast<size_t>(n));
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

// One thread does all reading and writing, so that a server that does not read blocks no caller.
class StdioTransport final : public Transport {
 public:
  StdioTransport(ChildProcess child, Incoming incoming, std::function<void(std::string_view)> on_log)
      : child_(std::move(child)), incoming_(std::move(incoming)), on_log_(std::move(on_log)) {
    if (::pipe(wake_) != 0) wake_[0] = wake_[1] = -1;
    for (const int end : wake_) {
      ::fcntl(end, F_SETFD, FD_CLOEXEC);
      ::fcntl(end, F_SETFL, O_NONBLOCK);
    }
  }

  Result<void> start() {
    sigset_t all, before;  // signals are for the program's other threads; SIGPIPE for none
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    Result<std::jthread> thread = start_thread("its messages", [this] { run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    TRY(thread_, std::move(thread));
    return {};
  }

  ~StdioTransport() override {
    begin_close();
    if (thread_.joinable()) {
      thread_.join();
    } else {
      end_process();
    }
    for (const int end : wake_) ::close(end);
  }

  Result<void> send(const Outgoing& message) override {
    const std::lock_guard lock(mutex_);
    if (closing_ || has_closed_) return fail(ErrorCode::kIo, "has ended");
    if (outbox_.size() > kMaxMessageBytes) return fail(ErrorCode::kIo, "does not read what it is sent");
    outbox_ += message.text + "\n";
    wake();
    return {};
  }

  Result<void> use_version(const std::string&) override { return {}; }

  void begin_close() override {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    wake();
  }

  std::string last_words() const override {
    const std::lock_guard lock(mutex_);
    return last_log_;
  }

 private:
  void wake() const {
    const char byte = 'w';
    [[maybe_unused]] const ssize_t written = ::write(wake_[1], &byte, 1);
  }

  bool is_closing() const {
    const std::lock_guard lock(mutex_);
    return closing_;
  }

  void run() {
    std::string why;
    while (why.empty() && !is_closing()) why = step(-1);
    {
      const std::lock_guard lock(mutex_);
      has_closed_ = true;
    }
    if (!why.empty()) {
      const Clock::time_point deadline = Clock::now() + kAfterEnd;
      while (!child_.has_ended() && Clock::now() < deadline) drain(kLook);
      const std::string how = child_.how_it_ended();
      incoming_.on_closed(how.empty() ? why : "has ended " + how);
    }
    end_process();
  }

  // Waits for something to do and does it. Returns why the server cannot be used any more, else "".
  std::string step(int wait_ms) {
    bool has_mail = false;
    {
      const std::lock_guard lock(mutex_);
      has_mail = !outbox_.empty();
    }
    pollfd ends[] = {{wake_[0], POLLIN, 0},
                     {child_.out(), POLLIN, 0},
                     {child_.err(), POLLIN, 0},
                     {has_mail ? child_.in() : -1, POLLOUT, 0}};
    if (::poll(ends, 4, wait_ms) < 0) return errno == EINTR ? "" : "cannot be read";
    char unread[64];
    while (::read(wake_[0], unread, sizeof unread) > 0) {
    }
    if (ends[2].revents != 0) read_log();
    if (ends[3].revents != 0 && !write_some()) return "has closed its input";
    return ends[1].revents != 0 ? read_messages() : "";
  }

  bool write_some() {
    const std::lock_guard lock(mutex_);
    const ssize_t n = ::write(child_.in(), outbox_.data(), outbox_.size());
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    outbox_.erase(0, static_cast<size_t>(n));
    return true;
  }

  std::string read_messages() {
    const size_t looked_at = unread_.size();
    if (!read_available(child_.out(), unread_)) return "has closed its output";
    size_t begin = 0;
    for (size_t end = unread_.find('\n', looked_at); end != unread_.npos; end = unread_.find('\n', begin)) {
      std::string_view line = std::string_view(unread_).substr(begin, end - begin);
      begin = end + 1;
      while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
      if (line.starts_with('{') || line.starts_with('[')) {
        incoming_.on_message(line);
      } else if (!line.empty()) {  // not allowed, but many a program says hello there
        log(line);
        if (++n_other_lines_ > kMostOtherLines) return "writes text that is no message to its standard output";
      }
    }
    unread_.erase(0, begin);
    if (unread_.size() <= kMaxMessageBytes) return "";
    return format_text("sent a message of more than {} MiB", kMaxMessageBytes >> 20);
  }

  void read_log() {
    if (!read_available(child_.err(), unread_log_)) child_.close_err();
    const bool is_last = child_.err() < 0;
    size_t begin = 0;
    for (size_t end; (end = unread_log_.find('\n', begin)) != unread_log_.npos; begin = end + 1) {
      log(std::string_view(unread_log_).substr(begin, end - begin));
    }
    unread_log_.erase(0, begin);
    if (unread_log_.size() > kMostLogBytes || is_last) log(std::exchange(unread_log_, ""));
  }

  void log(std::string_view line) {
    line = line.substr(0, kMostLogBytes);
    if (line.find_first_not_of(" \t\r") == line.npos) return;
    {
      const std::lock_guard lock(mutex_);
      last_log_ = line;
    }
    if (on_log_) on_log_(line);
  }

  // Reads and forgets, so that the server is not stopped by a full pipe.
  void drain(milliseconds time) {
    pollfd ends[] = {{child_.out(), POLLIN, 0}, {child_.err(), POLLIN, 0}};
    ::poll(ends, 2, static_cast<int>(time.count()));
    std::string forgotten;
    if (ends[0].revents != 0 && !read_available(child_.out(), forgotten)) child_.close_out();
    if (ends[1].revents != 0) read_log();
    if (child_.out() < 0 && child_.err() < 0) std::this_thread::sleep_for(time);
  }

  bool ends_within(milliseconds time) {
    const Clock::time_point deadline = Clock::now() + time;
    while (!child_.has_ended()) {
      if (Clock::now() > deadline) return false;
      drain(kLook);
    }
    return true;
  }

  void end_process() {
    child_.close_in();
    if (!ends_within(kToEnd)) {
      child_.signal_group(SIGTERM);
      ends_within(kToEnd);
    }
    child_.end_group();
  }

  ChildProcess child_;  // used by the thread alone
  const Incoming incoming_;
  const std::function<void(std::string_view)> on_log_;
  std::string unread_, unread_log_;
  int n_other_lines_ = 0;
  int wake_[2] = {-1, -1};

  mutable std::mutex mutex_;
  std::string outbox_;
  std::string last_log_;
  bool closing_ = false;
  bool has_closed_ = false;

  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<Transport>> open_stdio(const ServerConfig& config, Incoming incoming,
                                              std::function<void(std::string_view line)> on_log) {
  TRY(ChildProcess child, ChildProcess::start(config));
  auto transport = std::make_unique<StdioTransport>(std::move(child), std::move(incoming), std::move(on_log));
  TRY_STATUS(transport->start());
  return transport;
}

}  // namespace tern::mcp
