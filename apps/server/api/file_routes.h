// /v1/files and /v1/batches.
#pragma once

#include <httplib.h>

#include "server/api/batch_queue.h"
#include "server/api/exchanges.h"

namespace tern::server {

struct FileRoutes {
  BatchQueue* queue = nullptr;  // null: there are none, and the routes say what to do about it
  Exchanges& exchanges;
  size_t body_bytes = 0;    // of everything but files
  uint64_t file_bytes = 0;  // of those
};

// Whether a request's body may be a file.
bool is_upload(const httplib::Request& request);

// The queue must outlive the server.
void add_file_routes(httplib::Server& http, const FileRoutes& routes);

}  // namespace tern::server
