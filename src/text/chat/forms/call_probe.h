// Small conversations that show how a chat template writes tool calls.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tern/chat.h"

namespace tern {

// Words that no template contains. Ids have nine letters because Mistral's templates require it.
inline constexpr std::string_view kProbeCall = "tern_call", kProbeOtherCall = "tern_other_call";
inline constexpr std::string_view kProbeId = "probecall", kProbeOtherId = "otherprob";
inline constexpr std::string_view kProbeKey = "tern_key", kProbeOtherKey = "tern_more";
inline constexpr std::string_view kProbeValue = "tern_value", kProbeOtherValue = "tern_rest";
inline constexpr std::string_view kProbeResult = "tern_result", kProbeReply = "tern_reply";
inline constexpr std::string_view kProbeNumber = "271828";

// Renders a conversation, with a tool and without a generation prompt; empty: the template refuses it.
using RenderProbe = std::function<std::string(const std::vector<ChatMessage>&)>;

class CallProbe {
 public:
  // `format`: its marks of thoughts are known. Empty thoughts before calls are left out. `prompt`: a conversation of
  // one question, up to where the reply begins.
  explicit CallProbe(const RenderProbe& render, const ChatFormat& format = {}, std::string prompt = {});

  // What an assistant's message with these calls adds to the conversation; empty: not all are rendered.
  std::string calls(const std::vector<ToolCall>& calls) const;
  // What follows an assistant's content and its closing tag, in a message without calls.
  const std::string& turn_end() const { return turn_end_; }
  // The tags that the template writes around an assistant's content; empty: none.
  const std::pair<std::string, std::string>& content_tags() const { return content_tags_; }
  // What stands before an assistant's content, if a call would begin there, and is no tag.
  std::string content_begin() const;

  static ToolCall call(std::string_view arguments = R"({"tern_key": "tern_value"})");
  static ToolCall other_call();

 private:
  std::string_view without_thought(std::string_view text) const;
  size_t start_of_reply(std::string_view text) const;

  const RenderProbe& render_;
  std::string think_begin_, think_end_, prompt_;
  mutable std::string before_calls_;  // the common part of conversations with calls and with content
  std::string plain_;                 // a conversation up to an assistant's content
  std::string turn_end_;
  std::pair<std::string, std::string> content_tags_;
};

// The index of the end of the JSON value that begins at `begin`; `begin`: there is none.
size_t json_end(std::string_view text, size_t begin);

// What both texts begin or end with, without parts of tags. A tag is <…> or [CAPITALS].
std::string_view common_start(std::string_view a, std::string_view b);
std::string_view common_end(std::string_view a, std::string_view b);

// The text behind a call up to the end of its first tag; empty: nothing, or what ends every turn.
std::string end_mark(std::string_view after, std::string_view turn_end);

// Calls that are JSON objects with their name inside; calls between marks. nullopt: they are not.
std::optional<ToolCallFormat> learn_json_calls(const CallProbe& probe);
std::optional<ToolCallFormat> learn_marked_calls(const CallProbe& probe);

// The form of the template's calls, by which they can be read back; nullopt: there is none.
std::optional<ToolCallFormat> learn_calls(const CallProbe& probe);

}  // namespace tern
