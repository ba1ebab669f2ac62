// Answers that are kept: GET and DELETE of /v1/responses/ID and /v1/chat/completions/ID, with and without /v1.
#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/text/format_text.h"
#include "server/api/body.h"
#include "server/api/responses/response_writer.h"
#include "server/api/routes/list_page.h"
#include "server/api/routes/request_guard.h"
#include "server/api/routes/server_routes.h"

namespace tern::server {
namespace {

using HttpRequest = httplib::Request;
using HttpResponse = httplib::Response;

constexpr size_t kUsualItems = 20, kMostItems = 100;

constexpr const char* kResponse = "response";
constexpr const char* kChatAnswer = "chat.completion";

// Answers of one client.
struct KeptAnswers {
  ResponseStore& store;
  const std::string owner;
};

// `object`: the kind of answer.
ApiResult<ResponseStore::Kept> find_kept(const KeptAnswers& answers, const std::string& id, const char* object) {
  if (auto kept = answers.store.find(id, answers.owner); kept && kept->response.at("object") == object)
    return *std::move(kept);
  return std::unexpected(
      ApiError{.status = 404, .message = format_text("there is no answer '{}' here", id.substr(0, 64)), .param = "id"});
}

ApiResult<Json> erase(const KeptAnswers& answers, const std::string& id, const char* object) {
  TRY_STATUS(find_kept(answers, id, object));
  (void)answers.store.erase(id, answers.owner);
  return Json{{"id", id}, {"object", object == kResponse ? "response" : "chat.completion.deleted"}, {"deleted", true}};
}

// A chat's messages, with ids to name a page by.
ApiResult<Json> chat_messages(const KeptAnswers& answers, const HttpRequest& request) {
  const std::string id = request.matches[1];
  TRY(const ResponseStore::Kept kept, find_kept(answers, id, kChatAnswer));
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

// What a response answered, and the conversation before it.
ApiResult<Json> response_inputs(const KeptAnswers& answers, const HttpRequest& request) {
  TRY(const ResponseStore::Kept kept, find_kept(answers, request.matches[1], kResponse));
  TRY(const Page page, read_page(request, kUsualItems, kMostItems));
  std::vector<Json> items(kept.items.begin(), kept.items.end());
  items.resize(items.size() - std::min(items.size(), kept.response.at("output").size()));
  return list_page(std::move(items), page);
}

// The answer whole, or with ?stream=true as events: those after number `starting_after`.
void get_response(const KeptAnswers& answers, const HttpRequest& request, HttpResponse& response) {
  const ApiResult<ResponseStore::Kept> kept = find_kept(answers, request.matches[1], kResponse);
  if (!kept) return answer_error(response, kept.error());
  if (request.get_param_value("stream") != "true") return answer_json(response, kept->response);
  int64_t after = -1;
  if (const std::string text = request.get_param_value("starting_after"); !text.empty()) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), after);
    if (error != std::errc() || end != text.data() + text.size() || after < 0) {
      return answer_error(response,
                          {.message = "starting_after: must be the number of an event", .param = "starting_after"});
    }
  }
  std::string events;
  for (const Json& event : replayed_events(*kept)) {
    if (event["sequence_number"] > after) events += named_event(event);
  }
  response.set_content(events, "text/event-stream");
}

}  // namespace

void add_kept_routes(const RouteContext& context) {
  const auto answers = [&store = context.models.responses(), &options = context.options](const HttpRequest& request) {
    return KeptAnswers{.store = store, .owner = key_of(request, options)};
  };
  const char* const response = "(?:/v1)?/responses/([^/]+)";
  const char* const chat = "(?:/v1)?/chat/completions/([^/]+)";
  context.http.Get(response, [answers](const HttpRequest& request, HttpResponse& answer) {
    get_response(answers(request), request, answer);
  });
  context.http.Get(chat, [answers](const HttpRequest& request, HttpResponse& answer) {
    const ApiResult<ResponseStore::Kept> kept = find_kept(answers(request), request.matches[1], kChatAnswer);
    answer_any(answer, kept ? ApiResult<Json>(kept->response) : std::unexpected(kept.error()));
  });
  for (const auto& [path, object] : {std::pair{response, kResponse}, {chat, kChatAnswer}}) {
    context.http.Delete(path, [answers, object](const HttpRequest& request, HttpResponse& answer) {
      answer_any(answer, erase(answers(request), request.matches[1], object));
    });
  }
  context.http.Get(chat + std::string("/messages"), [answers](const HttpRequest& request, HttpResponse& answer) {
    answer_any(answer, chat_messages(answers(request), request));
  });
  context.http.Get(response + std::string("/input_items"), [answers](const HttpRequest& request, HttpResponse& answer) {
    answer_any(answer, response_inputs(answers(request), request));
  });
  // Only answers that are kept have ids that clients know, and these are complete.
  context.http.Post(response + std::string("/cancel"), [answers, most = context.options.limits.body_bytes](
                                                           const HttpRequest& request, HttpResponse& answer,
                                                           const httplib::ContentReader& reader) {
    const ApiResult<std::string> body = read_body(request, reader, most);  // any body is fine
    if (!body) return answer_error(answer, body.error());
    const ApiResult<ResponseStore::Kept> kept = find_kept(answers(request), request.matches[1], kResponse);
    answer_error(answer, kept ? ApiError{.message = "only responses in the background can be cancelled, and there are "
                                                    "none here"}
                              : kept.error());
  });
}

}  // namespace tern::server
