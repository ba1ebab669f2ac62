// Turns running replies into an HTTP answer: whole, or as a stream of events.
#pragma once

#include <httplib.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/api/replies/reply_options.h"
#include "server/api/replies/request_log.h"
#include "server/api/service/follow_up.h"
#include "server/api/service/model_service.h"

namespace tern::server {

class ServedModel;

// Writes one kind of answer: a text completion, a chat. Receives all news in order.
class AnswerWriter {
 public:
  enum class StreamForm : uint8_t {
    kEvents,       // ends with "[DONE]"
    kEventsOnly,   // ends with its last event
    kNamedEvents,  // named after their `type`
    kLines,        // of JSON
  };

  virtual ~AnswerWriter() = default;

  // For whole answers: add() takes a reply's news, whole() makes the answer at the end.
  virtual void add(ReplyEvent& news) = 0;
  virtual Json whole(const Usage& usage, const GenerateStats& stats) = 0;

  // For streams: the events before the first news, for some news, and after the end of all replies.
  virtual std::vector<Json> first_events() = 0;
  virtual std::vector<Json> events(ReplyEvent& news) = 0;
  virtual std::vector<Json> last_events(const Usage& usage, const GenerateStats& stats) = 0;
  // Sent while there is no news for a long time; none: a comment.
  virtual std::vector<Json> idle_events() { return {}; }
  // Ends a stream instead if something fails midway.
  virtual Json error_event(const ApiError& error) { return error.json(); }
  virtual StreamForm stream_form() const { return StreamForm::kEvents; }
};

struct Asked {
  std::vector<std::vector<TokenId>> prompts;  // each has `options.n` replies
  ReplyOptions options;
  std::unique_ptr<AnswerWriter> writer;
  std::shared_ptr<FollowUp> follow_up = nullptr;  // with one prompt and one reply; null: nothing follows
};

struct AnswerLimits {
  std::chrono::milliseconds whole = {};                      // for a complete answer; 0: no limit
  std::chrono::milliseconds lag = std::chrono::seconds(60);  // how far a stream's reader may be behind the model
};

// Runs the request and answers it. The replies end early if the client disconnects, if it does not read its stream, or,
// with 504, at the time limit. `record` receives the outcome. The model is kept until the last byte is sent.
void answer(std::shared_ptr<ServedModel> model, Asked asked, const AnswerLimits& limits,
            std::shared_ptr<RequestRecord> record, const httplib::Request& request, httplib::Response& response);

// Returns the complete answer; 499 if `is_wanted` returns false while it is being written.
ApiResult<Json> whole_answer(ModelService& service, Asked asked, const std::function<bool()>& is_wanted,
                             bool in_background = false);

std::string named_event(const Json& event);  // as a stream of named events has it
void answer_json(httplib::Response& response, const Json& json, int status = 200);
void answer_error(httplib::Response& response, const ApiError& error, ErrorShape shape = ErrorShape::kOpenAi);
inline void answer_any(httplib::Response& response, const ApiResult<Json>& answer) {
  answer ? answer_json(response, *answer) : answer_error(response, answer.error());
}
// In the shape of the API that the request belongs to.
inline bool is_for_anthropic(const httplib::Request& request) {
  return request.has_header("anthropic-version") || error_shape(request.path) == ErrorShape::kAnthropic;
}
inline void answer_error(const httplib::Request& request, httplib::Response& response, const ApiError& error) {
  answer_error(response, error, is_for_anthropic(request) ? ErrorShape::kAnthropic : error_shape(request.path));
}

}  // namespace tern::server
