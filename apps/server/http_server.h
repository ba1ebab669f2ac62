// Creates the library's server, plain or with TLS.
#pragma once

#include <memory>
#include <string>

#include "tern/error.h"

namespace httplib {
class Server;
}

namespace tern::server {

// Files in PEM form: a certificate, followed by those of its authorities, and its private key.
struct TlsFiles {
  std::string certificate = {}, key = {};
  bool is_wanted() const { return !certificate.empty() || !key.empty(); }
};

// kInvalidArgument: one of the files is missing, or they are not a certificate and its key; kIo: one cannot be read;
// kNotSupported: this build has no TLS.
Result<std::unique_ptr<httplib::Server>> new_http_server(const TlsFiles& tls);

}  // namespace tern::server
