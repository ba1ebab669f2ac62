#include "server/http_server.h"

#include <httplib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include "base/result.h"
#include "base/text/format_text.h"
#include "server/connections/connection_front.h"

namespace tern::server {
namespace {

// The library's queue of connections: each goes on to the front at once.
class HandOver final : public httplib::TaskQueue {
 public:
  explicit HandOver(ConnectionFront& front) : front_(front) {}
  bool enqueue(std::function<void()> connection) override {
    connection();
    return true;
  }
  void shutdown() override { front_.stop(); }

 private:
  ConnectionFront& front_;
};

// The library's server without its loop over the requests of a connection, which takes a thread for each connection.
template <class Library>
class FrontedServer final : public Library {
 public:
  template <class... Args>
  explicit FrontedServer(ConnectionFront& front, Args&&... args) : Library(std::forward<Args>(args)...), front_(front) {
    this->new_task_queue = [&front] { return new HandOver(front); };
    front.set_answer([this](RequestStream& stream, const Connection& connection, bool is_last) {
      bool is_closed = false;
      const bool is_sent = this->process_request(stream, connection.peer().first, connection.peer().second,
                                                 connection.own().first, connection.own().second, is_last, is_closed,
                                                 /*setup_request=*/nullptr);
      return is_sent && !is_closed;
    });
  }

 private:
  bool process_and_close_socket(socket_t socket) override {
    void* tls = nullptr;
    if constexpr (!std::is_same_v<Library, httplib::Server>) tls = this->tls_context();
    front_.add(socket, tls);
    return true;
  }

  ConnectionFront& front_;
};

Result<std::unique_ptr<httplib::Server>> new_library(const TlsFiles& tls, ConnectionFront& front) {
  if (!tls.is_wanted()) return std::make_unique<FrontedServer<httplib::Server>>(front);
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
  if (tls.certificate.empty() || tls.key.empty()) {
    return fail(ErrorCode::kInvalidArgument, "TLS needs both a certificate and its private key");
  }
  for (const std::string& file : {tls.certificate, tls.key}) {
    if (::access(file.c_str(), R_OK) != 0) {
      return fail(ErrorCode::kIo, "{}: cannot be read: {}", file, std::strerror(errno));
    }
  }
  auto server = std::make_unique<FrontedServer<httplib::SSLServer>>(front, tls.certificate.c_str(), tls.key.c_str());
  if (!server->is_valid()) {
    return fail(ErrorCode::kInvalidArgument,
                "{} and {} are no certificate and its private key, both in PEM form and without a password",
                tls.certificate, tls.key);
  }
  return server;
#else
  return fail(ErrorCode::kNotSupported,
              "this build has no TLS, as there was no OpenSSL when it was made; put a proxy in front that has it");
#endif
}

}  // namespace

Result<HttpServer> HttpServer::open(const TlsFiles& tls, FrontOptions options) {
  const auto idle = std::chrono::ceil<std::chrono::seconds>(options.idle);
  TRY(std::unique_ptr<ConnectionFront> front, ConnectionFront::open(std::move(options)));
  TRY(std::unique_ptr<httplib::Server> library, new_library(tls, *front));
  library->set_keep_alive_timeout(idle.count());  // what answers tell the client
  library->set_keep_alive_max_count(ConnectionFront::kMostRequests);
  library->set_tcp_nodelay(true);
  return HttpServer(std::move(front), std::move(library));
}

HttpServer::HttpServer(std::unique_ptr<ConnectionFront> front, std::unique_ptr<httplib::Server> library)
    : front_(std::move(front)), library_(std::move(library)) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer& HttpServer::operator=(HttpServer&&) noexcept = default;
HttpServer::~HttpServer() = default;

}  // namespace tern::server
