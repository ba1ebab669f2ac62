#include "server/api/api_error.h"

namespace tern::server {
namespace {

std::string_view type_of(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    case 501:
      return "not_supported_error";
    case 503:
      return "unavailable_error";
    default:
      return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

std::string_view anthropic_type_of(int status) {
  switch (status) {
    case 413:
      return "request_too_large";
    case 500:
      return "api_error";
    case 503:
      return "overloaded_error";
    case 504:
      return "timeout_error";
    default:
      return status > 500 ? "api_error" : type_of(status);
  }
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// The engine names a wrong option of sampling, which is the name of the field, too.
std::string sample_option(std::string_view message) {
  constexpr std::string_view kBefore = "sample option ";
  if (!message.starts_with(kBefore)) return {};
  message.remove_prefix(kBefore.size());
  return std::string(message.substr(0, message.find(' ')));
}

}  // namespace

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

ErrorShape error_shape(std::string_view path) {
  const bool is_anthropic = path == "/v1/messages" || path.starts_with("/v1/messages/");
  if (is_anthropic) return ErrorShape::kAnthropic;
  return path.starts_with("/api/") ? ErrorShape::kOllama : ErrorShape::kOpenAi;
}

Json ApiError::json(ErrorShape shape) const {
  if (shape == ErrorShape::kAnthropic) {
    Json error = {{"type", anthropic_type_of(status)}, {"message", message}};
    if (code.starts_with("thread_")) error["details"] = {{"error_code", code}};
    return {{"type", "error"}, {"error", std::move(error)}};
  }
  if (shape == ErrorShape::kOllama) return {{"error", message}};
  return {
      {"error", {{"message", message}, {"type", type_of(status)}, {"param", or_null(param)}, {"code", or_null(code)}}}};
}

ApiError api_error(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
      return {.status = 400, .message = error.message, .param = sample_option(error.message)};
    case ErrorCode::kNotFound:
      return {.status = 404, .message = error.message};
    case ErrorCode::kNotSupported:
      return {.status = 400, .message = error.message, .code = "not_supported"};
    case ErrorCode::kOutOfMemory:
      return {.status = 503, .message = error.message, .retry_after_seconds = 1};
    default:
      return {.status = 500, .message = error.message};
  }
}

ApiError nobody_waits() { return {.status = 499, .message = "nobody waits for the answer any more"}; }

ApiError shutting_down() {
  return {.status = 503, .message = "the server is shutting down; ask another one", .retry_after_seconds = 5};
}

}  // namespace tern::server
