// One request of a run: sends it, reads the reply as it arrives, and notes when what came.
#pragma once

#include <chrono>
#include <string>

#include "load/http.h"
#include "load/reply_chunk.h"
#include "load/request_record.h"

namespace tern::load {

// The time of a run, in seconds since it began.
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

// What a reply said.
struct ReplyText {
  std::string content;  // what goes on in a conversation
  std::string all;      // reasoning and tool calls too
};

// Sets what the record has of the time from `sent` on.
ReplyText ask(HttpRequest& request, Api api, const std::string& body, const RunClock& clock, RequestRecord& record);

}  // namespace tern::load
