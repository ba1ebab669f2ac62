#include <string>

#include "base/text/format_text.h"
#include "server/api/routes/server_routes.h"
#include "server/api/routes/token_routes.h"

namespace tern::server {
namespace {

Json model_json(const ServedModels::About& about, int64_t created) {
  Json json = {{"id", about.name},       {"object", "model"},
               {"created", created},     {"owned_by", "tern"},
               {"status", about.status}, {"capabilities", Json::array({about.embedding ? "embedding" : "completion"})}};
  if (about.error) json["error"] = *about.error;
  if (const auto& info = about.info) {
    json["meta"] = {{"n_vocab", info->n_vocab}, {"n_ctx", about.n_ctx},       {"n_ctx_train", info->n_ctx},
                    {"n_embd", info->n_embd},   {"n_params", info->n_params}, {"size", info->file_bytes}};
  }
  return json;
}

Json props_json(const ServedModel& model, int n_places) {
  const Engine& engine = model.profile().engine;
  const ModelInfo& info = engine.info();
  const ReplyDefaults& defaults = model.profile().defaults;
  const Sampling sampling = engine.sampling(defaults.sample);
  return {{"model_path", info.path},
          {"model_alias", model.profile().name},
          {"total_slots", n_places},
          {"architecture", info.architecture},
          {"backend", info.backend},
          {"build_info", format_text("tern {}", version())},
          {"chat_template", engine.has_chat_template()},
          {"default_generation_settings",
           {{"n_ctx", model.profile().n_ctx},
            {"temperature", sampling.temperature},
            {"top_k", sampling.top_k},
            {"top_p", sampling.top_p},
            {"min_p", sampling.min_p},
            {"repeat_penalty", sampling.repeat_penalty},
            {"max_tokens", defaults.max_tokens}}}};
}

std::string metrics_text(const ServedModels& models, const HttpMetrics& http) {
  MetricFamilies families;
  const bool has_labels = models.size() > 1;
  for (const ServedModels::About& about : models.about()) {
    const std::string label = model_label(about.name);
    about.metrics->write(families, has_labels ? label : "", about.service, about.measures_energy);
    if (!has_labels) continue;
    families.add("tern_model_loaded", "gauge", "Whether a model is in memory.",
                 format_text("tern_model_loaded{{{}}} {}\n", label, about.status == "loaded" ? 1 : 0));
    families.add("tern_model_loads_total", "counter", "How often it has been loaded.",
                 format_text("tern_model_loads_total{{{}}} {}\n", label, about.n_loads));
  }
  http.write(families);
  return families.text();
}

Json slots_json(const ServedModels& models, const std::string& wanted) {
  Json list = Json::array();
  for (const ServedModels::About& about : models.about()) {
    if (about.status != "loaded" || (!wanted.empty() && about.name != wanted)) continue;
    for (int i = 0; i < about.n_places; ++i) {
      Json slot = {{"id", i}, {"n_ctx", about.n_ctx}, {"is_processing", i < about.service.n_running}};
      if (models.size() > 1) slot["model"] = about.name;
      list.push_back(std::move(slot));
    }
  }
  return list;
}

// In the form of Anthropic's API, which has no more about a model.
Json anthropic_model_json(const std::string& name, const std::string& created) {
  return {{"type", "model"}, {"id", name}, {"display_name", name}, {"created_at", created}};
}

using Request = httplib::Request;
using Response = httplib::Response;

void add_model_lists(const RouteContext& context) {
  const int64_t created = unix_seconds();
  const std::string time = utc_time();
  const auto list = [&models = context.models, created, time](const Request& request, Response& response) {
    Json data = Json::array();
    if (is_for_anthropic(request)) {
      for (const ServedModels::About& about : models.about()) data.push_back(anthropic_model_json(about.name, time));
      const Json first = data.front()["id"], last = data.back()["id"];
      return answer_json(response,
                         {{"data", std::move(data)}, {"has_more", false}, {"first_id", first}, {"last_id", last}});
    }
    for (const ServedModels::About& about : models.about()) data.push_back(model_json(about, created));
    answer_json(response, {{"object", "list"}, {"data", std::move(data)}});
  };
  context.http.Get("/v1/models", list);
  context.http.Get("/models", list);
  context.http.Get(
      "/v1/models/(.+)", [&models = context.models, created, time](const Request& request, Response& response) {
        const auto about = models.about(request.matches[1]);
        if (!about) return answer_error(request, response, about.error());
        answer_json(response,
                    is_for_anthropic(request) ? anthropic_model_json(about->name, time) : model_json(*about, created));
      });
}

}  // namespace

void add_status_routes(const RouteContext& context) {
  httplib::Server& http = context.http;
  const ApiOptions& options = context.options;
  add_model_lists(context);
  const auto health = [](const Request&, Response& response) { answer_json(response, {{"status", "ok"}}); };
  http.Get("/health", health);
  http.Get("/v1/health", health);
  // For load balancers: 503 means to send no more requests.
  http.Get("/ready", [&models = context.models](const Request&, Response& response) {
    const bool is_ready = !models.is_draining();
    answer_json(response, {{"status", is_ready ? "ready" : "draining"}}, is_ready ? 200 : 503);
  });
  const auto get_of_model = [&](const char* path, auto answer) {
    http.Get(path, [&models = context.models, answer](const Request& request, Response& response) {
      const auto model =
          models.get_named(request.get_param_value("model"), [&] { return !request.is_connection_closed(); });
      model ? answer(**model, response) : answer_error(response, model.error());
    });
  };
  get_of_model("/props", [&models = context.models](const ServedModel& model, Response& response) {
    const auto about = models.about(model.profile().name);
    answer_json(response, props_json(model, about ? about->n_places : 0));
  });
  get_of_model("/tokenizer_info", [](const ServedModel& model, Response& response) {
    answer_any(response, tokenizer_info(model.profile()));
  });
  const auto is_off = [](Response& response, const char* flag) {
    answer_error(response, {.status = 501, .message = format_text("start the server with {} for this", flag)});
  };
  http.Get("/metrics", [&models = context.models, &metrics = context.metrics, &options, is_off](const Request&,
                                                                                                Response& response) {
    if (!options.metrics) return is_off(response, "--metrics");
    response.set_content(metrics_text(models, metrics), "text/plain; version=0.0.4; charset=utf-8");
  });
  http.Get("/slots", [&models = context.models, &options, is_off](const Request& request, Response& response) {
    if (!options.slots) return is_off(response, "--slots");
    const std::string wanted = request.get_param_value("model");
    const auto about = models.about(wanted);
    if (!about) return answer_error(response, about.error());
    answer_json(response, slots_json(models, wanted.empty() ? "" : about->name));
  });
}

}  // namespace tern::server
