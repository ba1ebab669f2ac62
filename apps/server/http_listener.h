// An HTTP server's socket: listens at an address, and answers until told to stop.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "server/http_server.h"
#include "tern/error.h"

namespace tern::server {

struct Address {
  std::string host = "127.0.0.1";  // a name or an address; the default is reachable from this machine only
  int port = 8080;                 // 0: any that is free
  TlsFiles tls = {};
};

// True for "localhost" and the addresses that lead to this machine only.
bool is_loopback(std::string_view host);

// Returns the URL, "http://127.0.0.1:8080/", or https with TLS. Nothing is answered before serve_until(). kIo: the
// address cannot be used.
Result<std::string> listen_at(const HttpServer& server, const Address& address);

int port_of(const std::string& url);  // of a URL from listen_at()

// Answers until a stop is requested. Then it calls `on_ending`, during which requests are still answered; afterwards it
// cuts off what is in progress. kIo: listening failed.
Result<void> serve_until(const HttpServer& server, const std::string& url, const std::stop_token& stop,
                         const std::function<void()>& on_ending);

}  // namespace tern::server
