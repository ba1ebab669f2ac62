#include "hub/net/certificates.h"

#include <unistd.h>

namespace tern::hub {

std::span<const char* const> known_certificate_files() {
  static constexpr const char* kFiles[] = {
      "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch
      "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, Red Hat
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
      "/etc/ssl/ca-bundle.pem",  // openSUSE
      "/etc/ssl/cert.pem",       // Alpine
  };
  return kFiles;
}

std::string certificate_file(const std::function<const char*(const char*)>& variable,
                             std::span<const char* const> files) {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {  // known from curl and OpenSSL
    if (const char* path = variable(name); path && *path) return path;
  }
  for (const char* path : files) {
    if (access(path, R_OK) == 0) return path;
  }
  return "";
}

}  // namespace tern::hub
