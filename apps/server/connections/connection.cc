#include "server/connections/connection.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/platform/socket.h"

namespace tern::server {
namespace {

constexpr size_t kReadAtOnce = size_t{16} << 10;

Peer peer_of(platform::SocketName name) { return {std::move(name.host), name.port}; }

}  // namespace

Connection::Connection(int fd, void* tls)
    : transport_(fd, tls), peer_(peer_of(platform::peer_name(fd))), own_(peer_of(platform::own_name(fd))) {}

IoState Connection::receive(const ScanLimits& limits) {
  std::array<char, kReadAtOnce> piece;
  while (input_.size() - begin_ <= limits.head_bytes + limits.body_bytes) {
    const IoResult got = transport_.receive(piece);
    if (got.state != IoState::kDone) return got.state;
    if (begin_ == input_.size()) input_.clear(), begin_ = 0;
    input_.append(piece.data(), got.n);
    last_arrival = Clock::now();
  }
  return IoState::kDone;
}

Connection::State Connection::look(const ScanLimits& limits) {
  std::string_view bytes = std::string_view(input_).substr(begin_);
  if (bytes.starts_with("\r\n")) {  // line ends between requests mean nothing
    begin_ += 2 * (bytes.find_first_not_of("\r\n") == std::string_view::npos ? bytes.size() / 2 : 1);
    return look(limits);
  }
  const State state = scan_.look(bytes, limits);
  for (const size_t at : scan_.ranges()) input_.replace(begin_ + at, kRangeHeader.size(), kRangeHeader);
  return state;
}

size_t Connection::take(std::span<char> to) {
  const size_t n = std::min(to.size(), input_.size() - begin_);
  std::memcpy(to.data(), input_.data() + begin_, n);
  begin_ += n;
  return n;
}

void Connection::begin_next(uint64_t n) {
  begin_ += std::min<uint64_t>(n, input_.size() - begin_);
  input_.erase(0, begin_);
  if (input_.empty()) input_.shrink_to_fit();
  begin_ = 0;
  scan_ = {};
  since = last_arrival = Clock::now();
}

}  // namespace tern::server
