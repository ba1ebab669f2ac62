// Replies cut at every place, and malicious replies.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "text/chat/chat_reply_test_support.h"

namespace tern {
namespace {

struct Case {
  ChatFormat format;
  std::string text;
};

std::vector<Case> cases() {
  const std::string call =
      "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"\\\"é </tool_call>\", \"b\": [1, {}]}}\n</tool_call>";
  return {
      {tagged_format(), "Hello\n\n\n"},
      {tagged_format(), "<think>\nhm <b>\n\n</thin\n</think>\n\nYes.\n\n" + call + "\n" + call + "\n\nDone\n"},
      {tagged_format(), "\n <think></think>\n\n" + call + " \n x"},
      {tagged_format(), "a\n\n<tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n</tool_call>\n\n" + call},
      {tagged_format(), "<tool_call>{\"a\"<tool_call>{\"name\": 1}\n</tool_call>\n\n\n\n\n\n\n\n\n\n\n\n" + call},
      {tagged_format(), "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</too"},
      {tagged_format(), std::string(63, ' ') + "<think>a</think>b"},
      {tagged_format(), std::string(64, ' ') + "<think>a</think>b"},
      {tagged_format(),
       "<think>" + std::string(20, '\n') + "a" + std::string(20, '\n') + "</think>" + std::string(20, '\n') + "b"},
      {bare_format(), R"({"name": "f", "parameters": {"a": "}é"}} ; <|python_tag|>{"name": "f", "parameters": {}}; x)"},
      {bare_format(), "\n<|python_tag|>{\"name\": \"f\", \"parameters\": {}}"},
      {bare_format(), R"({"name": "f", "parameters": {"a": 1}, "b": 2})"},
      {bare_format(), R"(<|python_tag{"name": "f", "parameters": {}})"},
      {bare_format(), std::string(62, '\n') + R"({"name": "f", "parameters": {}})"},
      {bare_format(), std::string(63, '\n') + R"({"name": "f", "parameters": {}};)" + std::string(70, ' ') + "{"},
      {bare_format(), std::string(64, '\n') + R"({"name": "f", "parameters": {}})"},
      {listed_format(), R"(So
[TOOL_CALLS] [{"name": "f", "arguments": {}, "id": "abc"}, {"name": "get_weather", "arguments": {"a": "]"}}]
x)"},
      {listed_and_closed_format(), R"(<|tool_call|> [ {"name":"f","arguments":{}} ] <|/tool_call|>)"},
  };
}

TEST(ChatReplyCuts, EveryCutGivesTheSame) {
  for (const Case& one : cases()) {
    for (const bool streams : {false, true}) {
      ChatReplyOptions options = with_tools();
      options.stream_arguments = streams;
      const std::string whole = summary(read_pieces(one.format, options, {one.text}));
      const std::string_view text = one.text;
      std::vector<std::string_view> bytes;
      for (size_t i = 0; i < text.size(); ++i) {
        bytes.push_back(text.substr(i, 1));
        ASSERT_EQ(summary(read_pieces(one.format, options, {text.substr(0, i), text.substr(i)})), whole) << i;
        for (size_t j = i; j < text.size(); j += 3) {
          ASSERT_EQ(
              summary(read_pieces(one.format, options, {text.substr(0, i), text.substr(i, j - i), text.substr(j)})),
              whole)
              << i << " " << j;
        }
      }
      EXPECT_EQ(summary(read_pieces(one.format, options, bytes)), whole);
    }
  }
}

// For a reply that ends anywhere, everything reported is correct. Without calls, that is the text itself.
TEST(ChatReplyCuts, EndingAnywhereLosesNothing) {
  for (const Case& one : cases()) {
    for (size_t n = 0; n <= one.text.size(); ++n) {
      const std::string text = one.text.substr(0, n);
      const ReadReply read = read_pieces(one.format, with_tools(), {text});
      EXPECT_EQ(read.wrong, "");
      const ChatMessage& message = read.message;
      if (message.tool_calls.empty() && message.reasoning.empty() && !text.contains("<think>")) {
        EXPECT_EQ(message.content, text);
      }
    }
  }
}

// Random sequences of the parts of calls: only marks and the line breaks next to them are removed.
TEST(ChatReplyCuts, EveryByteIsSomewhereOnce) {
  const std::vector<std::string_view> kParts = {
      "<tool_call>", "</tool_call>",      "\n", "{",       "}",        "\"name\": \"f\"",
      ", ",          "\"arguments\": {}", "x",  "<think>", "</think>", "{\"name\": \"f\", \"arguments\": {}}"};
  std::mt19937 random(1);
  int n_called = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    std::vector<std::string> pieces;
    for (size_t n = 1 + random() % 12; n > 0; --n) pieces.emplace_back(kParts[random() % kParts.size()]);
    for (const std::string& piece : pieces) text += piece;
    const ReadReply whole = read_pieces(tagged_format(), with_tools(), {text});
    const ReadReply cut =
        read_pieces(tagged_format(), with_tools(), std::vector<std::string_view>(pieces.begin(), pieces.end()));
    ASSERT_EQ(summary(whole), summary(cut)) << text;
    // Marks do not contain x, so every x must remain.
    const auto count = [](std::string_view of) { return std::ranges::count(of, 'x'); };
    ASSERT_EQ(count(whole.message.content) + count(whole.message.reasoning), count(text)) << text;
    size_t n_bytes = whole.message.content.size() + whole.message.reasoning.size();
    for (const ToolCall& call : whole.message.tool_calls) {
      (void)call;
      n_bytes += std::string_view("<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>").size();
      ++n_called;
    }
    ASSERT_LE(n_bytes, text.size() + std::string_view("</tool_call>").size()) << text;
  }
  EXPECT_GT(n_called, 100);
}

// The first text has ten megabytes, the others two, because sanitizers take thirty times as long.
TEST(ChatReplyCuts, HarmIsReadInLinearTimeAndLittleMemory) {
  const auto repeated = [](std::string_view part, size_t n_bytes = 2 << 20) {
    std::string text;
    while (text.size() < n_bytes) text += part;
    return text;
  };
  const std::string open = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": ";
  const Case harm[] = {
      {tagged_format(), repeated("<tool_call>", 10 << 20)},
      {tagged_format(), repeated("<tool_call")},
      {tagged_format(), repeated("<tool_call>{\"name\": ")},
      {tagged_format(), repeated("<")},
      {tagged_format(), repeated("\n")},
      {tagged_format(), "<think>" + repeated("\n</think")},
      {tagged_format(), "<tool_call>" + repeated(" ")},
      {tagged_format(), open + "\"" + repeated("x")},
      {tagged_format(), open + repeated("[")},
      {tagged_format(), open + repeated("1")},
      {tagged_format(), "<tool_call>" + repeated("{\"id\":")},
      {tagged_format(), open + "1}}" + repeated("\n")},
      {tagged_format(), repeated("\xFF\xC3")},
      {bare_format(), repeated("{\"name\": \"f\", \"parameters\": {}};")},
      {bare_format(), "{\"name\": \"" + repeated("x")},
      {listed_format(), "[TOOL_CALLS] [" + repeated("{\"name\": \"f\", \"arguments\": {}},")},
  };
  for (const Case& one : harm) {
    for (const bool streams : {false, true}) {
      if (streams && !one.text.starts_with(open)) continue;
      ChatReplyOptions options = with_tools();
      options.stream_arguments = streams;
      ChatReplyParser parser(one.format, options);
      const auto start = std::chrono::steady_clock::now();
      size_t n_told = 0;
      size_t most_kept = 0;
      const auto count = [&](const std::vector<ChatDelta>& deltas) {
        for (const ChatDelta& delta : deltas) n_told += delta.text.size();
      };
      for (size_t at = 0; at < one.text.size(); at += 200) {
        count(parser.feed(std::string_view(one.text).substr(at, 200)));
        if (parser.n_calls() == 0 && !one.text.starts_with("<think>"))
          most_kept = std::max(most_kept, at + 200 - std::min(n_told, at + 200));
      }
      count(parser.finish());
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      EXPECT_LT(seconds, 20) << one.text.substr(0, 60);  // about 0.1; quadratic time would take minutes
      EXPECT_LE(most_kept, (1u << 20) + 100) << one.text.substr(0, 60);
      if (parser.n_calls() == 0 && !one.text.starts_with("<think>")) {
        EXPECT_EQ(n_told, one.text.size());
      }
    }
  }
}

TEST(ChatReplyCuts, DeepArgumentsStayContent) {
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "{\"a\":";
  const std::string text =
      "<tool_call>{\"name\":\"f\",\"arguments\":" + deep + "1" + std::string(10'001, '}') + "</tool_call>";
  EXPECT_EQ(parse(tagged_format(), text), "|" + text + "|");
}

}  // namespace
}  // namespace tern
