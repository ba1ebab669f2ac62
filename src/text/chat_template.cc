#include "text/chat_template.h"

#include <ctime>

#include "text/template_guard.h"
#include "text/template_scope.h"
#include "text/utf8.h"

namespace tern {
namespace {

// As transformers sets up Jinja.
constexpr minja::Options kJinjaOptions{.trim_blocks = true, .lstrip_blocks = true, .keep_trailing_newline = false};

constexpr size_t kMaxMessage = 200;    // of an error
constexpr size_t kMessageBytes = 128;  // of a chat message beside its text

// Gives back what the scope holds, whichever way rendering ends.
class Released {
 public:
  explicit Released(TemplateScope& scope) : scope_(scope) {}
  ~Released() { scope_.release(); }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  TemplateScope& scope_;
};

// What Python's str.strip() removes.
bool is_python_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::string strip(std::string_view text) {
  size_t begin = 0;
  while (begin < text.size()) {
    const Utf8Char c = decode_utf8(text.substr(begin));
    if (c.status != Utf8Status::kValid || !is_python_space(c.code)) break;
    begin += c.length;
  }
  text.remove_prefix(begin);
  size_t end = 0;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    at += c.length;
    if (c.status != Utf8Status::kValid || !is_python_space(c.code)) end = at;
  }
  return std::string(text.substr(0, end));
}

// ASCII only: it is meant for role names.
std::string capitalize(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - ('a' - 'A'));
  return text;
}

minja::Value string_filter(const char* name, std::string (*function)(const std::string&)) {
  return minja::Value::callable([=](const std::shared_ptr<minja::Context>&, minja::ArgumentsValue& args) {
    args.expectArgs(name, {1, 1}, {0, 0});
    return minja::Value(function(args.args[0].get<std::string>()));
  });
}

minja::Value strftime_now() {
  return minja::Value::callable([](const std::shared_ptr<minja::Context>&, minja::ArgumentsValue& args) {
    args.expectArgs("strftime_now", {1, 1}, {0, 0});
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char text[256];
    const size_t length = std::strftime(text, sizeof text, args.args[0].get<std::string>().c_str(), &local);
    return minja::Value(std::string(text, length));
  });
}

// The first line of what minja says, fit for one line of ours.
std::string one_line(std::string_view message) {
  message = message.substr(0, message.find('\n'));
  if (message.ends_with(':')) message.remove_suffix(1);
  return printable(message, kMaxMessage);
}

}  // namespace

struct ChatTemplate::Impl {
  std::shared_ptr<minja::TemplateNode> root;
  std::string bos;
  std::string eos;
  size_t n_source = 0;
};

ChatTemplate::ChatTemplate(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

Result<ChatTemplate> ChatTemplate::parse(std::string source, std::string bos, std::string eos) {
  TRY(const std::string guarded, guard_template(std::move(source)));
  try {
    auto root = minja::Parser::parse(guarded, kJinjaOptions);
    return ChatTemplate(std::make_unique<Impl>(std::move(root), std::move(bos), std::move(eos), guarded.size()));
  } catch (const std::exception& error) {
    return fail(ErrorCode::kNotSupported, "chat template: {}", one_line(error.what()));
  }
}

Result<std::string> ChatTemplate::render(std::span<const ChatMessage> messages, const ChatOptions& options) const {
  try {
    auto list = minja::Value::array();
    size_t n_input = 0;
    for (const ChatMessage& message : messages) {
      auto item = minja::Value::object();
      item.set("role", message.role);
      item.set("content", message.content);
      list.push_back(item);
      n_input += kMessageBytes + message.role.size() + message.content.size();
    }
    auto values = minja::Value::object();
    values.set("messages", list);
    values.set("bos_token", impl_->bos);
    values.set("eos_token", impl_->eos);
    values.set("add_generation_prompt", options.add_generation_prompt);
    if (options.think) values.set("enable_thinking", *options.think);
    values.set("trim", string_filter("trim", [](const std::string& text) { return strip(text); }));
    values.set("capitalize", string_filter("capitalize", [](const std::string& text) { return capitalize(text); }));
    values.set("strftime_now", strftime_now());
    const auto budget = std::make_shared<TemplateBudget>(n_input, impl_->n_source);
    const auto scope = make_outermost_scope(std::move(values), budget);
    const Released released(*scope);
    return impl_->root->render(scope);
  } catch (const TemplateStopped& stopped) {
    return fail(ErrorCode::kNotSupported, "chat template: {}", stopped.reason);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "chat template: {}", one_line(error.what()));
  }
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
