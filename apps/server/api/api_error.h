// Errors in the shapes that clients of each API expect.
#pragma once

#include <cstdint>
#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tern/error.h"

namespace tern::server {

using Json = nlohmann::ordered_json;
// As text on one line; bytes that are not UTF-8 are replaced.
std::string dump(const Json& json);

// The JSON as text; bytes of a model that are not valid UTF-8 are replaced.
std::string dump(const Json& json);

enum class ErrorShape : uint8_t {
  kOpenAi,     // {"error": {"message": …, "type": …, "param": …, "code": …}}
  kAnthropic,  // {"type": "error", "error": {"type": …, "message": …}}
  kOllama,     // {"error": …}
};
// The shape for a request's path.
ErrorShape error_shape(std::string_view path);

struct ApiError {
  int status = 400;
  std::string message;
  std::string param = {};       // the field that is wrong, such as "messages[0].role"; empty: none
  std::string code = {};        // for programs, such as "context_length_exceeded"; empty: none
  int retry_after_seconds = 0;  // for 429 and 503; 0: not sent

  Json json(ErrorShape shape = ErrorShape::kOpenAi) const;
};

template <class T>
using ApiResult = std::expected<T, ApiError>;

// Converts an engine error: 4xx if the request is at fault, else 5xx.
ApiError api_error(const Error& error);

ApiError shutting_down();  // 503
ApiError nobody_waits();   // 499

inline std::unexpected<ApiError> refuse(std::string message, std::string param = {}, std::string code = {}) {
  return std::unexpected(ApiError{.message = std::move(message), .param = std::move(param), .code = std::move(code)});
}

}  // namespace tern::server
