// Reads server-sent events as they arrive.
//
// The stream consists of lines that end with CR LF, LF or CR. "data: TEXT" adds a line to the event, an empty line ends
// it, a line that begins with ":" is a comment, and other fields ("id", "retry") are ignored. Source: the HTML
// standard, "Server-sent events", "Interpreting an event stream".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "tern/error.h"

namespace tern::load {

struct SseEvent {
  std::string type = {};  // the field "event"; empty if there is none
  std::string data = {};  // the lines of the "data" fields, joined by '\n'
};

class SseReader {
 public:
  // Larger than any real event; bounds the memory for one.
  static constexpr size_t kMaxEventBytes = size_t{16} << 20;

  // Takes the next bytes, cut anywhere, and calls `on_event(const SseEvent&)` for each event that they complete. Events
  // without data are dropped, and so is an event that the stream ends within, as the standard requires. kCorruption: an
  // event is larger than kMaxEventBytes; nothing can be fed afterwards.
  template <class OnEvent>
  Result<void> feed(std::string_view bytes, OnEvent&& on_event) {
    while (!bytes.empty()) {
      const size_t used = take(bytes);
      bytes.remove_prefix(used);
      if (is_complete_) {
        on_event(std::as_const(event_));
        event_ = {};
        is_complete_ = false;
      }
      if (line_.size() + event_.data.size() > kMaxEventBytes) return too_large();
    }
    return {};
  }

 private:
  // Reads to the end of a line at most, and returns how many bytes it took.
  size_t take(std::string_view bytes);
  void end_line();
  static Result<void> too_large();

  std::string line_;  // the beginning of an unfinished line
  SseEvent event_;
  bool has_data_ = false;
  bool is_complete_ = false;
  bool after_cr_ = false;  // a line feed that follows belongs to the line before
  bool is_first_line_ = true;
};

}  // namespace tern::load
