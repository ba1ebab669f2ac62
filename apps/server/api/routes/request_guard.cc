#include "server/api/routes/request_guard.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "base/text/format_text.h"
#include "server/api/body.h"
#include "server/api/routes/file_routes.h"

namespace tern::server {
namespace {

// Takes the same time for all keys of a length, so that timing does not reveal how much of a key is right.
bool is_same(std::string_view a, std::string_view b) {
  unsigned differs = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    differs |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(other));
  }
  return differs == 0;
}

constexpr std::string_view kBearer = "bearer ";
bool is_bearer(std::string_view value) {
  return value.size() >= kBearer.size() &&
         std::equal(kBearer.begin(), kBearer.end(), value.begin(),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

std::string sent_key(const httplib::Request& request) {
  std::string key = request.get_header_value("Authorization");
  if (is_bearer(key)) key = key.substr(kBearer.size());
  if (key.empty()) key = request.get_header_value("X-Api-Key");
  return key;
}

bool is_allowed(const httplib::Request& request, const std::vector<std::string>& keys) {
  if (keys.empty() || request.path == "/") return true;
  if (request.path == "/health" || request.path == "/v1/health" || request.path == "/ready") return true;
  const std::string key = sent_key(request);
  bool is_known = false;
  for (const std::string& known : keys) is_known |= is_same(key, known);
  return is_known;
}

// Bodies that the library would read into memory at any size are refused; the POST routes read theirs themselves.
std::optional<ApiError> refused_body(const httplib::Request& request, size_t most) {
  if (is_upload(request)) return {};
  if (request.get_header_value_u64("Content-Length") > most) return body_too_large(most);
  if (request.method == "POST") return {};
  if (!request.has_header("Transfer-Encoding") && !request.has_header("Content-Encoding")) return {};
  return ApiError{.status = 411, .message = "the body must have a Content-Length and be as it is, or not be there"};
}

}  // namespace

std::optional<ApiError> refused(const httplib::Request& request, const ApiOptions& options, bool is_file) {
  if (const auto error = refused_body(request, options.limits.body_bytes)) return error;
  if (is_file || is_allowed(request, options.api_keys)) return {};
  return ApiError{.status = 401,
                  .message = "the API key is missing or wrong: send it as Authorization: Bearer KEY",
                  .code = "invalid_api_key"};
}

std::string key_of(const httplib::Request& request, const ApiOptions& options) {
  return options.api_keys.empty() ? std::string() : sent_key(request);
}

}  // namespace tern::server
