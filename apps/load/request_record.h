// What is noted of a request while it runs. All times are in seconds since the run began.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tern::load {

// How a request ended. All but the first are failures.
enum class Outcome {
  kComplete,
  kConnection,   // no connection, or it was closed before there was an answer
  kHttpStatus,   // an answer with another status than 200
  kTimeout,      // no byte for as long as is waited
  kCut,          // the connection ended within the reply
  kNoDone,       // the reply ended in order, but without "data: [DONE]"
  kServerError,  // an error as an event of the reply
  kNotAStream,   // an answer that is no stream of events, or an event that is no JSON
  kNoText,       // complete, without any text
  kStopped,      // the user ended the run
};

struct RequestRecord {
  int64_t index = 0;         // in the order in which they were sent
  int64_t conversation = 0;  // from 0
  int turn = 0;              // of the conversation, from 0
  double due = 0;            // when it should have been sent: its arrival, or the moment its client was free for it
  double sent = 0;
  double ended = 0;

  Outcome outcome = Outcome::kComplete;
  int status = 0;            // of HTTP; 0 where there was no answer
  std::string message = {};  // what the server or the connection said, for failures

  std::vector<double> text_times = {};         // when each event that carries text arrived
  std::optional<int64_t> counted_tokens = {};  // of the reply, by the server's usage
  std::optional<int64_t> prompt_tokens = {};
  std::optional<int64_t> cached_tokens = {};
  std::string finish_reason = {};
  std::string body = {};  // of the request; kept where replies are compared
  std::string text = {};  // of the reply; the same

  bool is_complete() const { return outcome == Outcome::kComplete; }

  // Tokens of the reply: by usage, else as many as events with text.
  int64_t tokens() const { return counted_tokens.value_or(static_cast<int64_t>(text_times.size())); }
};

}  // namespace tern::load
