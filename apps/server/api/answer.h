// From replies under way to an HTTP answer: whole, or as a stream of events.
#pragma once

#include <httplib.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/api/model_service.h"
#include "server/api/reply_options.h"
#include "server/api/request_log.h"

namespace tern::server {

class ServedModel;

// Writes one kind of answer: a text completion, a chat. Told of all that happens, in its order.
class AnswerWriter {
 public:
  virtual ~AnswerWriter() = default;

  // Whole answers: takes what a reply has become, and makes the answer at the end.
  virtual void add(ReplyNews& news) = 0;
  virtual Json whole(const Usage& usage, const GenerateStats& stats) = 0;

  // Streams: the events before the first, for some news, and after the last of all replies.
  virtual std::vector<Json> first_events() = 0;
  virtual std::vector<Json> events(ReplyNews& news) = 0;
  virtual std::vector<Json> last_events(const Usage& usage, const GenerateStats& stats) = 0;
  // What ends a stream instead, where something fails midway.
  virtual Json error_event(const ApiError& error) { return error.json(); }
  // Events have names, their `type`; else a stream ends with "[DONE]".
  virtual bool names_events() const { return false; }
};

struct Asked {
  std::vector<std::vector<TokenId>> prompts;  // each has `options.n` replies
  ReplyOptions options;
  std::unique_ptr<AnswerWriter> writer;
};

struct AnswerLimits {
  std::chrono::milliseconds whole = {};                      // for an answer; 0: no limit
  std::chrono::milliseconds lag = std::chrono::seconds(60);  // of a stream's reader behind the model
};

// Asks the service, and answers. An asker who goes away ends the replies; so does one who does not read what there is,
// and so does the limit of time, with 504. `record` is told what became of them. The model is kept until the last byte
// is out.
void answer(std::shared_ptr<ServedModel> model, Asked asked, const AnswerLimits& limits,
            std::shared_ptr<RequestRecord> record, const httplib::Request& request, httplib::Response& response);

// The whole answer, once it is there; 499 where `is_wanted` says no while it is being written.
ApiResult<Json> whole_answer(ModelService& service, Asked asked, const std::function<bool()>& is_wanted,
                             bool in_background = false);

void answer_json(httplib::Response& response, const Json& json, int status = 200);
void answer_error(httplib::Response& response, const ApiError& error);

// Whatever a model writes, valid UTF-8.
std::string dump(const Json& json);

}  // namespace tern::server
