// The record of a request, filled in while it runs. All times are in seconds since the run began.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tern::load {

// How a request ended. All but the first are failures.
enum class Outcome {
  kComplete,
  kConnection,   // no connection, or it was closed before an answer
  kHttpStatus,   // the status was not 200
  kTimeout,      // no byte within the timeout
  kCut,          // the connection ended within the reply
  kNoDone,       // the reply ended properly, but without "data: [DONE]"
  kServerError,  // the reply contained an error event
  kNotAStream,   // the answer is not an event stream, or an event is not JSON
  kNoText,       // complete, but without any text
  kStopped,      // the user ended the run
};

struct RequestRecord {
  int64_t index = 0;         // in sending order
  int64_t conversation = 0;  // from 0
  int turn = 0;              // within the conversation, from 0
  double due = 0;            // when it should have been sent: its arrival, or when its client became free for it
  double sent = 0;
  double ended = 0;

  Outcome outcome = Outcome::kComplete;
  int status = 0;            // HTTP status; 0 without an answer
  std::string message = {};  // for failures: the message of the server or the connection

  std::vector<double> text_times = {};         // arrival times of the events with text
  std::optional<int64_t> counted_tokens = {};  // tokens of the reply, from the server's usage
  std::optional<int64_t> prompt_tokens = {};
  std::optional<int64_t> cached_tokens = {};
  std::string finish_reason = {};
  std::string body = {};  // the request's body; kept only if replies are compared
  std::string text = {};  // the reply's text; kept only if replies are compared

  bool is_complete() const { return outcome == Outcome::kComplete; }

  // Tokens of the reply: from usage, else the number of events with text.
  int64_t tokens() const { return counted_tokens.value_or(static_cast<int64_t>(text_times.size())); }
};

}  // namespace tern::load
