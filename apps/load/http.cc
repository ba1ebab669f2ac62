#include "load/http.h"

#include <httplib.h>

#include <chrono>
#include <cmath>

#include "base/platform/socket.h"
#include "base/result.h"

namespace tern::load {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kReach(10);

// Writes headers as the library does, but without "Expect". With that header the library asks before it sends more than
// 1 kB, and waits up to a second for servers that do not support it.
ssize_t write_head(httplib::Stream& stream, const httplib::Headers& headers) {
  std::string head;
  for (const auto& [name, value] : headers) {
    if (name != "Expect") head += name + ": " + value + "\r\n";
  }
  head += "\r\n";
  size_t written = 0;
  while (written < head.size()) {
    const ssize_t n = stream.write(head.data() + written, head.size() - written);
    if (n <= 0) return -1;
    written += static_cast<size_t>(n);
  }
  return static_cast<ssize_t>(written);
}

}  // namespace

bool has_tls() {
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
  return true;
#else
  return false;
#endif
}

Result<std::string> reach(const Endpoint& endpoint) {
  addrinfo hints = {};
  hints.ai_flags = AI_ADDRCONFIG;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  const auto cannot = [&](std::string_view why) {
    return fail(ErrorCode::kIo, "{}",
                "cannot connect to " + endpoint.url() + ": " + std::string(why) + "; is the server running there?");
  };
  if (status != 0) return cannot(::gai_strerror(status));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, &::freeaddrinfo);
  std::error_code why;
  for (const addrinfo* address = found; address; address = address->ai_next) {
    why = platform::try_to_connect(address->ai_addr, address->ai_addrlen, kReach);
    if (why) continue;
    std::string host = platform::name_of(address->ai_addr, address->ai_addrlen).host;
    if (!host.empty()) return host;
  }
  return cannot(why.message());
}

struct HttpRequest::Impl {
  httplib::Client client;
  std::string base;
  double timeout;

  explicit Impl(const HttpOptions& options)
      : client(options.endpoint.url().substr(0, options.endpoint.url().size() - options.endpoint.base.size())),
        base(options.endpoint.base),
        timeout(options.timeout_seconds) {
    client.set_hostname_addr_map({{options.endpoint.host, options.address}});
    client.set_tcp_nodelay(true);
    client.set_keep_alive(false);
    client.set_decompress(false);
    client.set_follow_location(false);
    const auto seconds = static_cast<time_t>(std::ceil(options.timeout_seconds));
    // In microseconds: if the limit is in whole seconds, the library starts a thread to look up the address each time.
    client.set_connection_timeout(0, seconds * 1'000'000);
    client.set_read_timeout(seconds);
    client.set_write_timeout(seconds);
    client.set_header_writer([](httplib::Stream& stream, httplib::Headers& h) { return write_head(stream, h); });
    if (!options.api_key.empty()) client.set_bearer_token_auth(options.api_key);
  }
};

HttpRequest::HttpRequest(const HttpOptions& options) : impl_(std::make_unique<Impl>(options)) {}
HttpRequest::~HttpRequest() = default;

HttpEnd HttpRequest::run(std::string_view path, const std::string& body, const OnHead& on_head,
                         const OnBytes& on_bytes) {
  HttpEnd end;
  auto last_byte = SteadyClock::now();
  httplib::Request request;
  request.method = body.empty() ? "GET" : "POST";
  request.path = impl_->base + std::string(path);
  request.body = body;
  request.headers.emplace("Accept", "text/event-stream, application/json");
  request.headers.emplace("Accept-Encoding", "identity");  // compressing a stream would delay its pieces
  if (!body.empty()) request.headers.emplace("Content-Type", "application/json");
  request.headers.emplace("Expect", "");  // see write_head
  request.response_handler = [&](const httplib::Response& response) {
    last_byte = SteadyClock::now();
    end.status = response.status;
    on_head(response.status, response.get_header_value("Content-Type"));
    return true;
  };
  request.content_receiver = [&](const char* data, size_t size, auto, auto) {
    last_byte = SteadyClock::now();
    return on_bytes({data, size});
  };
  const httplib::Result result = impl_->client.send(request);
  end.is_whole = result.error() == httplib::Error::Success;
  if (end.is_whole) return end;
  const std::chrono::duration<double> quiet = SteadyClock::now() - last_byte;
  end.timed_out = quiet.count() >= std::ceil(impl_->timeout) * 0.99;
  end.why = httplib::to_string(result.error());
  return end;
}

void HttpRequest::cancel() { impl_->client.stop(); }

}  // namespace tern::load
