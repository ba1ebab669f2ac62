#include "text/chat/forms/thought_marks.h"

#include <algorithm>

#include "text/chat/forms/json_scanner.h"
#include "text/chat/forms/literal_match.h"

namespace tern {
namespace {

constexpr std::string_view kThought = "tern_thought";
constexpr std::string_view kChannels[] = {"<|channel|>analysis<|message|>", "<|channel|>final<|message|>"};

// Marks that are known without a rendered thought.
constexpr std::pair<std::string_view, std::string_view> kKnown[] = {
    {"<think>", "</think>"}, {"[THINK]", "[/THINK]"}, {"<|START_THINKING|>", "<|END_THINKING|>"}};

// The mark behind which the thought stands: from the last tag on.
std::string_view mark_before(std::string_view text) {
  const std::string_view end = without_json_space(text);
  const size_t last = last_tag(end);
  const size_t tag = last == end.npos ? end.rfind('<') : last;
  return tag == end.npos ? std::string_view() : end.substr(tag);
}

std::string_view mark_after(std::string_view text) {
  text = without_json_space(text);
  return text.substr(0, tag_end(text, 0));
}

// Thoughts and content in messages of their own, which differ by words of their headers: "to=self<|message|>". The
// mark behind a thought leads to the next header.
bool find_headers(const RenderProbe& render, std::string_view prompt, const ChatMessage& thinker,
                  const ChatMessage& plain, ChatFormat& format) {
  const ChatMessage question = {.role = "user", .content = "a"};
  const std::string with = render({question, thinker}), without = render({question, plain});
  const size_t reply = without.find(kProbeReply), thought = with.find(kThought);
  if (prompt.empty() || !with.starts_with(prompt) || !without.starts_with(prompt)) return false;
  if (reply == without.npos || thought == with.npos || thought < prompt.size() || reply < prompt.size()) return false;
  const std::string own = without.substr(prompt.size(), reply - prompt.size());
  const std::string other = with.substr(prompt.size(), thought - prompt.size());
  const size_t tag = last_tag(own), other_tag = last_tag(other);
  if (own == other || tag == own.npos || other_tag == other.npos || tag == 0 || other_tag == 0) return false;
  if (own.substr(tag) != other.substr(other_tag)) return false;
  const size_t next = with.find(kProbeReply, thought);
  const size_t end = thought + kThought.size();
  if (next == with.npos || next < end + own.size() || with.substr(next - own.size(), own.size()) != own) return false;
  format.think_begin = without_json_space(other);
  format.think_end = with.substr(end, next - own.size() - end);
  format.content_begin = without_json_space(own);
  return !format.think_end.empty();
}

}  // namespace

void find_thought_marks(std::string_view source, const RenderProbe& render, std::string_view prompt,
                        ChatFormat& format) {
  format.has_channels =
      std::ranges::all_of(kChannels, [&](std::string_view channel) { return source.contains(channel); });
  if (format.has_channels) return;
  for (const auto& [begin, end] : kKnown) {
    if (!source.contains(begin) && !source.contains(end)) continue;
    format.think_begin = begin;
    format.think_end = end;
    return;
  }
  const ChatMessage question = {.role = "user", .content = "a"};
  ChatMessage thinker = {.role = "assistant", .content = std::string(kProbeReply), .reasoning = std::string(kThought)};
  ChatMessage plain = {.role = "assistant", .content = std::string(kProbeReply)};
  if (find_headers(render, prompt, thinker, plain, format)) return;
  for (int round = 0; round < 2; ++round) {  // some templates show only thoughts before calls
    const std::string text = render({question, thinker});
    const size_t start = common_start(text, render({question, plain})).size();
    const size_t at = text.find(kThought);
    if (at != text.npos && at >= start) {
      std::string_view begin = mark_before(std::string_view(text).substr(start, at - start));
      const std::string_view end = mark_after(std::string_view(text).substr(at + kThought.size()));
      // A template may write the tags around an empty thought as well.
      if (const std::string_view tag = mark_before(std::string_view(text).substr(0, at));
          begin.empty() && closes(end, tag))
        begin = tag;
      if (!begin.empty() && !end.empty()) {
        format.think_begin = begin;
        format.think_end = end;
        return;
      }
    }
    thinker.content.clear();
    plain.content.clear();
    thinker.tool_calls = plain.tool_calls = {CallProbe::call()};
  }
}

}  // namespace tern
