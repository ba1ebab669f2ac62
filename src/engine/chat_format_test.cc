// Conversations with tools through the engine: what its template can express, and what is rejected.
#include <gtest/gtest.h>

#include "support/checkout.h"
#include "tern/chat_reply.h"
#include "tern/engine.h"
#include "tern/grammar.h"

namespace tern {
namespace {

Engine with_template(const std::string& source) {
  return Engine::load({.model_path = source_path("models/tern-stories.gguf"), .n_threads = 1, .chat_template = source})
      .value();
}

const ChatOptions kTools = {.tools = R"([{"type": "function", "function": {"name": "f"}}])"};

TEST(EngineChatFormat, RefusesToolsThatTheTemplateHasNot) {
  const Engine engine = with_template("{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}");
  const ChatMessage messages[] = {{"user", "a"}};
  EXPECT_EQ(engine.render_chat(messages).value().text, "[user]a");
  const auto refused = engine.render_chat(messages, kTools);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotSupported);
  EXPECT_TRUE(refused.error().message.starts_with("the model's chat template has no tools")) << refused.error().message;
  const ChatMessage called[] = {{"user", "a"}, {.role = "assistant", .tool_calls = {{.name = "f"}}}};
  EXPECT_EQ(engine.render_chat(called).error().code, ErrorCode::kNotSupported);
  EXPECT_FALSE(engine.chat_format().calls);
  // This template prints every role, including results of tools.
  const ChatMessage result[] = {{.role = "tool", .content = "b"}};
  EXPECT_EQ(engine.render_chat(result).value().text, "[tool]b");
}

TEST(EngineChatFormat, CallsThatTheTemplateLacksAreWrittenInTheModelsForm) {
  const Engine engine = with_template(
      "{{ '[TOOL_CALLS]' ~ (tools | tojson) if tools }}{% for m in messages %}[{{ m.role }}]{{ m.content }}"
      "{% endfor %}");
  const ChatMessage called[] = {{"user", "a"}, {.role = "assistant", .tool_calls = {{.name = "f"}, {.name = "g"}}}};
  EXPECT_EQ(
      engine.render_chat(called).value().text,
      "[user]a[assistant][TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}}, {\"name\": \"g\", \"arguments\": {}}]");
}

TEST(EngineChatFormat, ABegunReplyMayHaveThoughts) {
  const auto found = [](const std::string& end) {
    const Engine engine = with_template(
        "{% for m in messages %}[{{ m.role }}]{% if m.reasoning_content %}<|system|>{{ m.reasoning_content }}" + end +
        "{% endif %}{{ m.content }}{% endfor %}");
    const ChatMessage messages[] = {{"user", "<|system|>a<|user|>"}, {"assistant", "<|system|>hm" + end + "b<|end|>"}};
    const auto tokens =
        engine.tokenizer().encode_chat(engine.render_chat(messages, {.continue_final_message = true}).value());
    std::string marks;
    for (const TokenId id : tokens) {
      if (engine.tokenizer().piece(id).empty()) marks += engine.tokenizer().piece(id, true);
    }
    return marks;
  };
  EXPECT_EQ(found("<|user|>"), "<|system|><|user|>");
  EXPECT_EQ(found("<|end|>"), "<|system|>");  // this token ends replies
}

TEST(EngineChatFormat, TellsHowRepliesAreToBeRead) {
  const Engine engine = with_template(
      "{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}[{{ m.role }}]{{ m.content }}{% for c in "
      "m.tool_calls or [] %}<tool_call>{\"name\": {{ c.function.name | tojson }}, \"arguments\": "
      "{{ c.function.arguments | tojson }}}</tool_call>{% endfor %}{% endfor %}"
      "{% if add_generation_prompt %}[assistant]<think>{% endif %}");
  const ChatMessage messages[] = {{"user", "a"}};
  const std::string prompt = engine.render_chat(messages, kTools).value().text;
  EXPECT_EQ(prompt, R"([{"type": "function", "function": {"name": "f"}}][user]a[assistant]<think>)");
  const ChatFormat format = engine.chat_format();
  ASSERT_TRUE(format.calls);
  EXPECT_EQ(format.calls->begin, "<tool_call>");
  EXPECT_EQ(format.calls->end, "</tool_call>");
  EXPECT_TRUE(format.shown_tokens.empty());
  EXPECT_TRUE(format.opens_thought(prompt));
  ChatReplyParser parser(format, {.tool_names = tool_names(kTools.tools).value(), .in_thought = true});
  ChatMessage reply = {.role = "assistant"};
  append(reply, parser.feed("hm</think><tool_call>{\"name\": \"f\", \"arguments\": {\"x\": 1}}</tool_call>"));
  append(reply, parser.finish());
  EXPECT_EQ(reply.reasoning, "hm");
  ASSERT_EQ(reply.tool_calls.size(), 1u);
  // The parsed reply can be sent back unchanged.
  reply.reasoning.clear();
  const ChatMessage all[] = {messages[0], reply};
  EXPECT_EQ(engine.render_chat(all, {.add_generation_prompt = false}).value().text,
            "[user]a[assistant]<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": 1}}</tool_call>");
}

// A model that has never seen a tool is forced to call one: template syntax, schema and parser agree.
TEST(EngineChatFormat, AGrammarForcesACall) {
  constexpr std::string_view kForms[] = {
      "<tool_call>\n{{ c.function | tojson }}\n</tool_call>",
      "{\"name\": {{ c.function.name | tojson }}, \"parameters\": {{ c.function.arguments | tojson }}}",
      "[TOOL_CALLS] [{{ c.function | tojson }}]",
  };
  const std::string tools = R"([{"type": "function", "function": {"name": "walk", "parameters": {"type": "object",
      "properties": {"to": {"$ref": "#/$defs/place"}, "n": {"type": "integer", "minimum": 1, "maximum": 9}},
      "required": ["to", "n"], "additionalProperties": false, "$defs": {"place": {"enum": ["park", "shop"]}}}}},
      {"type": "function", "function": {"name": "sleep"}}])";
  for (const std::string_view form : kForms) {
    const Engine engine = with_template(
        "{{ tools | tojson if tools }}{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}" +
        std::string(form) + "{% endfor %}{% endfor %}");
    const ChatMessage messages[] = {{"user", "Lily wanted to go"}};
    const ChatFormat format = engine.chat_format();
    for (const std::string name : {"", "walk", "sleep"}) {
      const ToolCallGrammar call = tool_call_grammar(format, tools, {.name = name}).value();
      const auto grammar = Grammar::json_schema(call.schema);
      ASSERT_TRUE(grammar) << grammar.error().message;
      const std::string prompt = engine.render_chat(messages, {.tools = tools}).value().text + call.begin;
      Session session = engine.new_session().value();
      ChatReplyParser parser(format, {.tool_names = tool_names(tools).value(), .stream_arguments = true});
      ChatMessage reply;
      append(reply, parser.feed(call.begin));
      const auto tokens = engine.tokenizer().encode(prompt, {.add_bos = false, .parse_special = true});
      // "sleep" takes any object, for which the model would write a whole story. The biases close strings and objects
      // early.
      const auto id = [&](std::string_view text) {
        return engine.tokenizer().encode(text, {.add_bos = false}).front();
      };
      const GenerateOptions options = {
          .max_tokens = 200, .logit_bias = {{id("\""), 50.0f}, {id("}"), 50.0f}}, .grammar = *grammar};
      const auto made =
          session.generate(tokens, options, [&](std::string_view text) { append(reply, parser.feed(text)); });
      ASSERT_TRUE(made) << made.error().message;
      append(reply, parser.feed(call.end));
      append(reply, parser.finish());
      EXPECT_EQ(reply.content, "") << form;
      ASSERT_EQ(reply.tool_calls.size(), 1u) << made->text;
      if (!name.empty()) {
        EXPECT_EQ(reply.tool_calls[0].name, name);
      }
      const bool walks = reply.tool_calls[0].name == "walk";
      EXPECT_EQ(reply.tool_calls[0].arguments.contains("\"to\""), walks) << reply.tool_calls[0].arguments;
    }
  }
}

TEST(EngineChatFormat, IsEmptyWithoutATemplate) {
  const Engine engine =
      Engine::load({.model_path = source_path("tests/golden/bitnet/a_v2_tokenizer.gguf"), .n_threads = 1}).value();
  EXPECT_FALSE(engine.has_chat_template());
  EXPECT_FALSE(engine.chat_format().has_tools);
  EXPECT_EQ(engine.chat_format().think_begin, "");
}

}  // namespace
}  // namespace tern
