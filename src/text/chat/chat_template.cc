#include "text/chat/chat_template.h"

#include "text/chat/template_conversation.h"
#include "text/jinja/json.h"
#include "text/jinja/parser.h"
#include "text/jinja/renderer.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

constexpr size_t kMaxBytes = 256 << 10;  // of a template; published ones have at most about 25 KiB
constexpr size_t kMaxMessage = 200;      // of an error message

// Parses `source` and calls `use` with the tree. A template's error becomes one line.
template <class Use>
Result<std::string> with_parsed(const std::string& source, TemplateBudget& budget, const Use& use) {
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
  TRY_STATUS(with_parsed(source_, budget, [](const TemplateBody&, TemplateMemory&) { return std::string(); }));
  return {};
}

Result<std::string> ChatTemplate::render(std::span<const ChatMessage> messages, const ChatOptions& options) const {
  TemplateBudget budget(conversation_bytes(messages, options));
  return with_parsed(source_, budget, [&](const TemplateBody& body, TemplateMemory& memory) {
    TemplateNames names = conversation_names(messages, options, source_, memory);
    const std::string_view bos = bos_;
    const std::string_view eos = eos_;
    names.emplace_back("bos_token", bos);
    names.emplace_back("eos_token", eos);
    return render_template(body, std::move(names), memory);
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
