#include "load/endpoint.h"

#include <algorithm>
#include <charconv>

#include "base/result.h"
#include "load/http.h"

namespace tern::load {
namespace {

constexpr int kMaxPort = 65535;

// False for white space and control characters, which would end a line of the request.
bool has_only_visible(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c != '\x7f'; });
}

}  // namespace

std::string Endpoint::url() const {
  const std::string shown = host.contains(':') ? "[" + host + "]" : host;
  return (tls ? "https://" : "http://") + shown + ":" + std::to_string(port) + base;
}

Result<Endpoint> parse_endpoint(std::string_view url) {
  const auto bad = [&](std::string_view why) {
    return fail(ErrorCode::kInvalidArgument, "{}",
                "'" + std::string(url) + "': " + std::string(why) + "; give a server such as http://127.0.0.1:8080");
  };
  Endpoint endpoint;
  std::string_view rest = url;
  if (!has_only_visible(url)) return bad("a URL has neither white space nor control characters");
  if (rest.starts_with("https://")) {
    endpoint.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return bad("the URL begins neither with http:// nor with https://");
  }
  if (rest.find_first_of("?#") != std::string_view::npos) return bad("there is no use for '?' and '#'");
  const std::string_view authority = rest.substr(0, rest.find('/'));
  std::string_view path = rest.substr(authority.size());
  if (authority.contains('@')) return bad("names and passwords in a URL are not sent");
  std::string_view host = authority, port;
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos) return bad("the address has no ']'");
    host = authority.substr(1, end - 1);
    port = authority.substr(end + 1);
  } else {
    host = authority.substr(0, authority.find(':'));
    port = authority.substr(host.size());
  }
  if (host.empty()) return bad("there is no host");
  endpoint.host = host;
  endpoint.port = endpoint.tls ? 443 : 80;
  if (!port.empty()) {
    const char* const end = port.data() + port.size();
    const auto [read_to, error] = std::from_chars(port.data() + 1, end, endpoint.port);
    const bool is_number = port.front() == ':' && error == std::errc() && read_to == end;
    if (!is_number || endpoint.port < 1 || endpoint.port > kMaxPort) return bad("the port is no number up to 65535");
  }
  while (path.ends_with('/')) path.remove_suffix(1);
  endpoint.base = path.empty() ? "/v1" : path;
  if (endpoint.tls && !has_tls()) {
    return fail(ErrorCode::kNotSupported, "{}",
                "'" + std::string(url) +
                    "': this build of Tern has no TLS for https; use http, or put a proxy "
                    "on this machine in between");
  }
  return endpoint;
}

}  // namespace tern::load
