#include "text/chat/chat_template.h"

#include <algorithm>
#include <mutex>

#include "text/chat/template_conversation.h"
#include "text/jinja/json.h"
#include "text/jinja/parser.h"
#include "text/jinja/renderer.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

constexpr size_t kMaxBytes = 256 << 10;  // of a template; published ones have at most about 25 KiB
constexpr size_t kMaxMessage = 200;      // of an error message

constexpr std::string_view kProbeTools =
    R"([{"type": "function", "function": {"name": "tern_tool", "description": "c", "parameters": )"
    R"({"type": "object", "properties": {}}}}])";

std::string_view trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

// The parts of a text of `size` bytes that `own` leaves out.
std::vector<TextRange> between(const std::vector<TextRange>& own, size_t size) {
  std::vector<TextRange> others;
  size_t done = 0;
  for (const TextRange& part : own) {
    if (part.begin > done) others.push_back({done, part.begin});
    done = part.end;
  }
  if (size > done) others.push_back({done, size});
  return others;
}

// Parses `source` and calls `use` with the tree. A template's error becomes one line.
template <class Use>
Result<ChatPrompt> with_parsed(const std::string& source, TemplateBudget& budget, const Use& use) {
  if (source.size() > kMaxBytes) {
    return fail(ErrorCode::kNotSupported, "chat template: {} bytes; at most {} are accepted", source.size(), kMaxBytes);
  }
  try {
    TemplateMemory memory(budget);
    return use(parse_template(source, memory), memory);
  } catch (const RequestFailure& failure) {
    return fail(failure.code(), "{}", printable(failure.what(), kMaxMessage));
  } catch (const TemplateFailure& failure) {
    return fail(failure.code(), "chat template: {}", printable(failure.what(), kMaxMessage));
  }
}

}  // namespace

Result<void> ChatTemplate::check() const {
  TemplateBudget budget(0);
  TRY_STATUS(with_parsed(source_, budget, [](const TemplateBody&, TemplateMemory&) { return ChatPrompt(); }));
  return {};
}

struct ChatTemplate::Styles {
  std::once_flag of_calls, of_content;
  MessageStyle calls;
  bool typed_content = false;
};

std::shared_ptr<ChatTemplate::Styles> ChatTemplate::make_styles() { return std::make_shared<Styles>(); }

// The first style in which a call's arguments are rendered.
MessageStyle ChatTemplate::find_call_style() const {
  const ChatMessage messages[] = {
      {.role = "user", .content = "a"},
      {.role = "assistant",
       .tool_calls = {{.id = "probecall", .name = "tern_call", .arguments = R"({"tern_key": "tern_value"})"}}}};
  const ChatOptions options = {.add_generation_prompt = false, .tools = std::string(kProbeTools)};
  for (const bool text_arguments : {false, true}) {
    for (const bool null_content : {false, true}) {
      const MessageStyle style = {.null_content = null_content, .text_arguments = text_arguments};
      const auto text = render_as(style, messages, options);
      if (text && text->text.contains("tern_value")) return style;
    }
  }
  return {};
}

bool ChatTemplate::wants_typed_content(const ChatOptions& options) const {
  const ChatMessage message = {.role = "user", .content = "tern_word"};
  const auto shows = [&](bool typed) {
    const auto text = render_as({.typed_content = typed}, std::span(&message, 1), options);
    return text && text->text.contains(message.content);
  };
  return !shows(false) && shows(true);
}

Result<ChatPrompt> ChatTemplate::render(std::span<const ChatMessage> messages, const ChatOptions& options) const {
  MessageStyle style;
  if (std::ranges::any_of(messages, [](const ChatMessage& message) { return !message.tool_calls.empty(); })) {
    std::call_once(styles_->of_calls, [this] { styles_->calls = find_call_style(); });
    style = styles_->calls;
  }
  auto text = render_as(style, messages, options);
  // Only templates that look at the types of a content's parts can want some.
  if (!source_.contains("type") || messages.empty()) return text;
  const auto asked = std::ranges::find_last(messages, std::string_view("user"), &ChatMessage::role);
  if (asked.empty() || (text && text->text.contains(trimmed(asked.front().content)))) return text;
  std::call_once(styles_->of_content, [&] { styles_->typed_content = wants_typed_content(options); });
  if (!styles_->typed_content) return text;
  style.typed_content = true;
  return render_as(style, messages, options);
}

Result<ChatPrompt> ChatTemplate::render_as(const MessageStyle& style, std::span<const ChatMessage> messages,
                                           const ChatOptions& options) const {
  TemplateBudget budget(conversation_bytes(messages, options));
  return with_parsed(source_, budget, [&](const TemplateBody& body, TemplateMemory& memory) {
    TemplateNames names = conversation_names(messages, options, source_, style, memory);
    for (const auto& [name, token] : {std::pair("bos_token", bos()), std::pair("eos_token", eos())}) {
      memory.own(token);
      names.emplace_back(name, token);
    }
    TemplateText text = render_template(body, std::move(names), memory);
    ChatPrompt prompt;
    if (!options.parse_special) prompt.quoted = between(text.own(), text.size());
    prompt.text = std::move(text).take();
    return prompt;
  });
}

std::string_view bitnet_chat_template() {
  return "{{ bos_token }}"
         "{% for message in messages %}"
         "{{ message.role | capitalize + ': ' + message.content | trim + '<|eot_id|>' }}"
         "{% endfor %}"
         "{% if add_generation_prompt %}{{ 'Assistant: ' }}{% endif %}";
}

bool is_placeholder_chat_template(std::string_view source) {
  return source.contains("Human: ") && source.contains("BITNETAssistant: ");
}

}  // namespace tern
