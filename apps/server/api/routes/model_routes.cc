#include <string>
#include <utility>

#include "base/text/format_text.h"
#include "server/api/anthropic/message_answers.h"
#include "server/api/body.h"
#include "server/api/llama/completion.h"
#include "server/api/replies/responses.h"
#include "server/api/replies/similarity.h"
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
  const auto handle = [&models = context.models, most = context.options.limits.body_bytes,
                       handler = std::move(handler)](const httplib::Request& request, httplib::Response& response,
                                                     const httplib::ContentReader& reader) {
    const ApiResult<std::string> text = read_body(request, reader, most);
    if (!text) return answer_error(request, response, text.error());
    const ApiResult<Json> body = parse_body(*text);
    if (!body) return answer_error(request, response, body.error());
    const auto model = models.get(*body, [&] { return !request.is_connection_closed(); });
    model ? handler(*body, *model, request, response) : answer_error(request, response, model.error());
  };
  context.http.Post(path, handle);
  if (path.starts_with("/v1/") && error_shape(path) == ErrorShape::kOpenAi) context.http.Post(path.substr(3), handle);
}

ModelHandler reply_handler(const RouteContext& context, ServedModel::ReadRequest read) {
  const AnswerLimits limits = {.whole = context.options.most_time, .lag = context.options.limits.lag};
  return [read, limits](const Json& body, const ServedModels::Lease& model, const httplib::Request& request,
                        httplib::Response& response) {
    ApiResult<Asked> asked = model->read(read, body);
    if (!asked) return answer_error(request, response, asked.error());
    const std::shared_ptr<RequestRecord>& record = Exchanges::current();
    record->model = model->profile().name;
    answer(model, *std::move(asked), limits, record, request, response);
  };
}

void post_for_json(const RouteContext& context, const std::string& path,
                   const std::function<ApiResult<Json>(const Json&, ServedModel&)>& ask) {
  post_to_model(context, path,
                [ask](const Json& body, const ServedModels::Lease& model, const httplib::Request& request,
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
    post_json(path, [compare](const Json& body, ServedModel& model) -> ApiResult<Json> {
      TRY(Embedder * embedder, model.embedder());
      ApiResult<Json> answer = compare(body, model.profile(), *embedder);
      if (answer) record_usage(model.profile().name, (*answer)["usage"]);
      return answer;
    });
  }
  post_json("/v1/messages/count_tokens", [](const Json& body, ServedModel& model) -> ApiResult<Json> {
    TRY_STATUS(model.check_writes());
    return anthropic::count_message_tokens(body, model.profile());
  });
  post_json("/v1/responses/input_tokens", [](const Json& body, ServedModel& model) -> ApiResult<Json> {
    TRY_STATUS(model.check_writes());
    return count_response_tokens(body, model.profile());
  });
  post_json("/v1/embeddings", [](const Json& body, ServedModel& model) {
    ApiResult<Json> vectors = model.embed(body);
    if (vectors) record_usage(model.profile().name, (*vectors)["usage"]);
    return vectors;
  });
  post_json("/tokenize", [](const Json& body, ServedModel& model) { return tokenize(body, model.profile()); });
  post_json("/detokenize", [](const Json& body, ServedModel& model) { return detokenize(body, model.profile()); });
  post_json("/apply-template",
            [](const Json& body, ServedModel& model) { return apply_template(body, model.profile()); });
}

}  // namespace tern::server
