// A web server for one folder: `tern serve --static` runs it, so that the page in a browser needs nothing else.
#pragma once

#include <atomic>
#include <memory>
#include <stop_token>
#include <string>

#include "server/http_server.h"
#include "tern/error.h"

namespace httplib {
struct Request;
struct Response;
}  // namespace httplib

namespace tern::server {

class StaticFiles;

// Answers a request for one of the files. Call it from a pre-routing handler only, because it handles the request's
// ranges. A file being sent is cut off once `is_ending`, which must outlive the answer.
void answer_file(const StaticFiles& files, const httplib::Request& request, httplib::Response& response,
                 const std::atomic<bool>& is_ending);

struct StaticOptions {
  std::string folder;
  std::string host = "127.0.0.1";  // a name or an address; the default is reachable from this machine only
  int port = 8080;                 // 0: any that is free
  TlsFiles tls = {};
};

// Supports GET and HEAD, ranges and conditional requests. Every answer makes the page cross-origin isolated, which
// browsers require for threads, and must be revalidated by its ETag before reuse.
class StaticServer {
 public:
  // Listens; nothing is answered before serve(). kNotFound: no such folder. kIo: the address cannot be used.
  static Result<StaticServer> open(const StaticOptions& options);

  StaticServer(StaticServer&&) noexcept;
  StaticServer& operator=(StaticServer&&) noexcept;
  ~StaticServer();

  const std::string& url() const { return url_; }  // "http://127.0.0.1:8080/"

  // Answers until a stop is requested, then cuts off requests in progress. kIo: listening failed.
  Result<void> serve(const std::stop_token& stop);

 private:
  struct Impl;

  StaticServer(std::unique_ptr<Impl> impl, std::string url);

  std::unique_ptr<Impl> impl_;
  std::string url_;
};

}  // namespace tern::server
