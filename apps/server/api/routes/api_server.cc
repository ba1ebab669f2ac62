#include "server/api/routes/api_server.h"

#include <httplib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "base/text/format_text.h"
#include "server/api/body.h"
#include "server/api/durable_files.h"
#include "server/api/replies/metrics.h"
#include "server/api/routes/active_requests.h"
#include "server/api/routes/file_routes.h"
#include "server/api/routes/request_guard.h"
#include "server/api/routes/request_origin.h"
#include "server/api/routes/server_routes.h"
#include "server/api/routes/slot_routes.h"
#include "server/connections/connection_front.h"
#include "server/static_files.h"
#include "server/static_server.h"

namespace tern::server {
namespace {

// True for paths outside the API, which a static folder may use.
bool is_for_files(std::string_view path) {
  constexpr std::array<std::string_view, 18> kOurs = {"/health",     "/ready",
                                                      "/props",      "/slots",
                                                      "/metrics",    "/models",
                                                      "/tokenize",   "/detokenize",
                                                      "/embeddings", "/apply-template",
                                                      "/completion", "/completions",
                                                      "/responses",  "/chat/completions",
                                                      "/infill",     "/rerank",
                                                      "/score",      "/tokenizer_info"};
  constexpr std::array<std::string_view, 5> kOurFolders = {"/v1/", "/api/", "/slots/", "/responses/",
                                                           "/chat/completions/"};
  const auto begins = [path](std::string_view folder) { return path.starts_with(folder); };
  return !std::ranges::any_of(kOurFolders, begins) && !std::ranges::contains(kOurs, path);
}

ApiError nothing_at(const httplib::Request& request) {
  return {.status = 404, .message = format_text("there is nothing at {} {}", request.method, request.path)};
}

}  // namespace

struct ApiServer::Impl {
  ApiOptions options;
  std::string url = {};
  HttpMetrics metrics = {};
  Exchanges exchanges{options.log, metrics};
  std::unique_ptr<ServedModels> models = {};
  std::unique_ptr<BatchQueue> batches = {};  // null: there is no folder for them
  std::optional<StaticFiles> files = {}, page = {};
  std::atomic<bool> is_ending = false;
  std::optional<HttpServer> http = {};

  explicit Impl(ApiOptions with) : options(std::move(with)) {}

  Result<void> start(std::vector<ModelEntry> entries);
  FrontOptions front_options();
  void set_up_http(httplib::Server& library);
  void add_routes(httplib::Server& library);
  Result<void> open_folders();
  Result<void> open_batches(int n_places);
  const StaticFiles* folder_for(const httplib::Request& request) const;
};

Result<void> ApiServer::Impl::start(std::vector<ModelEntry> entries) {
  int n_places = 1;
  for (const ModelEntry& entry : entries) n_places = std::max(n_places, entry.served.service.scheduler.max_replies);
  auto opened_models = ServedModels::open(
      std::move(entries),
      {.most_loaded = options.most_models, .any_name = options.any_model, .on_event = options.on_event});
  if (!opened_models) return std::unexpected(opened_models.error());
  models = *std::move(opened_models);
  if (auto opened = open_folders(); !opened) return opened;
  if (auto opened = open_batches(n_places); !opened) return opened;
  auto server = HttpServer::open(options.address.tls, front_options());
  if (!server) return std::unexpected(server.error());
  http.emplace(*std::move(server));
  set_up_http(http->routes());
  add_routes(http->routes());
  Result<std::string> at = listen_at(*http, options.address);
  if (!at) return std::unexpected(at.error());
  url = *std::move(at);
  return {};
}

FrontOptions ApiServer::Impl::front_options() {
  FrontOptions front{.scan = {.head_bytes = options.limits.head_bytes},
                     .stream = {.silence = options.limits.silence, .request = options.limits.request},
                     .idle = options.limits.idle};
  front.refusal = [this](const Peer& peer, int status, const std::string& why) {
    exchanges.refuse(peer, status);
    return FrontOptions::Refusal{.media_type = "application/json",
                                 .body = dump(ApiError{.status = status, .message = why}.json())};
  };
  return front;
}

Result<void> ApiServer::Impl::open_folders() {
  if (!options.slot_folder.empty()) {
    if (auto made = make_folder(options.slot_folder); !made) return made;
  }
  const auto open = [](const std::string& path, std::optional<StaticFiles>& folder) -> Result<void> {
    Result<StaticFiles> opened = StaticFiles::open(path);
    if (!opened) return std::unexpected(opened.error());
    folder = *std::move(opened);
    return {};
  };
  if (!options.static_folder.empty()) return open(options.static_folder, files);
  return options.page_folder.empty() || !models->can_chat() ? Result<void>() : open(options.page_folder, page);
}

Result<void> ApiServer::Impl::open_batches(int n_places) {
  if (options.files_folder.empty()) return {};
  BatchQueueOptions queue{.folder = options.files_folder, .n_at_once = n_places - n_places / 4};
  queue.answer = [this](const BatchRequest& request, const std::function<bool()>& is_wanted) -> ApiResult<Json> {
    TRY(const ServedModels::Lease model, models->get(request.body, is_wanted, /*in_background=*/true));
    return model->answer(request.url, request.body, is_wanted, /*in_background=*/true, request.n_bytes);
  };
  queue.check_endpoint = [this](const std::string& endpoint) -> ApiResult<void> {
    const ApiResult<void> known = models->check_route(endpoint);
    if (known) return {};
    return refuse(format_text("endpoint: {}", known.error().message), "endpoint");
  };
  auto opened = BatchQueue::open(std::move(queue));
  if (!opened) return std::unexpected(opened.error());
  batches = *std::move(opened);
  return {};
}

// The folder that the answer comes from; null if it is not a file. A mistyped API route must get an API error, so the
// chat page answers only for files that it has.
const StaticFiles* ApiServer::Impl::folder_for(const httplib::Request& request) const {
  if (!is_for_files(request.path)) return nullptr;
  if (files) return &*files;
  const bool is_of_page = page && (request.method == "GET" || request.method == "HEAD") &&
                          page->find(request.path, /*gzip=*/false).has_value();
  return is_of_page ? &*page : nullptr;
}

void ApiServer::Impl::set_up_http(httplib::Server& library) {
  constexpr size_t kFormBytes = size_t{1} << 20;  // for the form around a file
  library.set_payload_max_length(batches
                                     ? std::max<size_t>(options.limits.body_bytes, options.max_file_bytes + kFormBytes)
                                     : options.limits.body_bytes);
  library.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    exchanges.begin(request);
    if (const auto error = foreign(request, options)) {
      answer_error(request, response, *error);
      return httplib::Server::HandlerResponse::Handled;
    }
    if (answer_preflight(request, options, response)) return httplib::Server::HandlerResponse::Handled;
    const StaticFiles* folder = folder_for(request);
    if (const auto error = refused(request, options, folder != nullptr)) {
      answer_error(request, response, *error);
      return httplib::Server::HandlerResponse::Handled;
    }
    if (!folder) return httplib::Server::HandlerResponse::Unhandled;
    answer_file(*folder, request, response, is_ending);
    return httplib::Server::HandlerResponse::Handled;
  });
  library.set_post_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    exchanges.have_answer(request, response);
    add_allowed_origin(request, options, response);
  });
  // Gives the library's own errors the same shape as all others.
  library.set_error_handler([this](const httplib::Request& request, httplib::Response& response) {
    if (!response.body.empty() || response.content_provider_) return;
    ApiError error{.status = response.status, .message = httplib::status_message(response.status)};
    if (response.status == 404) {
      error = nothing_at(request);
    } else if (response.status == 413) {
      error = body_too_large(options.limits.body_bytes);
    }
    answer_error(request, response, error);
  });
  library.set_exception_handler(
      [](const httplib::Request& request, httplib::Response& response, std::exception_ptr thrown) {
        std::string what = "unknown";
        try {
          std::rethrow_exception(std::move(thrown));
        } catch (const std::exception& error) {
          what = error.what();
        } catch (...) {
        }
        answer_error(request, response, {.status = 500, .message = "the server failed: " + what});
      });
  library.set_logger([this](const httplib::Request& request, const httplib::Response& response) {
    exchanges.send(request, response);
  });
}

void ApiServer::Impl::add_routes(httplib::Server& library) {
  const RouteContext context{
      .http = library, .models = *models, .options = options, .exchanges = exchanges, .metrics = metrics};
  add_model_routes(context);
  add_kept_routes(context);
  add_ollama_routes(context);
  add_status_routes(context);
  add_slot_routes(context);
  add_file_routes(
      library, {.queue = batches.get(), .body_bytes = options.limits.body_bytes, .file_bytes = options.max_file_bytes});
  library.Post(
      ".*", [this](const httplib::Request& request, httplib::Response& response, const httplib::ContentReader& reader) {
        const ApiResult<std::string> body = read_body(request, reader, options.limits.body_bytes);
        const bool is_form = !body && body.error().status == 415;
        answer_error(request, response, body || is_form ? nothing_at(request) : body.error());
      });
  if (options.static_folder.empty()) {
    // Reached only if there is no chat page. Needs no API key.
    library.Get("/", [this](const httplib::Request&, httplib::Response& response) {
      const char* why = models->can_chat() ? "none is installed, or --no-webui switched it off"
                                           : "the model makes vectors and writes no text";
      response.set_content(
          format_text("Tern {} answers OpenAI's clients here, under /v1: GET /v1/models says with which "
                      "model.\nThere is no page to chat on: {}.\n",
                      version(), why),
          "text/plain; charset=utf-8");
    });
  }
}

ServedModelOptions served_options(const ApiOptions& options) {
  return {.names = options.names,
          .service = {.scheduler = options.scheduler,
                      .max_waiting = options.max_waiting,
                      .energy = options.energy,
                      .keeps_slots = !options.slot_folder.empty()},
          .defaults = {.sample = options.sample,
                       .has_seed = options.has_seed,
                       .max_tokens = options.max_tokens,
                       .speculate = options.speculate,
                       .thoughts = options.thoughts,
                       .parse_special = options.parse_special,
                       .n_slots = options.scheduler.max_replies},
          .pooling = options.pooling,
          .mcp = options.mcp};
}

ApiServer::ApiServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ApiServer::ApiServer(ApiServer&&) noexcept = default;
ApiServer& ApiServer::operator=(ApiServer&&) noexcept = default;
ApiServer::~ApiServer() = default;

Result<ApiServer> ApiServer::open(std::vector<ModelEntry> models, ApiOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  if (auto started = impl->start(std::move(models)); !started) return std::unexpected(started.error());
  return ApiServer(std::move(impl));
}

Result<ApiServer> ApiServer::open(const Engine& engine, ApiOptions options) {
  std::vector<ModelEntry> models = {{.served = served_options(options), .engine = &engine}};
  return open(std::move(models), std::move(options));
}

const std::string& ApiServer::url() const { return impl_->url; }

Result<void> ApiServer::serve(const std::stop_token& stop) {
  impl_->models->start();
  if (impl_->batches) TRY_STATUS(impl_->batches->start());
  return serve_until(*impl_->http, impl_->url, stop, [this] {
    if (impl_->batches) impl_->batches->stop();
    impl_->models->drain(impl_->options.drain_time);
    impl_->is_ending = true;
    // The last bytes of an answer may still be on their way.
    for (int look = 0; look < 100 && impl_->exchanges.n_open() > 0; ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
}

}  // namespace tern::server
