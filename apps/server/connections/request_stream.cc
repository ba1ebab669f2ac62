#include "server/connections/request_stream.h"

#include <algorithm>

namespace tern::server {
namespace {

constexpr uint64_t kSlowestBytesPerSecond = uint64_t{16} << 10;

}  // namespace

RequestStream::RequestStream(Connection& connection, const StreamLimits& limits, std::function<void()> on_whole)
    : connection_(connection),
      limits_(limits),
      n_left_(connection.request().n_bytes().value_or(kUnknown)),
      on_whole_(std::move(on_whole)) {}

// How long the next piece may take.
std::chrono::milliseconds RequestStream::patience() const {
  const auto all = limits_.request + std::chrono::milliseconds(1000 * n_read_ / kSlowestBytesPerSecond);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(start_ + all - Clock::now());
  return std::clamp(left, std::chrono::milliseconds(0), limits_.silence);
}

bool RequestStream::wait_readable() const {
  if (n_left_ == 0 || connection_.holds(1)) return true;
  return connection_.transport().wait(IoState::kNeedsInput, patience());
}

bool RequestStream::wait_writable() const {
  return connection_.transport().wait(IoState::kNeedsOutput, limits_.silence);
}

ssize_t RequestStream::read(char* to, size_t n) {
  n = static_cast<size_t>(std::min<uint64_t>(n, n_left_));
  size_t got = 0;
  if (n > 0) got = connection_.take({to, n});
  while (n > 0 && got == 0) {
    const IoResult result = connection_.transport().receive({to, n});
    got = result.n;
    if (result.state == IoState::kDone) break;
    if (result.state == IoState::kEnded) {
      error_ = httplib::Error::Read;
      return -1;
    }
    if (!connection_.transport().wait(result.state, patience())) {
      error_ = httplib::Error::Timeout;
      return -1;
    }
  }
  if (got == 0) error_ = httplib::Error::ConnectionClosed;  // the request has ended
  if (n_left_ != kUnknown) n_left_ -= got;
  if (n_left_ == 0) tell_whole();
  n_read_ += got;
  return static_cast<ssize_t>(got);
}

ssize_t RequestStream::write(const char* from, size_t n) {
  size_t sent = 0;
  while (sent < n) {
    const IoResult result = connection_.transport().send({from + sent, n - sent});
    sent += result.n;
    if (result.state == IoState::kDone) continue;
    if (result.state == IoState::kEnded || !connection_.transport().wait(result.state, limits_.silence)) {
      error_ = httplib::Error::Write;
      return -1;
    }
  }
  return static_cast<ssize_t>(sent);
}

void RequestStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip = connection_.peer().first;
  port = connection_.peer().second;
}

void RequestStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip = connection_.own().first;
  port = connection_.own().second;
}

time_t RequestStream::duration() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_).count();
}

bool RequestStream::finish() {
  if (n_left_ == kUnknown || !connection_.holds(n_left_)) return false;
  connection_.begin_next(n_left_);
  return true;
}

}  // namespace tern::server
