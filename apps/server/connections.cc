#include "server/connections.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

namespace tern::server {
namespace {

constexpr std::chrono::milliseconds kLongestPause(1000);

std::vector<int> open_files() {
  std::vector<int> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    if (fd >= 0) files.push_back(fd);
  }
  return files;
}

int port_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return -1;
}

// The peer in the form that the library uses for a request.
Peer peer_of(const sockaddr_storage& address, socklen_t size) {
  char host[NI_MAXHOST] = {};
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  return {host, port_of(address)};
}

}  // namespace

void for_each_connection(int port, const std::function<void(int fd, const Peer& peer)>& on_connection) {
  for (const int fd : open_files()) {
    sockaddr_storage own = {}, peer = {};
    socklen_t own_size = sizeof own, peer_size = sizeof peer;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &own_size) != 0 || port_of(own) != port) continue;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) continue;
    on_connection(fd, peer_of(peer, peer_size));
  }
}

ConnectionWatch::ConnectionWatch(int port, std::chrono::milliseconds most)
    : port_(port), most_(most), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void ConnectionWatch::expect_more(const Peer& peer) {
  const std::scoped_lock lock(mutex_);
  deadlines_[peer] = Clock::now() + most_;
}

void ConnectionWatch::expect_nothing(const Peer& peer) {
  const std::scoped_lock lock(mutex_);
  deadlines_[peer] = std::nullopt;
}

void ConnectionWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    look();
    std::unique_lock lock(mutex_);
    ended_.wait_for(lock, stop, std::clamp(most_ / 4, std::chrono::milliseconds(1), kLongestPause),
                    [] { return false; });
  }
}

// Holds the lock throughout, so that a connection with a deadline was open before the list is made, and is in it.
void ConnectionWatch::look() {
  const std::scoped_lock lock(mutex_);
  const auto now = Clock::now();
  std::set<Peer> open;
  for_each_connection(port_, [&](int fd, const Peer& peer) {
    const auto& deadline = deadlines_.try_emplace(peer, now + most_).first->second;
    if (deadline && now > *deadline) ::shutdown(fd, SHUT_RDWR);
    open.insert(peer);
  });
  std::erase_if(deadlines_, [&](const auto& entry) { return !open.contains(entry.first); });
}

}  // namespace tern::server
