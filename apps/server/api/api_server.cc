#include "server/api/api_server.h"

#include <httplib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <format>
#include <optional>
#include <thread>
#include <utility>

#include "server/api/body.h"
#include "server/api/exchanges.h"
#include "server/api/file_routes.h"
#include "server/api/metrics.h"
#include "server/api/served_model.h"
#include "server/api/token_routes.h"
#include "server/connection_threads.h"
#include "server/static_files.h"
#include "server/static_server.h"

namespace tern::server {
namespace {

constexpr size_t kMostConnections = 4096;

// As long for every key of a length, so that nobody learns by trying how much of one is right.
bool is_same(std::string_view a, std::string_view b) {
  unsigned differs = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    differs |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(other));
  }
  return differs == 0;
}

// All that is none of the interface's, which a folder may have.
bool is_for_files(std::string_view path) {
  constexpr std::array<std::string_view, 13> kOurs = {
      "/health",     "/ready",       "/props",      "/slots",          "/metrics",   "/models",          "/tokenize",
      "/detokenize", "/completions", "/embeddings", "/apply-template", "/responses", "/chat/completions"};
  return !path.starts_with("/v1/") && !std::ranges::contains(kOurs, path);
}

size_t head_bytes(const httplib::Request& request) {
  size_t n = request.target.size();
  for (const auto& [name, value] : request.headers) n += name.size() + value.size();
  return n;
}

// Where a request that may have a body does not say how long it is, the library takes for one what comes next, so
// nothing may.
void close_if_endless(const httplib::Request& request, httplib::Response& response) {
  const bool may_have_body =
      request.method == "POST" || request.method == "DELETE" || request.method == "PUT" || request.method == "PATCH";
  if (!may_have_body || request.has_header("Content-Length") || request.has_header("Transfer-Encoding")) return;
  response.headers.erase("Keep-Alive");
  if (!response.has_header("Connection")) response.set_header("Connection", "close");
}

ApiError nothing_at(const httplib::Request& request) {
  return {.status = 404, .message = std::format("there is nothing at {} {}", request.method, request.path)};
}

}  // namespace

struct ApiServer::Impl {
  const Engine& engine;
  ApiOptions options;
  std::string url = {};
  int64_t created = unix_seconds();
  Metrics metrics = {};
  Exchanges exchanges{options.log, metrics};
  std::unique_ptr<ServedModel> model = {};
  std::unique_ptr<BatchQueue> batches = {};  // null: without a folder for them
  std::optional<StaticFiles> files = {}, page = {};
  std::atomic<bool> is_ending = false;
  std::unique_ptr<httplib::Server> http = {};

  Impl(const Engine& of, ApiOptions with) : engine(of), options(std::move(with)) {}

  Result<void> start();
  void set_up_http();
  std::optional<ApiError> refused_body(const httplib::Request& request) const;
  bool is_refused(const httplib::Request& request, httplib::Response& response) const;
  void add_routes();
  void add_model_routes();
  void add_status_routes();

  Result<void> open_folders();
  Result<void> open_batches();
  const StaticFiles* folder_for(const httplib::Request& request) const;
  bool is_allowed(const httplib::Request& request) const;
  Json model_json() const;
  ModelService::Status status() const { return model->service() ? model->service()->status() : ModelService::Status{}; }

  using Handler = std::function<void(const Json& body, const httplib::Request&, httplib::Response&)>;
  void post(const std::string& path, Handler handler);
};

Result<void> ApiServer::Impl::start() {
  auto started = ServedModel::start(engine, {.names = options.names,
                                             .service = {.scheduler = options.scheduler,
                                                         .max_waiting = options.max_waiting,
                                                         .observer = &metrics,
                                                         .energy = options.energy},
                                             .defaults = {.sample = options.sample,
                                                          .has_seed = options.has_seed,
                                                          .max_tokens = options.max_tokens,
                                                          .speculate = options.speculate},
                                             .pooling = options.pooling});
  if (!started) return std::unexpected(started.error());
  model = *std::move(started);
  if (auto opened = open_folders(); !opened) return opened;
  if (auto opened = open_batches(); !opened) return opened;
  auto server = new_http_server(options.address.tls);
  if (!server) return std::unexpected(server.error());
  http = *std::move(server);
  set_up_http();
  add_routes();
  Result<std::string> at = listen_at(*http, options.address);
  if (!at) return std::unexpected(at.error());
  url = *std::move(at);
  exchanges.watch(port_of(url), options.limits.request);
  return {};
}

Result<void> ApiServer::Impl::open_folders() {
  const bool can_chat = model->service() != nullptr;
  const auto open = [](const std::string& path, std::optional<StaticFiles>& folder) -> Result<void> {
    Result<StaticFiles> opened = StaticFiles::open(path);
    if (!opened) return std::unexpected(opened.error());
    folder = *std::move(opened);
    return {};
  };
  if (!options.static_folder.empty()) return open(options.static_folder, files);
  return options.page_folder.empty() || !can_chat ? Result<void>() : open(options.page_folder, page);
}

Result<void> ApiServer::Impl::open_batches() {
  if (options.files_folder.empty()) return {};
  const int n_places = options.scheduler.max_replies;
  BatchQueueOptions queue{.folder = options.files_folder, .n_at_once = n_places - n_places / 4};
  queue.answer = [this](const std::string& route, const Json& body, const std::function<bool()>& is_wanted) {
    return model->answer(route, body, is_wanted, /*in_background=*/true);
  };
  queue.check_endpoint = [this](const std::string& endpoint) -> ApiResult<void> {
    const ApiResult<void> known = model->check_route(endpoint);
    if (known) return {};
    return refuse(std::format("endpoint: {}", known.error().message), "endpoint");
  };
  auto opened = BatchQueue::open(std::move(queue));
  if (!opened) return std::unexpected(opened.error());
  batches = *std::move(opened);
  return {};
}

// Where the answer is a file of: null if it is none. Whoever makes a mistake in a route of the interface is to be told
// so in its words, so the page takes no more than what it has.
const StaticFiles* ApiServer::Impl::folder_for(const httplib::Request& request) const {
  if (!is_for_files(request.path)) return nullptr;
  if (files) return &*files;
  const bool is_of_page = page && (request.method == "GET" || request.method == "HEAD") &&
                          page->find(request.path, /*gzip=*/false).has_value();
  return is_of_page ? &*page : nullptr;
}

bool ApiServer::Impl::is_allowed(const httplib::Request& request) const {
  if (options.api_keys.empty() || request.path == "/") return true;
  if (request.path == "/health" || request.path == "/v1/health" || request.path == "/ready") return true;
  std::string key = request.get_header_value("Authorization");
  if (key.starts_with("Bearer ")) key = key.substr(7);
  if (key.empty()) key = request.get_header_value("X-Api-Key");
  bool is_known = false;
  for (const std::string& known : options.api_keys) is_known |= is_same(key, known);
  return is_known;
}

// What the library would read into memory, however much it is: the routes themselves read bodies of POST.
std::optional<ApiError> ApiServer::Impl::refused_body(const httplib::Request& request) const {
  if (is_upload(request)) return {};
  if (request.get_header_value_u64("Content-Length") > options.limits.body_bytes) {
    return body_too_large(options.limits.body_bytes);
  }
  if (request.method == "POST") return {};
  if (!request.has_header("Transfer-Encoding") && !request.has_header("Content-Encoding")) return {};
  return ApiError{.status = 411, .message = "the body must have a Content-Length and be as it is, or not be there"};
}

bool ApiServer::Impl::is_refused(const httplib::Request& request, httplib::Response& response) const {
  if (head_bytes(request) > options.limits.head_bytes) {
    answer_error(response,
                 {.status = 431,
                  .message = std::format("the request's head is larger than {} bytes", options.limits.head_bytes)});
    return true;
  }
  if (const auto error = refused_body(request)) {
    answer_error(response, *error);
    return true;
  }
  if (folder_for(request) || is_allowed(request)) return false;
  answer_error(response, {.status = 401,
                          .message = "the API key is missing or wrong: send it as Authorization: Bearer KEY",
                          .code = "invalid_api_key"});
  return true;
}

void ApiServer::Impl::set_up_http() {
  http->new_task_queue = [] { return new ConnectionThreads(kMostConnections); };
  constexpr size_t kFormBytes = size_t{1} << 20;  // around a file
  http->set_payload_max_length(batches ? std::max(options.limits.body_bytes, options.max_file_bytes + kFormBytes)
                                       : options.limits.body_bytes);
  http->set_read_timeout(options.limits.silence);
  http->set_write_timeout(options.limits.silence);
  http->set_keep_alive_timeout(options.limits.idle.count());
  http->set_keep_alive_max_count(10'000);
  http->set_tcp_nodelay(true);
  http->set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    exchanges.begin(request);
    if (is_refused(request, response)) return httplib::Server::HandlerResponse::Handled;
    const StaticFiles* folder = folder_for(request);
    if (!folder) return httplib::Server::HandlerResponse::Unhandled;
    answer_file(*folder, request, response, is_ending);
    return httplib::Server::HandlerResponse::Handled;
  });
  http->set_post_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    exchanges.have_answer(request, response);
    close_if_endless(request, response);
  });
  // What the library itself refuses, in the shape of all other errors.
  http->set_error_handler([this](const httplib::Request& request, httplib::Response& response) {
    if (!response.body.empty() || response.content_provider_) return;
    ApiError error{.status = response.status, .message = httplib::status_message(response.status)};
    if (response.status == 404) {
      error = nothing_at(request);
    } else if (response.status == 413) {
      error = body_too_large(options.limits.body_bytes);
    }
    answer_error(response, error);
  });
  http->set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr thrown) {
    std::string what = "unknown";
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const std::exception& error) {
      what = error.what();
    } catch (...) {
    }
    answer_error(response, {.status = 500, .message = "the server failed: " + what});
  });
  http->set_logger([this](const httplib::Request& request, const httplib::Response& response) {
    exchanges.send(request, response);
  });
}

void ApiServer::Impl::post(const std::string& path, Handler handler) {
  const auto handle = [this, handler = std::move(handler)](const httplib::Request& request, httplib::Response& response,
                                                           const httplib::ContentReader& reader) {
    const ApiResult<std::string> text = read_body(request, reader, options.limits.body_bytes);
    if (!text) return answer_error(response, text.error());
    exchanges.have_all(request);
    ApiResult<Json> body = parse_body(*text);
    if (!body) return answer_error(response, body.error());
    handler(*body, request, response);
  };
  http->Post(path, handle);
  if (path.starts_with("/v1/")) http->Post(path.substr(3), handle);
}

void ApiServer::Impl::add_model_routes() {
  for (const std::string& route : ServedModel::reply_routes()) {
    post(route, [this, route](const Json& body, const httplib::Request& request, httplib::Response& response) {
      ApiResult<Asked> asked = model->read(route, body);
      if (!asked) return answer_error(response, asked.error());
      const std::shared_ptr<RequestRecord>& record = Exchanges::current();
      record->model = model->profile().name;
      answer(*model->service(), *std::move(asked), {.whole = options.most_time, .lag = options.limits.lag}, record,
             request, response);
    });
  }
  const auto post_json = [this](const std::string& path, const std::function<ApiResult<Json>(const Json&)>& ask) {
    post(path, [ask](const Json& body, const httplib::Request&, httplib::Response& response) {
      const ApiResult<Json> answer = ask(body);
      answer ? answer_json(response, *answer) : answer_error(response, answer.error());
    });
  };
  post_json("/v1/embeddings", [this](const Json& body) {
    ApiResult<Json> vectors = model->embed(body);
    if (vectors) {
      Exchanges::current()->model = model->profile().name;
      Exchanges::current()->n_prompt = (*vectors)["usage"]["prompt_tokens"];
    }
    return vectors;
  });
  post_json("/tokenize", [this](const Json& body) { return tokenize(body, model->profile()); });
  post_json("/detokenize", [this](const Json& body) { return detokenize(body, model->profile()); });
  post_json("/apply-template", [this](const Json& body) { return apply_template(body, model->profile()); });
}

Json ApiServer::Impl::model_json() const {
  const ModelInfo& info = engine.info();
  return {{"id", model->profile().name},
          {"object", "model"},
          {"created", created},
          {"owned_by", "tern"},
          {"meta",
           {{"n_vocab", info.n_vocab},
            {"n_ctx", model->profile().n_ctx},
            {"n_ctx_train", info.n_ctx},
            {"n_embd", info.n_embd},
            {"n_params", info.n_params},
            {"size", info.file_bytes}}}};
}

void ApiServer::Impl::add_status_routes() {
  using Request = httplib::Request;
  using Response = httplib::Response;
  const auto models = [this](const Request&, Response& response) {
    answer_json(response, {{"object", "list"}, {"data", Json::array({model_json()})}});
  };
  http->Get("/v1/models", models);
  http->Get("/models", models);
  http->Get("/v1/models/(.+)", [this](const Request& request, Response& response) {
    const std::string name = request.matches[1];
    if (const auto known = model->check_name({{"model", name}}); !known) return answer_error(response, known.error());
    answer_json(response, model_json());
  });
  const auto health = [](const Request&, Response& response) { answer_json(response, {{"status", "ok"}}); };
  http->Get("/health", health);
  http->Get("/v1/health", health);
  // For balancers: whether to send more.
  http->Get("/ready", [this](const Request&, Response& response) {
    const bool is_ready = !model->service() || !model->service()->is_draining();
    answer_json(response, {{"status", is_ready ? "ready" : "draining"}}, is_ready ? 200 : 503);
  });
  http->Get("/props", [this](const Request&, Response& response) {
    const ModelInfo& info = engine.info();
    const Sampling sampling = engine.sampling(options.sample);
    answer_json(response, {{"model_path", info.path},
                           {"model_alias", model->profile().name},
                           {"total_slots", options.scheduler.max_replies},
                           {"architecture", info.architecture},
                           {"backend", info.backend},
                           {"build_info", std::format("tern {}", version())},
                           {"chat_template", engine.has_chat_template()},
                           {"default_generation_settings",
                            {{"n_ctx", model->profile().n_ctx},
                             {"temperature", sampling.temperature},
                             {"top_k", sampling.top_k},
                             {"top_p", sampling.top_p},
                             {"min_p", sampling.min_p},
                             {"repeat_penalty", sampling.repeat_penalty},
                             {"max_tokens", options.max_tokens}}}});
  });
  const auto is_off = [](Response& response, const char* flag) {
    answer_error(response, {.status = 501, .message = std::format("start the server with {} for this", flag)});
  };
  http->Get("/metrics", [this, is_off](const Request&, Response& response) {
    if (!options.metrics) return is_off(response, "--metrics");
    response.set_content(metrics.text(status(), options.energy != nullptr), "text/plain; version=0.0.4; charset=utf-8");
  });
  http->Get("/slots", [this, is_off](const Request&, Response& response) {
    if (!options.slots) return is_off(response, "--slots");
    const int n_running = status().n_running;
    Json list = Json::array();
    for (int i = 0; i < options.scheduler.max_replies; ++i) {
      list.push_back({{"id", i}, {"n_ctx", model->profile().n_ctx}, {"is_processing", i < n_running}});
    }
    answer_json(response, list);
  });
}

void ApiServer::Impl::add_routes() {
  add_model_routes();
  add_status_routes();
  add_file_routes(*http, {.queue = batches.get(),
                          .exchanges = exchanges,
                          .body_bytes = options.limits.body_bytes,
                          .file_bytes = options.max_file_bytes});
  http->Post(
      ".*", [this](const httplib::Request& request, httplib::Response& response, const httplib::ContentReader& reader) {
        const ApiResult<std::string> body = read_body(request, reader, options.limits.body_bytes);
        answer_error(response, body ? nothing_at(request) : body.error());
      });
  if (options.static_folder.empty()) {
    // Where there is a page, it has answered. This is for everybody, with a key or without.
    http->Get("/", [this](const httplib::Request&, httplib::Response& response) {
      const char* why = model->service() ? "none is installed, or --no-webui switched it off"
                                         : "the model makes vectors and writes no text";
      response.set_content(
          std::format("Tern {} answers OpenAI's clients here, under /v1: GET /v1/models says with which "
                      "model.\nThere is no page to chat on: {}.\n",
                      version(), why),
          "text/plain; charset=utf-8");
    });
  }
}

ApiServer::ApiServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ApiServer::ApiServer(ApiServer&&) noexcept = default;
ApiServer& ApiServer::operator=(ApiServer&&) noexcept = default;
ApiServer::~ApiServer() = default;

Result<ApiServer> ApiServer::open(const Engine& engine, ApiOptions options) {
  auto impl = std::make_unique<Impl>(engine, std::move(options));
  if (auto started = impl->start(); !started) return std::unexpected(started.error());
  return ApiServer(std::move(impl));
}

const std::string& ApiServer::url() const { return impl_->url; }

Result<void> ApiServer::serve(const std::stop_token& stop) {
  if (impl_->batches) impl_->batches->start();
  return serve_until(*impl_->http, impl_->url, stop, [this] {
    if (impl_->batches) impl_->batches->stop();
    if (ModelService* service = impl_->model->service()) service->drain(impl_->options.drain_time);
    impl_->is_ending = true;
    // The last words of an answer may be on their way.
    for (int look = 0; look < 100 && impl_->exchanges.n_open() > 0; ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
}

}  // namespace tern::server
