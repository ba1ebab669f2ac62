#include "tern/chat_reply.h"

#include <gtest/gtest.h>

#include <set>

#include "text/chat/chat_reply_test_support.h"

namespace tern {
namespace {

TEST(ChatReply, OfPlainText) {
  EXPECT_EQ(parse({}, "Hello\n\n"), "|Hello\n\n|");
  EXPECT_EQ(parse(tagged_format(), " \n Hello <b>\n"), "| \n Hello <b>\n|");
  EXPECT_EQ(parse(bare_format(), "\n\n"), "|\n\n|");
  EXPECT_EQ(parse(tagged_format(), ""), "||");
}

TEST(ChatReply, Thoughts) {
  EXPECT_EQ(parse(tagged_format(), "<think>\nhm\n\nso\n</think>\n\nYes.\n"), "hm\n\nso|Yes.\n|");
  EXPECT_EQ(parse(tagged_format(), " \n<think>a</think>b"), "a|b|");
  EXPECT_EQ(parse(tagged_format(), "<think>\n\n</think>\n\nYes"), "|Yes|");
  EXPECT_EQ(parse(tagged_format(), "<think>\nno end\n"), "no end\n||");
  EXPECT_EQ(parse(tagged_format(), "<think>a</thin"), "a</thin||");
  EXPECT_EQ(parse(tagged_format(), "<think>a</think>b<think>c</think>"), "a|b<think>c</think>|");
  EXPECT_EQ(parse(tagged_format(), "<think>a</think>\n<think>c"), "a|<think>c|");
  EXPECT_EQ(parse(tagged_format(), "It is <think>c</think>"), "|It is <think>c</think>|");
  EXPECT_EQ(parse(tagged_format(), "<thin"), "|<thin|");
  EXPECT_EQ(parse(bare_format(), "<think>a</think>b"), "|<think>a</think>b|");
  ChatReplyOptions inside = with_tools();
  inside.in_thought = true;
  EXPECT_EQ(parse(tagged_format(), "\nhm\n</think>\nYes", inside), "hm|Yes|");
  EXPECT_EQ(parse(bare_format(), "hm</think>Yes", inside), "|hm</think>Yes|");
}

TEST(ChatReply, CallsBetweenTags) {
  const ChatFormat format = tagged_format();
  EXPECT_EQ(parse(format, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": [1, 2]}}\n</tool_call>"),
            R"(||f{"a": [1, 2]})");
  EXPECT_EQ(parse(format, "Let me see.\n\n<tool_call>{\"arguments\":{},\"name\":\"f\"}</tool_call>\n"),
            "|Let me see.|f{}");
  EXPECT_EQ(
      parse(format,
            "<think>\nx <tool_call> y\n</think>\n\n<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>\n"
            "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"</tool_call>\"}}\n</tool_call>"),
      R"(x <tool_call> y||f{}get_weather{"city": "</tool_call>"})");
  EXPECT_EQ(parse(format, "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>\n\nDone.\n"), "|Done.\n|f{}");
  // The end mark is missing because the reply ends.
  EXPECT_EQ(parse(format, "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n"), "||f{}");
  EXPECT_EQ(parse(format, "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_"), "||f{}");
  EXPECT_EQ(parse(format, R"(<tool_call>{"name":"f","arguments":{},"type":"function"}</tool_call>)"), "||f{}");
  // A name may use any JSON spelling.
  EXPECT_EQ(parse(format, R"(<tool_call>{"n\u0061me":"\u0066","arguments":{}}</tool_call>)"), "||f{}");
}

TEST(ChatReply, BareCalls) {
  const ChatFormat format = bare_format();
  EXPECT_EQ(parse(format, R"({"name": "f", "parameters": {"a": "}"}})"), R"(||f{"a": "}"})");
  EXPECT_EQ(parse(format, R"( <|python_tag|>{"type": "function", "name": "f", "parameters": {}})"), "||f{}");
  EXPECT_EQ(parse(format, R"({"name": "f", "parameters": {}}; {"name": "f", "parameters": {"b": 1}})"),
            R"(||f{}f{"b": 1})");
  EXPECT_EQ(parse(format, R"({"name": "f", "parameters": {}} and so on)"), "| and so on|f{}");
  EXPECT_EQ(parse(format, R"({"name": "f", "parameters": {}};)"), "|;|f{}");
  EXPECT_EQ(parse(format, R"(Well: {"name": "f", "parameters": {}})"), R"(|Well: {"name": "f", "parameters": {}}|)");
  EXPECT_EQ(parse(format, "<|python_tag|>print(1)"), "|<|python_tag|>print(1)|");
}

TEST(ChatReply, CallsInLists) {
  EXPECT_EQ(
      parse(listed_format(), R"([TOOL_CALLS] [{"name": "f", "arguments": {}}, {"name":"f","arguments":{"a":"]"}}])"),
      R"(||f{}f{"a":"]"})");
  EXPECT_EQ(parse(listed_format(), R"(Yes[TOOL_CALLS][{"name": "f", "arguments": {}}] No)"), "|Yes No|f{}");
  EXPECT_EQ(parse(listed_and_closed_format(), R"(<|tool_call|>[{"name":"f","arguments":{}}]<|/tool_call|>)"), "||f{}");
  const ReadReply read =
      read_pieces(listed_format(), with_tools(), {R"([TOOL_CALLS][{"name":"f","arguments":{},"id":"abc"}])"});
  EXPECT_EQ(read.message.tool_calls.at(0).id, "abc");
}

TEST(ChatReply, WhatIsNoCallStaysAsItIs) {
  for (const std::string text : {
           "<tool_call>\nget_weather()\n</tool_call>",
           "\n\n<tool_call>\n\n",
           "<tool_call>{\"name\": \"f\"}</tool_call>",                         // no arguments
           "<tool_call>{\"arguments\": {}}</tool_call>",                       // no name
           "<tool_call>{\"name\": \"f\", \"arguments\": \"{}\"}</tool_call>",  // a string
           "<tool_call>{\"name\": 1, \"arguments\": {}}</tool_call>",
           "<tool_call>{\"name\": \"\", \"arguments\": {}}</tool_call>",
           "<tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>",               // unknown
           "<tool_call>{\"name\": \"f\", \"arguments\": {}, \"note\": 1}</tool_call>",  // not a member of calls
           "<tool_call>{\"name\": \"f\", \"name\": \"f\", \"arguments\": {}}</tool_call>",
           "<tool_call>{\"name\": \"f\", \"arguments\": {}, \"arguments\": {}}</tool_call>",
           "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1,}}</tool_call>",        // not JSON
           "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"\xFF\"}}</tool_call>",  // not UTF-8
           "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1e999}}</tool_call>",
           "<tool_call>{\"name\": \"f\", \"arguments\": {}} and </tool_call>",
           "<tool_call>{\"name\": \"f\", \"arguments\": {",  // no end
           "<tool_call>[{\"name\": \"f\", \"arguments\": {}}]</tool_call>",
           "<tool_call",
       }) {
    EXPECT_EQ(parse(tagged_format(), text), "|" + text + "|");
  }
  for (const std::string text :
       {R"({"answer": 42})", R"({"name": "f"})", R"({"name": "Bob", "parameters": {}})",
        R"([{"name": "f", "parameters": {}}])", "{", "{}", "\n\n{\"name\"", "<|python_tag|>"}) {
    EXPECT_EQ(parse(bare_format(), text), "|" + text + "|");
  }
  for (const std::string text : {"[TOOL_CALLS] []", "[TOOL_CALLS] [1]", "[TOOL_CALLS] x",
                                 R"([TOOL_CALLS] [{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}])"}) {
    EXPECT_EQ(parse(listed_format(), text), "|" + text + "|");
  }
}

TEST(ChatReply, ACallMayComeAfterWhatIsNone) {
  EXPECT_EQ(parse(tagged_format(), "<tool_call>oh <tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>"),
            "|<tool_call>oh |f{}");
  EXPECT_EQ(parse(tagged_format(), "<tool_call>{\"name\" <tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>"),
            "|<tool_call>{\"name\" |f{}");
  EXPECT_EQ(parse(tagged_format(), "<tool_<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_<tool_call>"),
            "|<tool_<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_<tool_call>|");
}

// JSON that is not a call is reported as soon as that is certain.
TEST(ChatReply, AnswersInJsonAreNotKeptBack) {
  ChatReplyParser parser(bare_format(), with_tools());
  EXPECT_TRUE(parser.feed("{\"answer\"").empty());
  const auto deltas = parser.feed(": ");
  ASSERT_EQ(deltas.size(), 1u);
  EXPECT_EQ(deltas[0].text, "{\"answer\": ");
}

TEST(ChatReply, RequestsWithoutToolsHaveNoCalls) {
  const std::string call = "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>";
  EXPECT_EQ(parse(tagged_format(), call, {}), "|" + call + "|");
  EXPECT_EQ(parse(tagged_format(), "<think>a</think>" + call, {}), "a|" + call + "|");
}

TEST(ChatReply, CallsHaveIds) {
  const std::string call = "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>";
  std::set<std::string> ids;
  for (int i = 0; i < 20; ++i) {
    for (const ToolCall& made : read_pieces(tagged_format(), {.tool_names = {"f"}}, {call, call}).message.tool_calls) {
      EXPECT_EQ(made.id.size(), 9u);
      EXPECT_EQ(made.id.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
                made.id.npos);
      ids.insert(made.id);
    }
  }
  EXPECT_EQ(ids.size(), 40u);
  const auto seeded = [&] { return read_pieces(tagged_format(), with_tools(), {call}).message.tool_calls; };
  EXPECT_EQ(seeded(), seeded());
}

ChatReplyOptions streaming() {
  ChatReplyOptions options = with_tools();
  options.stream_arguments = true;
  return options;
}

TEST(ChatReply, ArgumentsCanBeStreamed) {
  ChatReplyParser parser(tagged_format(), streaming());
  EXPECT_TRUE(parser.feed("<tool_call>\n{\"name\": \"f\", \"arguments\": ").empty());
  auto deltas = parser.feed("{\"a\": \"x");
  ASSERT_EQ(deltas.size(), 2u);
  EXPECT_EQ(deltas[0].kind, ChatDelta::Kind::kCallBegin);
  EXPECT_EQ(deltas[0].name, "f");
  EXPECT_EQ(deltas[1].kind, ChatDelta::Kind::kCallArguments);
  EXPECT_EQ(deltas[1].text, "{\"a\": \"x");
  EXPECT_EQ(parser.partial_call(), "") << "a call is under way, but its text was reported";
  deltas = parser.feed("y\"}}\n</tool_call>");
  ASSERT_EQ(deltas.size(), 1u);
  EXPECT_EQ(deltas[0].text, "y\"}");
  EXPECT_TRUE(parser.finish().empty());
  EXPECT_EQ(parser.n_calls(), 1);
}

TEST(ChatReply, StreamedCallsEndWhereTheTextBreaksOff) {
  EXPECT_EQ(parse(tagged_format(), "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\": \"x", streaming()),
            "||f{\"a\": \"x");
  EXPECT_EQ(parse(tagged_format(), "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\" x}}</tool_call>", streaming()),
            "|x}}</tool_call>|f{\"a\" ");
  EXPECT_EQ(
      parse(tagged_format(), "<tool_call>{\"name\":\"f\",\"arguments\":{}, \"id\":\"a\"}</tool_call>", streaming()),
      "|, \"id\":\"a\"}</tool_call>|f{}");
  EXPECT_EQ(parse(tagged_format(), "<tool_call>{\"name\":\"f\",\"arguments\":{}}\n</tool", streaming()), "||f{}");
  EXPECT_EQ(parse(tagged_format(), "<tool_call>{\"name\":\"f\",\"arguments\":{}}\n</toolx", streaming()),
            "|}\n</toolx|f{}");
  EXPECT_EQ(parse(tagged_format(), "<tool_call>{\"name\":\"g\",\"arguments\":{}}</tool_call>", streaming()),
            "|<tool_call>{\"name\":\"g\",\"arguments\":{}}</tool_call>|");
  // With members in another order, a call is reported when it is complete.
  EXPECT_EQ(parse(tagged_format(), "<tool_call>{\"arguments\":{},\"name\":\"f\"}</tool_call>", streaming()), "||f{}");
}

}  // namespace
}  // namespace tern
