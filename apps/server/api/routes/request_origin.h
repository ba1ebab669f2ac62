// Which web pages may use the server. Any page that a user opens can send requests to this machine, and its own name
// may lead here too (DNS rebinding); so a server without API keys looks at the Host and the Origin of a request.
#pragma once

#include <httplib.h>

#include <optional>

#include "server/api/routes/api_server.h"

namespace tern::server {

// 403: the request was sent by a foreign web page, or by a name that does not belong to this machine.
std::optional<ApiError> foreign(const httplib::Request& request, const ApiOptions& options);

// True if a browser asks whether a page may send a request; answers it.
bool answer_preflight(const httplib::Request& request, const ApiOptions& options, httplib::Response& response);

// Tells the browser that the page may read the answer, if it may.
void add_allowed_origin(const httplib::Request& request, const ApiOptions& options, httplib::Response& response);

}  // namespace tern::server
