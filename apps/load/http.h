// HTTP for the load generator: one request on a connection of its own, whose answer is read as it arrives. Only this
// part uses the HTTP library.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "load/endpoint.h"

namespace tern::load {

// True if this build supports https.
bool has_tls();

// Connects once, so that the name is looked up before anything is timed. Returns the address that answered. kIo: none
// does.
Result<std::string> reach(const Endpoint& endpoint);

struct HttpOptions {
  Endpoint endpoint;
  std::string address;         // from reach()
  std::string api_key = {};    // if not empty, sent as "Authorization: Bearer KEY"
  double timeout_seconds = 0;  // for connecting, and between two pieces of an answer
};

// How an HTTP answer ended.
struct HttpEnd {
  int status = 0;          // 0: there was no answer
  bool is_whole = false;   // it ended as HTTP requires
  bool timed_out = false;  // no byte arrived within the timeout
  std::string why = {};    // the reason if it is not whole
};

class HttpRequest {
 public:
  using OnHead = std::function<void(int status, const std::string& content_type)>;
  using OnBytes = std::function<bool(std::string_view bytes)>;  // returns false to stop

  explicit HttpRequest(const HttpOptions& options);
  ~HttpRequest();

  // `path` is appended to the endpoint's base. An empty body makes it a GET. Returns when the answer has ended.
  HttpEnd run(std::string_view path, const std::string& body, const OnHead& on_head, const OnBytes& on_bytes);

  // Ends run(), from any thread. A request that is about to connect may miss it: repeat the call until run() has
  // returned.
  void cancel();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tern::load
