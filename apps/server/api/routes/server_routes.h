// The routes of a server's models: answers and status.
#pragma once

#include <httplib.h>

#include "server/api/routes/active_requests.h"
#include "server/api/routes/api_server.h"
#include "server/api/routes/served_models.h"

namespace tern::server {

// All members must outlive the server.
struct RouteContext {
  httplib::Server& http;
  ServedModels& models;
  const ApiOptions& options;
  Exchanges& exchanges;
  HttpMetrics& metrics;
};

void add_model_routes(const RouteContext& context);   // /v1/chat/completions, /v1/embeddings, /tokenize, …
void add_status_routes(const RouteContext& context);  // /v1/models, /health, /metrics, …

}  // namespace tern::server
