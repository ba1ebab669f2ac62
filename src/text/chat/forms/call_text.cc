#include "text/chat/forms/call_text.h"

#include <algorithm>
#include <utility>

#include "text/chat/forms/tool_call_json.h"

namespace tern {
namespace {

constexpr size_t kMostCalls = 1000;  // in a list

}  // namespace

CallText::CallText(ToolCallFormat format, const ChatReplyOptions& options)
    : format_(std::move(format)),
      options_(options),
      begin_mark_(without_json_space(format_.begin)),
      end_mark_(without_json_space(format_.end)),
      may_begin_(without_json_space(format_.may_begin)) {}

Matched CallText::starts(std::string_view text) const {
  if (!begin_mark_.empty()) return {Match::kNo, 0};
  if (text.starts_with('{')) return {Match::kYes, 0};
  if (may_begin_.empty()) return {Match::kNo, 0};
  if (text.starts_with(may_begin_)) return {Match::kYes, may_begin_.size()};
  return {may_begin_.starts_with(text) ? Match::kMaybe : Match::kNo, 0};
}

void CallText::begin(std::string_view text) {
  text_ = text;
  mark_end_ = text.size();
  scanner_ = {};
  json_begin_ = json_end_ = end_matched_ = 0;
  is_checked_ = has_brackets_ = reports_arguments_ = false;
}

CallText::Step CallText::feed(char c) {
  if (text_.size() >= kMostBytes) return Step::kBad;
  const Step step = may_end() ? add_to_end(c) : add_to_json(c);
  if (step == Step::kBad) return step;
  return may_end() && end_matched_ == end_mark_.size() ? Step::kDone : step;
}

CallText::Step CallText::add(char c) {
  text_ += c;
  return Step::kMore;
}

CallText::Step CallText::add_to_json(char c) {
  const bool begins = json_begin_ == 0;
  if (begins && is_json_space(c)) return add(c);
  if (begins && c != (format_.is_list ? '[' : '{')) return Step::kBad;
  const int depth = scanner_.depth();
  // Nothing may follow arguments that have been reported.
  if (reports_arguments_ && depth == 1 && c != '}' && !is_json_space(c)) return Step::kBad;
  const JsonScanner::Step scanned = scanner_.feed(c);
  if (scanned == JsonScanner::Step::kBad) return Step::kBad;
  if (reports_arguments_ && depth > 1) {
    if (parts_.empty()) parts_.emplace_back();
    parts_.back().arguments += c;
    return Step::kMore;
  }
  add(c);
  if (begins) json_begin_ = text_.size();
  if (scanned == JsonScanner::Step::kDone) json_end_ = text_.size();
  const int inside = format_.is_list ? 2 : 1;
  if (!is_checked_ && scanner_.after_colon() && scanner_.depth() == inside) {
    is_checked_ = true;
    if (begins_like_a_call()) return Step::kMore;
    text_.pop_back();
    return Step::kBad;
  }
  if (depth != 1 || scanner_.depth() != 2 || format_.is_list || has_brackets_) return Step::kMore;
  has_brackets_ = true;
  if (options_.stream_arguments && (!options_.grammar || options_.grammar->may_begin(partial().value_or(""))))
    begin_arguments();
  return Step::kMore;
}

CallText::Step CallText::add_to_end(char c) {
  if (end_matched_ == 0 && is_json_space(c)) return add(c);
  if (c != end_mark_[end_matched_]) return Step::kBad;
  ++end_matched_;
  return add(c);
}

// Most JSON is not a call and should not be held back until its end.
bool CallText::begins_like_a_call() const {
  const size_t quote = text_.find('"', json_begin_ - 1);
  const size_t end = text_.rfind('"');
  return is_call_member(std::string_view(text_).substr(quote, end + 1 - quote), format_);
}

bool CallText::is_known(const ToolCall& call) const { return std::ranges::contains(options_.tool_names, call.name); }

// The first bracket in the object opens the arguments, if the name came before it.
void CallText::begin_arguments() {
  const auto call = read_tool_call(text_.substr(json_begin_ - 1) + "}}", format_);
  if (!call || !is_known(*call)) return;
  parts_.push_back({.begins = true, .id = call->id, .name = call->name, .arguments = "{"});
  text_.clear();
  reports_arguments_ = true;
}

bool CallText::accept() {
  if (reports_arguments_) return true;
  if (options_.grammar && !options_.grammar->matches(compact_json(json()) + end_mark_)) return false;
  auto found = calls();
  if (!found || !std::ranges::all_of(*found, [this](const ToolCall& call) { return is_known(call); })) return false;
  for (ToolCall& call : *found) {
    parts_.push_back({.begins = true,
                      .id = std::move(call.id),
                      .name = std::move(call.name),
                      .arguments = std::move(call.arguments)});
  }
  return true;
}

std::optional<std::vector<ToolCall>> CallText::calls() const {
  std::vector<std::string_view> objects = {json()};
  if (format_.is_list) {
    auto items = json_items(json(), kMostCalls);
    if (!items || items->empty()) return std::nullopt;
    objects = *std::move(items);
  }
  std::vector<ToolCall> calls;
  for (const std::string_view object : objects) {
    std::optional<ToolCall> call = read_tool_call(object, format_);
    if (!call) return std::nullopt;
    calls.push_back(*std::move(call));
  }
  return calls;
}

std::optional<std::string> CallText::partial() const {
  if (reports_arguments_) return "";  // its text was dropped
  if (!begin_mark_.empty()) return compact_json(text_.substr(mark_end_));
  if (!is_checked_) return std::nullopt;
  return compact_json(text_.substr(json_begin_ - 1));
}

}  // namespace tern
