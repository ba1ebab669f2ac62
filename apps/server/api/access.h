// Who may ask, and how much a request may be, before anything is read of its body.
#pragma once

#include <httplib.h>

#include <optional>

#include "server/api/api_server.h"

namespace tern::server {

// What is wrong with it: 401, 411, 413, 431. Files of a folder, `is_file`, are everybody's.
std::optional<ApiError> refused(const httplib::Request& request, const ApiOptions& options, bool is_file);

// Where a request that may have a body does not say how long it is, the library takes for one what comes next, so
// nothing may: the answer ends the connection.
void close_if_endless(const httplib::Request& request, httplib::Response& response);

}  // namespace tern::server
