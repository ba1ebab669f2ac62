// The text of one tool call, or of one list of calls, while it arrives byte by byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tern/chat.h"
#include "text/chat/json_scanner.h"

namespace tern {

class CallText {
 public:
  enum class Step : uint8_t {
    kBad,       // the byte cannot be part of a call, or the call is too long; the byte was not added
    kMore,      // the byte was added
    kBracket,   // … and is the first bracket inside the call's object; never in a list
    kArgument,  // the byte belongs to arguments that are reported as they arrive; it was not added
    kDone,      // the byte was added and ends the call
  };

  CallText() = default;
  explicit CallText(ToolCallFormat format);

  // The format's marks without the white space around them.
  const std::string& begin_mark() const { return begin_mark_; }
  const std::string& end_mark() const { return end_mark_; }
  const std::string& may_begin() const { return may_begin_; }

  // Starts a call with the text up to the end of its mark.
  void begin(std::string_view text);
  Step feed(char c);
  // Drops the text so far. From now on the arguments are reported as they arrive; only white space and the object's end
  // may follow them.
  void report_arguments();
  bool reports_arguments() const { return reports_arguments_; }

  // The bytes that were added.
  const std::string& text() const { return text_; }
  // True if at most the end mark is missing.
  bool has_json() const { return json_end_ != 0; }
  // The JSON; requires has_json() and that nothing was dropped.
  std::string_view json() const { return std::string_view(text_).substr(json_begin_ - 1, json_end_ + 1 - json_begin_); }

  // The call whose last byte was its kBracket, as if that were all of its arguments. nullopt: it is not a call.
  std::optional<ToolCall> call_before_arguments() const;
  // The calls in json(); nullopt: some are not calls, or there are none or too many.
  std::optional<std::vector<ToolCall>> calls() const;
  // See ChatReplyParser::partial_call().
  std::optional<std::string> partial() const;

 private:
  Step add(char c);
  Step add_to_json(char c);
  Step add_to_end(char c);
  bool begins_like_a_call() const;

  ToolCallFormat format_;
  std::string begin_mark_, end_mark_, may_begin_;

  std::string text_;
  JsonScanner scanner_;
  size_t mark_end_ = 0;
  size_t json_begin_ = 0;  // index + 1 of its first byte; 0: not yet
  size_t json_end_ = 0;
  size_t end_matched_ = 0;
  bool is_checked_ = false;    // its first member may belong to a call
  bool has_brackets_ = false;  // a bracket was seen inside its object
  bool reports_arguments_ = false;
};

}  // namespace tern
