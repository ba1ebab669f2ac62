// An HTTP server's socket: listening at an address, and answering until it is told to end.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <string>

#include "server/http_server.h"
#include "tern/error.h"

namespace tern::server {

struct Address {
  std::string host = "127.0.0.1";  // a name or an address; the default is reachable from this machine only
  int port = 8080;                 // 0: any that is free
  TlsFiles tls = {};
};

// Returns the URL, "http://127.0.0.1:8080/", or https with TLS. Nothing is answered before serve_until(). kIo: the
// address cannot be had.
Result<std::string> listen_at(httplib::Server& http, const Address& address);

int port_of(const std::string& url);  // that listen_at() returned

// Answers until a stop is requested; then `on_ending` is called, which may take its time while requests are still
// answered, and what is in progress after it is cut off. kIo where listening ends by itself.
Result<void> serve_until(httplib::Server& http, const std::string& url, const std::stop_token& stop,
                         const std::function<void()>& on_ending);

}  // namespace tern::server
