// The text of one tool call, or of one list of calls, that is a JSON document.
#pragma once

#include "text/chat/forms/call_reader.h"
#include "text/chat/forms/json_scanner.h"

namespace tern {

class CallText final : public CallReader {
 public:
  CallText(ToolCallFormat format, const ChatReplyOptions& options);

  const std::string& mark() const override { return begin_mark_; }
  Matched starts(std::string_view text) const override;
  void begin(std::string_view text) override;
  Step feed(char c) override;
  const std::string& text() const override { return text_; }
  bool may_end() const override { return json_end_ != 0; }
  bool accept() override;
  bool is_told() const override { return reports_arguments_; }
  std::optional<std::string> partial() const override;

 private:
  Step add(char c);
  Step add_to_json(char c);
  Step add_to_end(char c);
  bool begins_like_a_call() const;
  bool is_known(const ToolCall& call) const;
  void begin_arguments();
  std::string_view json() const { return std::string_view(text_).substr(json_begin_ - 1, json_end_ + 1 - json_begin_); }
  // The calls in json(); nullopt: some are not calls, or there are none or too many.
  std::optional<std::vector<ToolCall>> calls() const;

  ToolCallFormat format_;
  const ChatReplyOptions& options_;
  std::string begin_mark_, end_mark_, may_begin_;  // the format's, without the white space around them

  std::string text_;
  JsonScanner scanner_;
  size_t mark_end_ = 0;
  size_t json_begin_ = 0;  // index + 1 of its first byte; 0: not yet
  size_t json_end_ = 0;
  size_t end_matched_ = 0;
  bool is_checked_ = false;    // its first member may belong to a call
  bool has_brackets_ = false;  // a bracket was seen inside its object
  // The arguments are reported as they arrive; only white space and the object's end may follow them.
  bool reports_arguments_ = false;
};

}  // namespace tern
