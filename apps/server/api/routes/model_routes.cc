#include <string>
#include <utility>

#include "base/text/format_text.h"
#include "server/api/anthropic/message_answers.h"
#include "server/api/body.h"
#include "server/api/llama/completion.h"
#include "server/api/replies/responses.h"
#include "server/api/replies/similarity.h"
#include "server/api/routes/request_guard.h"
#include "server/api/routes/server_routes.h"
#include "server/api/routes/token_routes.h"

namespace tern::server {
namespace {

void record_usage(const std::string& model, const Json& usage) {
  RequestRecord& record = *Exchanges::current();
  record.model = model;
  record.n_prompt = usage["prompt_tokens"];
  if (usage.contains("joules")) record.joules = usage["joules"].get<double>();
}

}  // namespace

void post_to_model(const RouteContext& context, const std::string& path, ModelHandler handler) {
  const auto handle = [&models = context.models, &options = context.options, handler = std::move(handler)](
                          const httplib::Request& request, httplib::Response& response,
                          const httplib::ContentReader& reader) {
    ApiResult<RequestBody> body = read_json(request, reader, options.limits.body_bytes);
    if (!body) return answer_error(request, response, body.error());
    body->key = key_of(request, options);
    const auto model = models.get(body->json, [&] { return !request.is_connection_closed(); });
    model ? handler(*body, *model, request, response) : answer_error(request, response, model.error());
  };
  context.http.Post(path, handle);
  if (path.starts_with("/v1/") && error_shape(path) == ErrorShape::kOpenAi) context.http.Post(path.substr(3), handle);
}

ModelHandler reply_handler(const RouteContext& context, ServedModel::ReadRequest read) {
  const AnswerLimits limits = {.whole = context.options.most_time, .lag = context.options.limits.lag};
  return [read, limits](const RequestBody& body, const ServedModels::Lease& model, const httplib::Request& request,
                        httplib::Response& response) {
    ApiResult<Asked> asked = body.prepare([&] { return model->read(read, body.json, {.key = body.key}); });
    if (!asked) return answer_error(request, response, asked.error());
    const std::shared_ptr<RequestRecord>& record = Exchanges::current();
    record->model = model->profile().name;
    answer(model, *std::move(asked), limits, record, request, response);
  };
}

void post_for_json(const RouteContext& context, const std::string& path,
                   const std::function<ApiResult<Json>(const RequestBody&, ServedModel&)>& ask) {
  post_to_model(context, path,
                [ask](const RequestBody& body, const ServedModels::Lease& model, const httplib::Request& request,
                      httplib::Response& response) {
                  const ApiResult<Json> answer = ask(body, *model);
                  answer ? answer_json(response, *answer) : answer_error(request, response, answer.error());
                });
}

void add_model_routes(const RouteContext& context) {
  for (const auto& [path, read] : ServedModel::reply_routes())
    post_to_model(context, std::string(path), reply_handler(context, read));
  post_to_model(context, "/v1/messages", reply_handler(context, anthropic::read_message));
  post_to_model(context, "/completion", reply_handler(context, llama::read_completion));
  post_to_model(context, "/infill", reply_handler(context, llama::read_infill));
  const auto post_json = [&](const std::string& path, const auto& ask) { post_for_json(context, path, ask); };
  for (const char* path : {"/v1/rerank", "/v1/score"}) {
    const auto compare = std::string_view(path) == "/v1/rerank" ? rerank : score;
    post_json(path, [compare](const RequestBody& body, ServedModel& model) -> ApiResult<Json> {
      TRY(Embedder * embedder, model.embedder());
      ApiResult<Json> answer = compare(body.json, model.profile(), *embedder);
      if (answer) record_usage(model.profile().name, (*answer)["usage"]);
      return answer;
    });
  }
  // The model computes nothing for these.
  const auto post_read = [&](const std::string& path, const auto& read) {
    post_json(path, [read](const RequestBody& body, const ServedModel& model) {
      return body.prepare([&] { return read(body.json, model); });
    });
  };
  post_read("/v1/messages/count_tokens", [](const Json& body, const ServedModel& model) -> ApiResult<Json> {
    TRY_STATUS(model.check_writes());
    return anthropic::count_message_tokens(body, model.profile());
  });
  post_json("/v1/responses/input_tokens", [](const RequestBody& body, const ServedModel& model) -> ApiResult<Json> {
    TRY_STATUS(model.check_writes());
    return body.prepare([&] { return count_response_tokens(body.json, model.profile(), {.key = body.key}); });
  });
  post_json("/v1/embeddings", [](const RequestBody& body, ServedModel& model) {
    ApiResult<Json> vectors = model.embed(body.json);
    if (vectors) record_usage(model.profile().name, (*vectors)["usage"]);
    return vectors;
  });
  post_read("/tokenize", [](const Json& body, const ServedModel& model) { return tokenize(body, model.profile()); });
  post_read("/detokenize",
            [](const Json& body, const ServedModel& model) { return detokenize(body, model.profile()); });
  post_read("/apply-template",
            [](const Json& body, const ServedModel& model) { return apply_template(body, model.profile()); });
}

}  // namespace tern::server
