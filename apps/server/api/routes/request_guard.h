// Checks before the body is read: API key, and size of the request.
#pragma once

#include <httplib.h>

#include <optional>
#include <string>

#include "server/api/routes/api_server.h"

namespace tern::server {

// Returns why the request is refused: 401, 411, 413. Files of a static folder (`is_file`) need no API key.
std::optional<ApiError> refused(const httplib::Request& request, const ApiOptions& options, bool is_file);

// The API key of a request that was let through; empty: none is in use.
std::string key_of(const httplib::Request& request, const ApiOptions& options);

}  // namespace tern::server
