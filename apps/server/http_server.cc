#include "server/http_server.h"

#include <httplib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/result.h"
#include "base/text/format_text.h"

namespace tern::server {

Result<std::unique_ptr<httplib::Server>> new_http_server(const TlsFiles& tls) {
  if (!tls.is_wanted()) return std::make_unique<httplib::Server>();
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
  if (tls.certificate.empty() || tls.key.empty()) {
    return fail(ErrorCode::kInvalidArgument, "TLS needs both a certificate and its private key");
  }
  for (const std::string& file : {tls.certificate, tls.key}) {
    if (::access(file.c_str(), R_OK) != 0) {
      return fail(ErrorCode::kIo, "{}: cannot be read: {}", file, std::strerror(errno));
    }
  }
  auto server = std::make_unique<httplib::SSLServer>(tls.certificate.c_str(), tls.key.c_str());
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

}  // namespace tern::server
