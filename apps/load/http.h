// HTTP as the load generator needs it: one request on a connection of its own, whose answer is seen as it arrives. The
// only part that knows a library for it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "load/endpoint.h"

namespace tern::load {

// Whether this build can speak https.
bool has_tls();

// Connects once, so that names are looked up before anything is timed, and returns the address that answered. kIo where
// none does.
Result<std::string> reach(const Endpoint& endpoint);

struct HttpOptions {
  Endpoint endpoint;
  std::string address;         // as reach() found it
  std::string api_key = {};    // sent as "Authorization: Bearer KEY" where it is not empty
  double timeout_seconds = 0;  // for connecting, and between two pieces of an answer
};

// How an answer ended.
struct HttpEnd {
  int status = 0;          // 0: there was no answer
  bool is_whole = false;   // it ended as HTTP has it
  bool timed_out = false;  // no byte came for as long as is waited
  std::string why = {};    // where it is not whole
};

class HttpRequest {
 public:
  using OnHead = std::function<void(int status, const std::string& content_type)>;
  using OnBytes = std::function<bool(std::string_view bytes)>;  // false: no more

  explicit HttpRequest(const HttpOptions& options);
  ~HttpRequest();

  // `path` goes on after the endpoint's base. Without a body it is a GET. Returns when the answer has ended.
  HttpEnd run(std::string_view path, const std::string& body, const OnHead& on_head, const OnBytes& on_bytes);

  // Ends run(), from any thread. A request that is about to connect may not notice: call it until run() has returned.
  void cancel();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tern::load
