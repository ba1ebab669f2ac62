#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/format_text.h"
#include "server/api/body.h"
#include "server/api/ollama/requests.h"
#include "server/api/replies/fill_in.h"
#include "server/api/routes/server_routes.h"

namespace tern::server {
namespace {

using Request = httplib::Request;
using Response = httplib::Response;

// The version of Ollama whose API this is; clients ask for a least one.
constexpr const char* kVersion = "0.13.0";
// Models here are not unloaded after a time, which clients read as a date far away.
constexpr const char* kNever = "2318-01-01T00:00:00Z";

// Clients tell models apart by it, and show its beginning. It is no digest of the file, which may be large.
std::string digest(const ServedModels::About& about) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  add(about.name);
  if (about.info) add(std::to_string(about.info->file_bytes));
  std::string text;
  for (int i = 0; i < 4; ++i) text += format_text("{:016x}", hash *= 0x100000001b3);
  return text;
}

Json details_json(const ServedModels::About& about) {
  const std::string family = about.info ? about.info->architecture : "";
  const double params = about.info ? static_cast<double>(about.info->n_params) : 0;
  return {
      {"parent_model", ""},
      {"format", about.info && !about.info->path.ends_with(".gguf") ? "safetensors" : "gguf"},
      {"family", family},
      {"families", Json::array({family})},
      {"parameter_size", params < 1e9 ? format_text("{:.1f}M", params / 1e6) : format_text("{:.1f}B", params / 1e9)},
      {"quantization_level", "unknown"}};
}

Json model_json(const ServedModels::About& about) {
  return {{"name", about.name},
          {"model", about.name},
          {"size", about.info ? about.info->file_bytes : 0},
          {"digest", digest(about)},
          {"details", details_json(about)}};
}

// What only a model in memory tells about itself.
void add_loaded(const ServedModel& model, Json& json) {
  const Engine& engine = model.profile().engine;
  const ChatFormat format = engine.chat_format();
  if (format.has_tools && format.calls) json["capabilities"].push_back("tools");
  if (!format.think_begin.empty()) json["capabilities"].push_back("thinking");
  if (can_fill_in(engine.tokenizer())) json["capabilities"].push_back("insert");
  if (const auto chat_template = engine.chat_template()) json["template"] = chat_template->source;
}

Json show_json(const ServedModels::About& about) {
  Json info = Json::object();
  if (about.info) {
    const std::string& family = about.info->architecture;
    info["general.architecture"] = family;
    info["general.parameter_count"] = about.info->n_params;
    info[family + ".context_length"] = about.info->n_ctx;
    info[family + ".embedding_length"] = about.info->n_embd;
    info[family + ".block_count"] = about.info->n_layers;
  }
  return {{"modelfile", ""},
          {"parameters", format_text("num_ctx {}", about.n_ctx)},
          {"template", ""},
          {"details", details_json(about)},
          {"model_info", std::move(info)},
          {"capabilities", Json::array({about.embedding ? "embedding" : "completion"})}};
}

void add_lists(const RouteContext& context) {
  ServedModels& models = context.models;
  context.http.Get("/api/version",
                   [](const Request&, Response& response) { answer_json(response, {{"version", kVersion}}); });
  context.http.Get("/api/tags", [&models, start = utc_time()](const Request&, Response& response) {
    Json list = Json::array();
    for (const ServedModels::About& about : models.about()) {
      Json json = model_json(about);
      json["modified_at"] = start;
      list.push_back(std::move(json));
    }
    answer_json(response, {{"models", std::move(list)}});
  });
  context.http.Get("/api/ps", [&models](const Request&, Response& response) {
    Json list = Json::array();
    for (const ServedModels::About& about : models.about()) {
      if (about.status != "loaded") continue;
      Json json = model_json(about);
      json["expires_at"] = kNever;
      json["size_vram"] = about.info && about.info->adapter ? about.info->file_bytes : 0;
      json["context_length"] = about.n_ctx;
      list.push_back(std::move(json));
    }
    answer_json(response, {{"models", std::move(list)}});
  });
}

using Handler = std::function<void(const Json& body, const Request&, Response&)>;

// Adds a route that no model answers.
void post(const RouteContext& context, const std::string& path, Handler handler) {
  context.http.Post(path, [most = context.options.limits.body_bytes, handler = std::move(handler)](
                              const Request& request, Response& response, const httplib::ContentReader& reader) {
    const ApiResult<RequestBody> body = read_json(request, reader, most);
    body ? handler(body->json, request, response) : answer_error(request, response, body.error());
  });
}

// The model's name, in one of two fields.
ApiResult<std::string> name_in(const Json& body) {
  Fields fields(body);
  std::string name;
  fields.read("name", name);
  fields.read("model", name);
  TRY_STATUS(fields.check());
  if (name.empty()) return refuse("model: is missing", "model");
  return name;
}

ApiResult<ServedModels::About> about_model(const ServedModels& models, const Json& body) {
  TRY(const std::string name, name_in(body));
  return models.about(name);
}

void add_show(const RouteContext& context) {
  post(context, "/api/show",
       [&models = context.models, start = utc_time()](const Json& body, const Request& request, Response& response) {
         const ApiResult<ServedModels::About> about = about_model(models, body);
         if (!about) return answer_error(request, response, about.error());
         Json json = show_json(*about);
         json["modified_at"] = start;
         if (about->status == "loaded" && !about->embedding) {
           const auto model = models.get_named(about->name, [&] { return !request.is_connection_closed(); });
           if (model) add_loaded(**model, json);
         }
         answer_json(response, json);
       });
}

// A model that is served need not be pulled; others cannot be.
void add_pull(const RouteContext& context) {
  post(context, "/api/pull", [&models = context.models](const Json& body, const Request& request, Response& response) {
    Fields fields(body);
    bool stream = true;
    fields.read("stream", stream);
    const ApiResult<void> checked = fields.check();
    if (!checked) return answer_error(request, response, checked.error());
    const ApiResult<ServedModels::About> about = about_model(models, body);
    if (!about) {
      ApiError error = about.error();
      if (error.status == 404) error.message += "; add it to the file of tern serve --models, or start with -hf";
      return answer_error(request, response, error);
    }
    const Json done = {{"status", "success"}};
    if (!stream) return answer_json(response, done);
    response.set_content(dump(done) + "\n", "application/x-ndjson");
  });
}

ApiResult<Json> embed(const Json& body, ServedModel& model, bool is_old) {
  Fields fields(body);
  bool truncates = true;
  fields.read("truncate", truncates);
  const std::optional<int> dimensions = read_dimensions(fields, model.profile());
  TRY_STATUS(fields.check());
  TRY(Embedder * embedder, model.embedder());
  const std::string name = is_old ? "prompt" : "input";
  TRY(const auto inputs, read_embedding_inputs(fields.find(name), name, model.profile(), truncates));
  const auto start = std::chrono::steady_clock::now();
  TRY(const Embedder::Vectors vectors, embedder->embed(inputs, dimensions));
  const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
  const std::shared_ptr<RequestRecord>& record = Exchanges::current();
  record->model = model.profile().name;
  record->n_prompt = static_cast<int>(vectors.n_tokens);
  record->joules = vectors.joules;
  if (is_old) return Json{{"embedding", vectors.values.front()}};
  return Json{{"model", model.profile().name},
              {"embeddings", vectors.values},
              {"total_duration", time.count()},
              {"load_duration", 0},
              {"prompt_eval_count", vectors.n_tokens}};
}

void add_reply(const RouteContext& context, const std::string& path, ServedModel::ReadRequest read, bool is_chat) {
  const ModelHandler reply = reply_handler(context, read);
  post_to_model(context, path,
                [reply, is_chat](const RequestBody& body, const ServedModels::Lease& model, const Request& request,
                                 Response& response) {
                  if (!ollama::is_for_loading(body.json, is_chat)) return reply(body, model, request, response);
                  answer_json(response, ollama::loading_json(body.json, model->profile().name, is_chat));
                });
}

// Routes that change the models of a server.
void add_refused(const RouteContext& context) {
  const auto refuse = [](const Request& request, Response& response) {
    answer_error(request, response,
                 {.status = 501,
                  .message = format_text("{} is not supported: which models there are is said when the server starts",
                                         request.path)});
  };
  const auto post_refused = [refuse, most = context.options.limits.body_bytes](
                                const Request& request, Response& response, const httplib::ContentReader& reader) {
    const ApiResult<std::string> body = read_body(request, reader, most);
    body ? refuse(request, response) : answer_error(request, response, body.error());
  };
  context.http.Post("/api/(create|copy|push|blobs/.*)", post_refused);
  context.http.Delete("/api/delete", refuse);
  context.http.Get("/api/blobs/.*", refuse);
}

}  // namespace

void add_ollama_routes(const RouteContext& context) {
  add_lists(context);
  add_show(context);
  add_pull(context);
  add_refused(context);
  add_reply(context, "/api/chat", ollama::read_chat, /*is_chat=*/true);
  add_reply(context, "/api/generate", ollama::read_generate, /*is_chat=*/false);
  post_for_json(context, "/api/embed",
                [](const RequestBody& body, ServedModel& model) { return embed(body.json, model, false); });
  post_for_json(context, "/api/embeddings",
                [](const RequestBody& body, ServedModel& model) { return embed(body.json, model, true); });
}

}  // namespace tern::server
