// Sends one request of a run, reads the reply as it arrives, and records the time of each event.
#pragma once

#include <chrono>
#include <string>

#include "load/http.h"
#include "load/reply_chunk.h"
#include "load/request_record.h"

namespace tern::load {

// The clock of a run: seconds since the run began.
class RunClock {
 public:
  double now() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  std::chrono::steady_clock::time_point at(double seconds) const {
    return start_ +
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The text of a reply.
struct ReplyText {
  std::string content;  // becomes part of the conversation
  std::string all;      // also includes reasoning and tool calls
};

// Sends the request and reads the reply to its end. Fills in the fields of `record` from `sent` on.
ReplyText ask(HttpRequest& request, Api api, const std::string& body, const RunClock& clock, RequestRecord& record);

}  // namespace tern::load
