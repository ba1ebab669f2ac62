// /v1/files and /v1/batches.
#pragma once

#include <httplib.h>

#include "server/api/batches/batch_queue.h"
#include "server/api/routes/active_requests.h"

namespace tern::server {

struct FileRoutes {
  BatchQueue* queue = nullptr;  // null: disabled; the answers say how to enable them
  size_t body_bytes = 0;        // limit for everything except uploads
  uint64_t file_bytes = 0;      // limit for uploads
};

// True if a request's body may be a file.
bool is_upload(const httplib::Request& request);

// The queue must outlive the server.
void add_file_routes(httplib::Server& http, const FileRoutes& routes);

}  // namespace tern::server
