#include "server/api/routes/request_origin.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "base/text/format_text.h"
#include "server/http_listener.h"

namespace tern::server {
namespace {

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lowered;
}

// "HOST:PORT" without the port; an IPv6 address without its brackets.
std::string_view host_of(std::string_view authority) {
  if (authority.starts_with('[')) return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.find(':'));
}

// "SCHEME://AUTHORITY"; an empty scheme if it has another form.
struct Origin {
  std::string scheme, authority;
};
Origin parse(std::string_view text) {
  const size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0) return {};
  return {lower(text.substr(0, colon)), lower(text.substr(colon + 3))};
}

// Websites have no other schemes: "app://", "vscode-webview://" and their like belong to installed programs.
bool is_of_website(const Origin& origin) { return origin.scheme == "http" || origin.scheme == "https"; }

// True for names that lead to this machine wherever they are asked for. ".internal" is not a name on the internet;
// containers reach their host by host.docker.internal.
bool is_own_name(std::string_view host) {
  return is_loopback(host) || host.ends_with(".localhost") || host.ends_with(".internal");
}

bool is_listed(std::string_view origin, const std::vector<std::string>& listed) {
  return std::ranges::any_of(listed, [&](const std::string& one) { return one == "*" || lower(one) == lower(origin); });
}

bool is_own_host(std::string_view host, const ApiOptions& options) {
  if (is_own_name(host) || host == lower(options.address.host)) return true;
  return std::ranges::any_of(options.allowed_origins, [&](const std::string& one) {
    return one == "*" || host_of(parse(one).authority) == host;
  });
}

bool may_read(const std::string& origin, const httplib::Request& request, const ApiOptions& options) {
  if (is_listed(origin, options.allowed_origins)) return true;
  const Origin parsed = parse(origin);
  if (parsed.scheme.empty()) return false;  // "null": a page of a file or in a sandbox, which may be anybody's
  if (!is_of_website(parsed) || parsed.authority == lower(request.get_header_value("Host"))) return true;
  return is_loopback(options.address.host) && is_own_name(host_of(parsed.authority));
}

ApiError forbidden(std::string message) { return {.status = 403, .message = std::move(message), .code = "forbidden"}; }

}  // namespace

bool is_origin(std::string_view text) {
  if (text == "*" || text == "null") return true;
  const Origin origin = parse(text);
  return !origin.scheme.empty() && !origin.authority.empty() &&
         origin.authority.find_first_of("/?# ") == std::string::npos;
}

std::optional<ApiError> foreign(const httplib::Request& request, const ApiOptions& options) {
  if (!options.api_keys.empty()) return {};  // a foreign page does not know them
  if (request.path == "/health" || request.path == "/v1/health" || request.path == "/ready") return {};
  const std::string host = lower(request.get_header_value("Host"));
  if (!host.empty() && is_loopback(options.address.host) && !is_own_host(host_of(host), options)) {
    return forbidden(
        format_text("this server answers for this machine's own names only, not for {}; --allow-origin "
                    "http://{} allows it",
                    host, host));
  }
  const std::string origin = request.get_header_value("Origin");
  if (origin.empty() || may_read(origin, request, options)) return {};
  return forbidden(format_text("pages of {} may not use this server; --allow-origin {} allows it", origin, origin));
}

bool answer_preflight(const httplib::Request& request, const ApiOptions& options, httplib::Response& response) {
  const std::string origin = request.get_header_value("Origin");
  if (request.method != "OPTIONS" || origin.empty() || !request.has_header("Access-Control-Request-Method")) {
    return false;
  }
  if (!may_read(origin, request, options)) return false;
  response.status = 204;
  response.set_header("Access-Control-Allow-Methods", "GET, POST, DELETE, HEAD");
  if (const std::string headers = request.get_header_value("Access-Control-Request-Headers"); !headers.empty()) {
    response.set_header("Access-Control-Allow-Headers", headers);
  }
  if (request.has_header("Access-Control-Request-Private-Network")) {
    response.set_header("Access-Control-Allow-Private-Network", "true");
  }
  response.set_header("Access-Control-Max-Age", "600");
  return true;
}

void add_allowed_origin(const httplib::Request& request, const ApiOptions& options, httplib::Response& response) {
  const std::string origin = request.get_header_value("Origin");
  if (origin.empty() || !may_read(origin, request, options)) return;
  response.set_header("Access-Control-Allow-Origin", origin);
  response.set_header("Access-Control-Expose-Headers", "X-Request-Id, Retry-After");
  response.set_header("Vary", "Origin");
}

}  // namespace tern::server
