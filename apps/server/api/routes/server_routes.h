// The routes of a server's models: answers and status.
#pragma once

#include <httplib.h>

#include <functional>
#include <string>

#include "server/api/body.h"
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
void add_kept_routes(const RouteContext& context);    // /v1/responses/ID, /v1/chat/completions/ID
void add_ollama_routes(const RouteContext& context);  // /api/chat, /api/tags, …
void add_status_routes(const RouteContext& context);  // /v1/models, /health, /metrics, …

// Add a route that the model answers which the body names. OpenAI's also exist without /v1, which some clients use.
using ModelHandler = std::function<void(const RequestBody& body, const ServedModels::Lease& model,
                                        const httplib::Request&, httplib::Response&)>;
void post_to_model(const RouteContext& context, const std::string& path, ModelHandler handler);
ModelHandler reply_handler(const RouteContext& context, ServedModel::ReadRequest read);  // answers with a reply
void post_for_json(const RouteContext& context, const std::string& path,
                   const std::function<ApiResult<Json>(const RequestBody&, ServedModel&)>& ask);

}  // namespace tern::server
