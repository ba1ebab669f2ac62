// Creates a server, plain or with TLS: its connections, and the library that parses requests and writes answers.
#pragma once

#include <memory>
#include <string>

#include "tern/error.h"

namespace httplib {
class Server;
}

namespace tern::server {

class ConnectionFront;
struct FrontOptions;

// Files in PEM form: a certificate, followed by those of its authorities, and its private key.
struct TlsFiles {
  std::string certificate = {}, key = {};
  bool is_wanted() const { return !certificate.empty() || !key.empty(); }
};

class HttpServer {
 public:
  // kInvalidArgument: one of the files is missing, or they are not a certificate and its key; kIo: one cannot be read,
  // or the system has no more threads or files; kNotSupported: this build has no TLS.
  static Result<HttpServer> open(const TlsFiles& tls, FrontOptions options);

  HttpServer(HttpServer&&) noexcept;
  HttpServer& operator=(HttpServer&&) noexcept;
  ~HttpServer();

  httplib::Server& routes() const { return *library_; }
  ConnectionFront& connections() const { return *front_; }

 private:
  HttpServer(std::unique_ptr<ConnectionFront> front, std::unique_ptr<httplib::Server> library);
  std::unique_ptr<ConnectionFront> front_;
  std::unique_ptr<httplib::Server> library_;
};

}  // namespace tern::server
