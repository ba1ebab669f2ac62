// A web server for one folder: what `tern serve --static` runs, so that the page in a browser needs nothing else.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "tern/error.h"

namespace tern::server {

struct StaticOptions {
  std::string folder;
  std::string host = "127.0.0.1";  // a name or an address; the default is reachable from this machine only
  int port = 8080;                 // 0: any that is free
};

// GET and HEAD, ranges, conditional requests. Every answer makes the page cross-origin isolated, without which browsers
// give it no threads, and is revalidated by its ETag before it is used again.
class StaticServer {
 public:
  // Listens; nothing is answered before serve(). kNotFound: no such folder. kIo: the address cannot be had.
  static Result<StaticServer> open(const StaticOptions& options);

  StaticServer(StaticServer&&) noexcept;
  StaticServer& operator=(StaticServer&&) noexcept;
  ~StaticServer();

  const std::string& url() const { return url_; }  // "http://127.0.0.1:8080/"

  // Answers until a stop is requested; then requests in progress are cut off. kIo where listening ends by itself.
  Result<void> serve(const std::stop_token& stop);

 private:
  struct Impl;

  StaticServer(std::unique_ptr<Impl> impl, std::string url);

  std::unique_ptr<Impl> impl_;
  std::string url_;
};

}  // namespace tern::server
