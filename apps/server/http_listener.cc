#include "server/http_listener.h"

#include <httplib.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

#include "base/platform/process.h"
#include "base/platform/socket.h"
#include "base/result.h"
#include "base/start_thread.h"
#include "base/text/format_text.h"
#include "server/connections/connection_front.h"

namespace tern::server {
namespace {

constexpr unsigned kMostConnections = 65'536;  // each is a file
constexpr int kMostToBeTaken = 4096;           // connections not yet accepted; systems lower it to their limit

std::string url_of(const Address& address, int port) {
  const char* scheme = address.tls.is_wanted() ? "https" : "http";
  return address.host.contains(':') ? format_text("{}://[{}]:{}/", scheme, address.host, port)
                                    : format_text("{}://{}:{}/", scheme, address.host, port);
}

}  // namespace

bool is_loopback(std::string_view host) {
  const std::string name(host);
  if (in_addr v4 = {}; ::inet_pton(AF_INET, name.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  if (in6_addr v6 = {}; ::inet_pton(AF_INET6, name.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return name == "localhost";
}

int port_of(const std::string& url) { return std::atoi(url.c_str() + url.rfind(':') + 1); }

Result<std::string> listen_at(const HttpServer& server, const Address& address) {
  httplib::Server& http = server.routes();
  platform::allow_open_files(kMostConnections);
  // The library's default socket options let two servers share a port, each getting some of the requests.
  const auto listening = std::make_shared<socket_t>();
  http.set_socket_options([listening](socket_t socket) {
    platform::take_port_alone(static_cast<int>(socket));
    *listening = socket;
  });
  int port = address.port;
  errno = 0;  // the library fails without a reason if there is no such host
  if (port == 0) {
    port = http.bind_to_any_port(address.host);
  } else if (!http.bind_to_port(address.host, port)) {
    port = -1;
  }
  if (port < 0) {
    const std::error_code error = platform::last_socket_error();
    const std::string why = error ? error.message() : "no such host";
    return fail(ErrorCode::kIo, "cannot listen at {}: {}; choose another --port (0: any that is free) or --host",
                url_of(address, address.port), why);
  }
  // By default only five connections can wait to be accepted, so in a burst the others would be lost.
  ::listen(*listening, kMostToBeTaken);
  return url_of(address, port);
}

Result<void> serve_until(const HttpServer& server, const std::string& url, const std::stop_token& stop,
                         const std::function<void()>& on_ending) {
  httplib::Server& http = server.routes();
  std::mutex mutex;
  std::condition_variable_any ended;
  bool listening = true;
  bool in_order = false;
  TRY(std::jthread listener, start_thread("listening", [&] {
        in_order = http.listen_after_bind();
        const std::scoped_lock lock(mutex);
        listening = false;
        ended.notify_all();
      }));
  std::unique_lock lock(mutex);
  // stop() has no effect on a server that is not running yet.
  while (listening && !http.is_running()) ended.wait_for(lock, std::chrono::milliseconds(1));
  ended.wait(lock, stop, [&] { return !listening; });
  lock.unlock();
  on_ending();
  http.stop();
  lock.lock();
  while (listening) {
    server.connections().cut();
    ended.wait_for(lock, std::chrono::milliseconds(20));
  }
  lock.unlock();
  listener.join();
  if (in_order || stop.stop_requested()) return {};
  return fail(ErrorCode::kIo, "{}: listening ended: {}", url, platform::last_socket_error().message());
}

}  // namespace tern::server
