// Answers that are kept: GET and DELETE of /v1/responses/ID and /v1/chat/completions/ID.
#include <string>
#include <utility>
#include <vector>

#include "base/text/format_text.h"
#include "server/api/body.h"
#include "server/api/routes/list_page.h"
#include "server/api/routes/server_routes.h"

namespace tern::server {
namespace {

using HttpRequest = httplib::Request;
using HttpResponse = httplib::Response;

constexpr size_t kUsualItems = 20, kMostItems = 100;

ApiResult<ResponseStore::Kept> find_kept(ResponseStore& store, const std::string& id) {
  if (auto kept = store.find(id)) return *std::move(kept);
  return std::unexpected(
      ApiError{.status = 404, .message = format_text("there is no answer '{}' here", id.substr(0, 64)), .param = "id"});
}

ApiResult<Json> erase(ResponseStore& store, const std::string& id) {
  TRY(const ResponseStore::Kept kept, find_kept(store, id));
  (void)store.erase(id);
  const bool is_chat = kept.response.at("object") == "chat.completion";
  return Json{{"id", id}, {"object", is_chat ? "chat.completion.deleted" : "response"}, {"deleted", true}};
}

// A chat's messages, with ids to name a page by.
ApiResult<Json> chat_messages(ResponseStore& store, const HttpRequest& request) {
  const std::string id = request.matches[1];
  TRY(const ResponseStore::Kept kept, find_kept(store, id));
  TRY(Page page, read_page(request, kUsualItems, kMostItems));
  if (!request.has_param("order")) page.newest_first = false;
  std::vector<Json> messages;
  for (const Json& message : kept.items) {
    Json one = {{"id", format_text("{}-{}", id, messages.size())}};
    one.update(message);
    messages.push_back(std::move(one));
  }
  return list_page(std::move(messages), page);
}

}  // namespace

void add_kept_routes(const RouteContext& context) {
  ResponseStore& store = context.models.responses();
  for (const char* path : {"/v1/responses/([^/]+)", "/v1/chat/completions/([^/]+)"}) {
    context.http.Get(path, [&store](const HttpRequest& request, HttpResponse& response) {
      const ApiResult<ResponseStore::Kept> kept = find_kept(store, request.matches[1]);
      answer_any(response, kept ? ApiResult<Json>(kept->response) : std::unexpected(kept.error()));
    });
    context.http.Delete(path, [&store](const HttpRequest& request, HttpResponse& response) {
      answer_any(response, erase(store, request.matches[1]));
    });
  }
  context.http.Get("/v1/chat/completions/([^/]+)/messages",
                   [&store](const HttpRequest& request, HttpResponse& response) {
                     answer_any(response, chat_messages(store, request));
                   });
}

}  // namespace tern::server
