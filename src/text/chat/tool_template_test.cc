// How chat templates render conversations with tools, and which requests are refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/result_test_support.h"
#include "text/chat/chat_template_test_support.h"

namespace tern {
namespace {

using namespace chat_template_test;
using Json = nlohmann::ordered_json;

// Reads a message in OpenAI's JSON.
ChatMessage message_of(const Json& json) {
  const auto text = [&](const char* key) { return json.contains(key) && json[key].is_string() ? json[key] : Json(""); };
  ChatMessage message = {.role = text("role"),
                         .content = text("content"),
                         .reasoning = text("reasoning_content"),
                         .tool_call_id = text("tool_call_id"),
                         .name = text("name")};
  for (const Json& call : json.value("tool_calls", Json::array())) {
    message.tool_calls.push_back(
        {.id = call["id"], .name = call["function"]["name"], .arguments = call["function"]["arguments"]});
  }
  return message;
}

// The goldens are Jinja's output (tests/golden/make_tool_goldens.py).
void check_tool_goldens(bool is_published, size_t at_least) {
  const Json file = read_goldens("tool_chat.json");
  const auto render_golden = [&](const ChatTemplate& chat, const Json& golden, const Json& conversation) {
    std::vector<ChatMessage> messages;
    for (const Json& message : conversation) {
      messages.push_back(message_of(message));
      // The goldens' messages have thoughts only under this name.
      if (!chat.source().contains("reasoning_content")) messages.back().reasoning.clear();
    }
    const ChatOptions options{.add_generation_prompt = golden.at("prompt"),
                              .tools = golden.at("tools") ? file.at("tools").dump() : ""};
    return chat.render(messages, options);
  };
  check_goldens(file, is_published, at_least, render_golden);
}

TEST(ToolTemplate, RendersAsInPython) { check_tool_goldens(false, 90); }

TEST(ToolTemplate, PublishedTemplatesRenderAsInPython) {
  if (!std::filesystem::exists(kShared)) GTEST_SKIP() << "the published templates are not here: " << kShared;
  check_tool_goldens(true, 160);
}

std::string with_arguments(const std::string& arguments) {
  return render("{{ messages[0].tool_calls[0].function.arguments | tojson }}",
                {{.role = "assistant", .tool_calls = {{.name = "f", .arguments = arguments}}}});
}

TEST(ToolTemplate, ArgumentsAreAnObject) {
  EXPECT_EQ(with_arguments(R"({"b":1,"a":[1.0,1e3,-0.5e-7,true,null,"\u00e9\n"],"b":2})"),
            R"({"b": 2, "a": [1.0, 1000.0, -5e-08, true, null, "é\n"]})");
  EXPECT_EQ(with_arguments(""), "{}");
  EXPECT_EQ(with_arguments("[1]"), "error: message 1: the arguments of 'f': a list where a JSON object is needed");
  EXPECT_EQ(with_arguments(R"({"a": )"), "error: message 1: the arguments of 'f': not valid JSON, at byte 7");
  EXPECT_EQ(with_arguments("{\"a\": \"\xFF\"}"), "error: message 1: the arguments of 'f': not valid JSON, at byte 8");
  EXPECT_EQ(with_arguments(R"({"a": 9223372036854775807})"), R"({"a": 9223372036854775807})");
  EXPECT_EQ(with_arguments(R"({"a": 9223372036854775808})"),
            "error: message 1: the arguments of 'f': 9223372036854775808 is too large for a whole number of 64 bits");
  EXPECT_EQ(with_arguments(R"({"a": -9223372036854775809})"),
            "error: message 1: the arguments of 'f': -9223372036854775809 is too large for a whole number of 64 bits");
  EXPECT_EQ(with_arguments(R"({"a": 1e999})"),
            "error: message 1: the arguments of 'f': a number in the JSON is out of range");
  const std::string deep = R"({"a": )" + std::string(10'000, '[') + std::string(10'000, ']') + "}";
  EXPECT_EQ(with_arguments(deep), "error: message 1: the arguments of 'f': JSON nested more than 48 deep");
}

TEST(ToolTemplate, ToolsAreAsInOpenAisInterface) {
  const auto with_tools = [](const std::string& tools) {
    return render("{{ tools is none }}{{ tools | tojson }}", {}, {.tools = tools});
  };
  EXPECT_EQ(with_tools(""), "Truenull");
  EXPECT_EQ(with_tools(" [ ] "), "Truenull");
  EXPECT_EQ(with_tools(R"([{"type":"function","function":{"name":"f","z":1,"a":2}}])"),
            R"(False[{"type": "function", "function": {"name": "f", "z": 1, "a": 2}}])");
  const std::pair<std::string, std::string> wrong[] = {
      {"{}", "tools: a dict where a list is needed"},
      {"x", "tools: not valid JSON, at byte 1"},
      {"[] []", "tools: not valid JSON, at byte 4"},
      {"[1]", "tools: number 1 is no object"},
      {"[{}]", "tools: number 1 has not the \"type\" \"function\", the only one that there is"},
      {R"([{"type":"retrieval"}])", "tools: number 1 has not the \"type\" \"function\", the only one that there is"},
      {R"([{"type":"function"}])", "tools: number 1 has no \"function\" that is an object"},
      {R"([{"type":"function","function":{"name":""}}])",
       "tools: number 1 has no \"name\" in its function that is a text"},
  };
  for (const auto& [tools, message] : wrong) EXPECT_EQ(with_tools(tools), "error: " + message);
}

TEST(ToolTemplate, RefusesWhatARoleHasNot) {
  EXPECT_EQ(render("", {{.role = "user", .tool_calls = {{.name = "f"}}}}),
            "error: message 1: tool calls in a message of 'user', which only one of 'assistant' has");
  EXPECT_EQ(render("", {{.role = "user"}, {.role = "tool", .reasoning = "x"}}),
            "error: message 2: reasoning in a message of 'tool', which only one of 'assistant' has");
  EXPECT_EQ(render("", {{.role = "assistant", .tool_call_id = "x"}}),
            "error: message 1: the id of a tool call in a message of 'assistant', which only one of 'tool' has");
  EXPECT_EQ(render("", {{.role = "assistant", .tool_calls = {{.arguments = "{}"}}}}),
            "error: message 1: a tool call without a name");
}

TEST(ToolTemplate, ThoughtsGoWhereTheTemplateLooksForThem) {
  const ChatMessage thinker = {.role = "assistant", .content = "b", .reasoning = "a"};
  for (const std::string name : {"reasoning_content", "reasoning", "thinking"}) {
    EXPECT_EQ(render("{{ messages[0]." + name + " }}|{{ messages[0].content }}", {thinker}), "a|b");
    EXPECT_EQ(render("{{ messages[0]['" + name + "'] }}|{{ messages[0].get(\"" + name + "\") }}", {thinker}), "a|a");
  }
  // Neither a word of the prompt nor another variable is a member.
  EXPECT_EQ(render("{# your reasoning. #}{{ reasoning_effort }}{{ messages[0] | tojson }}", {thinker}),
            R"({"role": "assistant", "content": "b"})");
}

// A thought that is sent back to a template that reads none changes nothing.
TEST(ToolTemplate, ThoughtsThatNoTemplateReadsAreLeftOut) {
  const std::string source =
      "{% for m in messages %}<{{ m.role }}>{{ m.content.split('</think>')[-1] if m.role == 'assistant' else m.content "
      "}}{% endfor %}";
  const ChatMessage question = {"user", "2+2?"}, next = {"user", "3+3?"};
  const ChatMessage thinker = {.role = "assistant", .content = "4", .reasoning = "Easy."};
  EXPECT_EQ(render(source, {question, thinker, next}), "<user>2+2?<assistant>4<user>3+3?");
  EXPECT_EQ(render("{{ messages[0].content }}", {thinker}), "4");
}

// Some templates take contents as lists of parts, have no content beside calls, or take arguments as text.
TEST(ToolTemplate, MessagesComeInTheTemplatesStyle) {
  const std::string typed =
      "{% for m in messages %}<{{ m['role'] }}>{% for c in m['content'] | selectattr('type', 'equalto', 'text') %}"
      "{{ c['text'] }}{% endfor %}{% endfor %}";
  EXPECT_EQ(render(typed, {{"user", " Hi "}, {"assistant", ""}, {"user", "there"}}),
            "<user> Hi <assistant><user>there");
  const std::vector<ChatMessage> caller = {
      {"user", "x"}, {.role = "assistant", .tool_calls = {{.name = "f", .arguments = "{\"a\":1}"}}}};
  EXPECT_EQ(render("{% for m in messages %}{% if m.content is none %}{{ m.tool_calls[0].function.arguments | tojson }}"
                   "{% endif %}{% endfor %}",
                   caller),
            R"({"a": 1})");
  EXPECT_EQ(
      render("{% for c in messages[1].tool_calls %}{{ c.function.name + c.function.arguments }}{% endfor %}", caller),
      R"(f{"a":1})");
}

TEST(ToolTemplate, VariablesAreThoseOfTheTemplate) {
  const std::string source = "{{ date_string }}{{ level + 1 }}";
  EXPECT_EQ(render(source, {}, {.variables = R"({"date_string": "today ", "level": 2})"}), "today 3");
  EXPECT_EQ(render("{{ preserve_thinking or 'a' }}", {}, {.variables = R"({"color": 1, "": 2, "range": 3})"}), "a");
  EXPECT_EQ(render("{{ messages }}", {}, {.variables = R"({"messages": []})"}),
            "error: template variables: 'messages' is given already, by another option");
  EXPECT_EQ(render("{{ enable_thinking }}", {}, {.think = true, .variables = R"({"enable_thinking": false})"}),
            "error: template variables: 'enable_thinking' is given already, by another option");
  EXPECT_EQ(render(source, {}, {.variables = "[]"}), "error: template variables: a list where an object is needed");
}

TEST(ToolTemplate, ToolsAsText) {
  const std::string tools = R"([{"type":"function","function":{"name":"f"}}])";
  EXPECT_EQ(render("{{ '' + functions }}", {}, {.tools = R"([])"}), "null");
  EXPECT_TRUE(
      render("{{ '<' + functions }}", {}, {.tools = tools}).starts_with("<[\n    {\n        \"type\": \"function\""));
  EXPECT_TRUE(render("{{ '' + datetime }}", {}).ends_with(" GMT"));
  EXPECT_EQ(render("{{ '' + datetime }}", {}, {.variables = R"({"datetime": "today"})"}), "today");
}

TEST(ToolTemplate, DevelopersAreTheSystem) {
  EXPECT_EQ(render("{{ messages[0].role }}", {{.role = "developer", .content = "x"}}), "system");
}

// Members that a message lacks are absent, because templates test for them with `in`.
TEST(ToolTemplate, PlainMessagesHaveNothingElse) {
  EXPECT_EQ(render("{{ messages[0] | tojson }}", {{"user", "x"}}), R"({"role": "user", "content": "x"})");
}

// Many members cost quadratic time, so they are refused early.
TEST(ToolTemplate, HugeToolsAreRefused) {
  std::string tools = R"([{"type":"function","function":{"name":"f","parameters":{)";
  for (int i = 0; i < 200'000; ++i) tools += "\"" + std::to_string(i) + "\":1,";
  tools += R"("x":1}}}])";
  EXPECT_TRUE(
      render("{{ tools | tojson }}", {}, {.tools = tools}).starts_with("error: chat template: it runs for too"));
}

}  // namespace
}  // namespace tern
