// Errors in the shape that OpenAI's clients expect.
#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "tern/error.h"

namespace tern::server {

using Json = nlohmann::ordered_json;

struct ApiError {
  int status = 400;
  std::string message;
  std::string param = {};       // the field that is wrong, such as "messages[0].role"; empty: none
  std::string code = {};        // for programs, such as "context_length_exceeded"; empty: none
  int retry_after_seconds = 0;  // for 429 and 503; 0: not sent

  // {"error": {"message": …, "type": …, "param": …, "code": …}}
  Json json() const;
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
