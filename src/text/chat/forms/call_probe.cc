#include "text/chat/forms/call_probe.h"

#include <algorithm>
#include <utility>

#include "tern/chat_reply.h"
#include "text/chat/forms/json_scanner.h"
#include "text/chat/forms/literal_match.h"

namespace tern {
namespace {

constexpr std::string_view kSeparator = "<|sep|>";  // ends a tag of words

const ChatMessage kAsked = {.role = "user", .content = "a"};

// The index of the tag that text[0, end) leaves open; `end`: there is none.
size_t open_tag(std::string_view text, size_t end) {
  const size_t last = std::max(text.substr(0, end).rfind("<|open|>") + 1, text.substr(0, end).rfind("<|close|>") + 1);
  if (last > 0 && tag_end(text, last - 1) > end) return last - 1;
  const size_t angle = text.substr(0, end).rfind('<');
  if (angle != text.npos && text.substr(angle, end - angle).find('>') == text.npos) return tag_begin(text, angle);
  const size_t bracket = text.substr(0, end).rfind('[');
  if (bracket == text.npos || text.substr(bracket, end - bracket).find(']') != text.npos) return end;
  const std::string_view name = text.substr(bracket + 1, end - bracket - 1);
  const bool is_tag =
      !name.empty() && std::ranges::all_of(name, [](char c) { return (c >= 'A' && c <= 'Z') || c == '_' || c == '/'; });
  return is_tag ? bracket : end;
}

// Reads `text` as a reply with this format, and compares the calls with those that were rendered.
bool reads_back(const ToolCallFormat& format, const std::string& text, const std::vector<ToolCall>& calls) {
  ChatFormat whole;
  whole.calls = format;
  ChatReplyParser parser(whole, {.tool_names = {std::string(kProbeCall), std::string(kProbeOtherCall)}, .id_seed = 1});
  ChatMessage message;
  append(message, parser.feed(without_json_space(text)));
  append(message, parser.finish());
  if (message.tool_calls.size() != calls.size()) return false;
  for (size_t i = 0; i < calls.size(); ++i) {
    const ToolCall& call = message.tool_calls[i];
    if (call.name != calls[i].name || compact_json(call.arguments) != compact_json(calls[i].arguments)) return false;
  }
  return true;
}

}  // namespace

size_t json_end(std::string_view text, size_t begin) {
  JsonScanner scanner;
  for (size_t at = begin; at < text.size(); ++at) {
    const auto step = scanner.feed(text[at]);
    if (step == JsonScanner::Step::kBad) break;
    if (step == JsonScanner::Step::kDone) return at + 1;
  }
  return begin;
}

std::string_view common_start(std::string_view a, std::string_view b) {
  const auto n = static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  return a.substr(0, n == a.size() && n == b.size() ? n : open_tag(a, n));
}

std::string_view common_end(std::string_view a, std::string_view b) {
  size_t n = 0;
  while (n < std::min(a.size(), b.size()) && a[a.size() - 1 - n] == b[b.size() - 1 - n]) ++n;
  std::string_view end = a.substr(a.size() - n);
  const size_t close = end.find('>');
  const size_t open = end.find('<');
  if (close != end.npos && close < open) end.remove_prefix(open == end.npos ? close + 1 : tag_begin(end, open));
  if (end.starts_with(kSeparator) && (a.contains("<|close|>") || b.contains("<|close|>")))
    end.remove_prefix(kSeparator.size());
  return end;
}

std::string end_mark(std::string_view after, std::string_view turn_end) {
  const size_t space = std::min(after.find_first_not_of(" \t\r\n"), after.size());
  std::string_view rest = after.substr(space);
  turn_end = without_json_space(turn_end);
  if (const size_t at = turn_end.empty() ? rest.npos : rest.find(turn_end); at != rest.npos) rest = rest.substr(0, at);
  const size_t bracket = rest.find('<');
  const size_t open = bracket == rest.npos ? bracket : tag_begin(rest, bracket);
  const size_t close = open == rest.npos ? open : tag_end(rest, open);
  const size_t line = rest.find('\n');
  const bool is_own_line =
      line < open && (open == rest.npos || !rest.substr(tag_token_end(rest, open)).starts_with("</"));
  if (is_own_line) {
    rest = rest.substr(0, line);
  } else if (close != rest.npos && close > open) {
    rest = rest.substr(0, close);
  }
  rest = rest.substr(0, rest.find_last_not_of(" \t\r\n") + 1);
  return rest.empty() ? std::string() : std::string(after.substr(0, space)) + std::string(rest);
}

CallProbe::CallProbe(const RenderProbe& render, const ChatFormat& format, std::string prompt)
    : render_(render), think_begin_(format.think_begin), think_end_(format.think_end), prompt_(std::move(prompt)) {
  const ChatMessage reply = {.role = "assistant", .content = std::string(kProbeReply)};
  std::string text = render_({kAsked, reply});
  const size_t at = text.find(kProbeReply);
  if (at == text.npos) return;
  plain_ = text.substr(0, at);
  turn_end_ = text.substr(at + kProbeReply.size());
  const std::string_view end = std::string_view(turn_end_).substr(0, tag_end(turn_end_, 0));
  const size_t begin = last_tag(plain_);
  if (begin == plain_.npos || end.empty() || !closes(end, std::string_view(plain_).substr(begin))) return;
  content_tags_ = {plain_.substr(begin), std::string(end)};
  turn_end_.erase(0, end.size());
}

ToolCall CallProbe::call(std::string_view arguments) {
  return {.id = std::string(kProbeId), .name = std::string(kProbeCall), .arguments = std::string(arguments)};
}

ToolCall CallProbe::other_call() {
  return {.id = std::string(kProbeOtherId),
          .name = std::string(kProbeOtherCall),
          .arguments = R"({"tern_key": "tern_rest"})"};
}

std::string_view CallProbe::without_thought(std::string_view text) const {
  const std::string_view own = without_json_space(text);
  if (think_begin_.empty() || !own.starts_with(think_begin_)) return text;
  const std::string_view rest = without_json_space(own.substr(think_begin_.size()));
  return rest.starts_with(think_end_) ? rest.substr(think_end_.size()) : text;
}

// Where a text with calls differs from one with content. If both begin alike with a word, it belongs to the calls.
size_t CallProbe::start_of_reply(std::string_view text) const {
  const size_t start = common_start(text, plain_).size();
  if (prompt_.empty() || prompt_.size() >= start || !text.starts_with(prompt_)) return start;
  const std::string_view words = text.substr(prompt_.size(), start - prompt_.size());
  return words.find_first_of("<[") == words.npos && !without_json_space(words).empty() ? prompt_.size() : start;
}

std::string CallProbe::content_begin() const {
  if (!plain_.starts_with(before_calls_)) return {};
  const std::string begin = plain_.substr(before_calls_.size());
  return begin.find_first_of("<[") == std::string::npos ? begin : std::string();
}

std::string CallProbe::calls(const std::vector<ToolCall>& calls) const {
  if (plain_.empty()) return {};
  const ChatMessage caller = {.role = "assistant", .tool_calls = calls};
  std::vector<ChatMessage> messages = {kAsked, caller};
  // Some templates write a call only with its result behind it, and some let only certain messages follow one.
  for (int round = 0; round < 3; ++round) {
    const std::string text = render_(messages);
    const size_t start = start_of_reply(text);
    before_calls_ = text.substr(0, start);
    std::string own(without_thought(std::string_view(text).substr(start)));
    if (!content_tags_.second.empty() && own.starts_with(content_tags_.second))
      own.erase(0, content_tags_.second.size());
    if (std::ranges::all_of(calls, [&](const ToolCall& call) { return own.contains(call.name); })) return own;
    if (round == 0) {
      for (const ToolCall& call : calls) {
        messages.push_back(
            {.role = "tool", .content = std::string(kProbeResult), .tool_call_id = call.id, .name = call.name});
      }
    } else {
      messages.push_back({.role = "assistant", .content = std::string(kProbeReply)});
    }
  }
  return {};
}

std::optional<ToolCallFormat> learn_calls(const CallProbe& probe) {
  const std::vector<ToolCall> one = {CallProbe::call()};
  const std::vector<ToolCall> two = {CallProbe::call(), CallProbe::other_call()};
  const std::string text = probe.calls(one);
  if (text.empty()) return std::nullopt;
  const std::string both = probe.calls(two);
  const auto json = learn_json_calls(probe), marked = learn_marked_calls(probe);
  for (const bool needs_both : {true, false}) {
    for (const auto& format : {json, marked}) {
      if (!format || !reads_back(*format, text, one)) continue;
      if (!needs_both || both.empty() || reads_back(*format, both, two)) return format;
    }
  }
  return std::nullopt;
}

}  // namespace tern
