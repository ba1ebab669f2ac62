// The address of a server: the parts of its URL.
#pragma once

#include <string>
#include <string_view>

#include "tern/error.h"

namespace tern::load {

struct Endpoint {
  bool tls = false;
  std::string host = {};  // a name or an address, without the brackets of IPv6
  int port = 0;
  std::string base = {};  // what comes before "/chat/completions", such as "/v1"

  std::string url() const;  // "http://127.0.0.1:8080/v1"
};

// Parses "http://HOST[:PORT][/PATH]". Without a path, or with "/" alone, the API is below /v1, as at OpenAI.
// kInvalidArgument for anything else; kNotSupported for https if this build has no TLS.
Result<Endpoint> parse_endpoint(std::string_view url);

}  // namespace tern::load
