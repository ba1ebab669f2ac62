#include <string>
#include <utility>

#include "server/api/body.h"
#include "server/api/routes/server_routes.h"
#include "server/api/routes/token_routes.h"

namespace tern::server {
namespace {

using Handler = std::function<void(const Json& body, const ServedModels::Lease& model, const httplib::Request&,
                                   httplib::Response&)>;

// Adds the route, and the same without /v1, which some clients use. The handler gets the model that the request names.
void post(const RouteContext& context, const std::string& path, Handler handler) {
  const auto handle = [&models = context.models, &exchanges = context.exchanges,
                       most = context.options.limits.body_bytes,
                       handler = std::move(handler)](const httplib::Request& request, httplib::Response& response,
                                                     const httplib::ContentReader& reader) {
    const ApiResult<std::string> text = read_body(request, reader, most);
    if (!text) return answer_error(response, text.error());
    exchanges.have_all(request);
    const ApiResult<Json> body = parse_body(*text);
    if (!body) return answer_error(response, body.error());
    const auto model = models.get(*body, [&] { return !request.is_connection_closed(); });
    model ? handler(*body, *model, request, response) : answer_error(response, model.error());
  };
  context.http.Post(path, handle);
  if (path.starts_with("/v1/")) context.http.Post(path.substr(3), handle);
}

}  // namespace

void add_model_routes(const RouteContext& context) {
  const AnswerLimits limits = {.whole = context.options.most_time, .lag = context.options.limits.lag};
  for (const std::string& route : ServedModel::reply_routes()) {
    post(context, route,
         [route, limits](const Json& body, const ServedModels::Lease& model, const httplib::Request& request,
                         httplib::Response& response) {
           ApiResult<Asked> asked = model->read(route, body);
           if (!asked) return answer_error(response, asked.error());
           const std::shared_ptr<RequestRecord>& record = Exchanges::current();
           record->model = model->profile().name;
           answer(model, *std::move(asked), limits, record, request, response);
         });
  }
  const auto post_json = [&](const std::string& path,
                             const std::function<ApiResult<Json>(const Json&, ServedModel&)>& ask) {
    post(context, path,
         [ask](const Json& body, const ServedModels::Lease& model, const httplib::Request&,
               httplib::Response& response) {
           const ApiResult<Json> answer = ask(body, *model);
           answer ? answer_json(response, *answer) : answer_error(response, answer.error());
         });
  };
  post_json("/v1/embeddings", [](const Json& body, ServedModel& model) {
    ApiResult<Json> vectors = model.embed(body);
    if (vectors) {
      Exchanges::current()->model = model.profile().name;
      const Json& usage = (*vectors)["usage"];
      Exchanges::current()->n_prompt = usage["prompt_tokens"];
      if (usage.contains("joules")) Exchanges::current()->joules = usage["joules"].get<double>();
    }
    return vectors;
  });
  post_json("/tokenize", [](const Json& body, ServedModel& model) { return tokenize(body, model.profile()); });
  post_json("/detokenize", [](const Json& body, ServedModel& model) { return detokenize(body, model.profile()); });
  post_json("/apply-template",
            [](const Json& body, ServedModel& model) { return apply_template(body, model.profile()); });
}

}  // namespace tern::server
