#include "text/chat/unfinished_message.h"

#include "text/chat/chat_template_test_support.h"

namespace tern::chat_template_test {
namespace {

const std::string kTurns =
    "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}<end>\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}";

std::string unfinished(const std::string& source, const std::vector<ChatMessage>& messages) {
  const ChatTemplate chat(source, "<s>", "</s>");
  const auto text = render_unfinished(messages, [&](std::span<const ChatMessage> all) { return chat.render(all); });
  return text ? text->text : "error: " + text.error().message;
}

TEST(UnfinishedMessage, EndsWithItsContent) {
  const ChatMessage user = {.role = "user", .content = "Capital of France?"};
  EXPECT_EQ(unfinished(kTurns, {user, {.role = "assistant", .content = "The capital is"}}),
            "<user>Capital of France?<end>\n<assistant>The capital is");
  EXPECT_EQ(unfinished(kTurns, {user, {.role = "assistant", .content = " The capital is "}}),
            "<user>Capital of France?<end>\n<assistant>The capital is ");
  EXPECT_EQ(unfinished(kTurns, {user, {.role = "assistant", .content = ""}}),
            "<user>Capital of France?<end>\n<assistant>");
  // Contents that also stand in the template's own text, or twice.
  EXPECT_EQ(unfinished(kTurns, {user, {.role = "assistant", .content = "e"}}),
            "<user>Capital of France?<end>\n<assistant>e");
  EXPECT_EQ(unfinished(kTurns, {{.role = "user", .content = "ternEndsHere"}, {.role = "assistant", .content = "A"}}),
            "<user>ternEndsHere<end>\n<assistant>A");
}

TEST(UnfinishedMessage, PublishedTemplates) {
  const std::string name = "Qwen3.5-4B.jinja";
  if (!std::filesystem::exists(kShared + "headers/" + name)) GTEST_SKIP() << "needs published templates";
  const std::string text = unfinished(published_template(name), {{.role = "user", .content = "Capital of France?"},
                                                                 {.role = "assistant", .content = "The capital is"}});
  EXPECT_TRUE(text.ends_with("The capital is")) << text;
  EXPECT_FALSE(text.contains("ternEndsHere")) << text;
}

TEST(UnfinishedMessage, Refusals) {
  const ChatMessage user = {.role = "user", .content = "a"};
  const std::string only =
      "error: only an assistant's message without calls, at the end of the conversation, can be "
      "continued";
  EXPECT_EQ(unfinished(kTurns, {}), only);
  EXPECT_EQ(unfinished(kTurns, {user}), only);
  EXPECT_EQ(unfinished(kTurns, {user, {.role = "assistant", .tool_calls = {{.id = "1", .name = "f"}}}}), only);
  EXPECT_EQ(unfinished("{% for m in messages %}{{ m.content | upper }}{% endfor %}",
                       {user, {.role = "assistant", .content = "b"}}),
            "error: the model's chat template does not show the beginning of a reply, so it cannot be continued");
}

}  // namespace
}  // namespace tern::chat_template_test
