// Replies that are unconstrained until they call a tool.
#include <gtest/gtest.h>

#include "engine/session_core_test_support.h"
#include "tern/chat_reply.h"

namespace tern {
namespace {

using namespace engine_test;

const ChatFormat kMarked = {
    .think_begin = "<t>", .think_end = "</t>", .calls = ToolCallFormat{.begin = "<c>", .end = "</c>"}};
constexpr const char* kOneTool = R"([{"type": "function", "function": {"name": "f", "parameters": {"type": "object",
    "properties": {"a": {"enum": [1, 2]}}, "required": ["a"], "additionalProperties": false}}}])";

struct Asked {
  GenerateOptions options;
  ChatTurn turn;
};

Asked ask(const ChatFormat& format = kMarked, bool parallel = true) {
  Asked asked;
  asked.turn = chat_turn(format, {}, {.tools = kOneTool, .parallel = parallel}, asked.options).value();
  asked.options.max_tokens = 200;
  return asked;
}

// Format: "content|name{arguments}…"
std::string read_reply(const Asked& asked, std::string_view text) {
  ChatReplyParser parser(asked.turn.format, asked.turn.reply);
  ChatMessage message;
  append(message, parser.feed(text));
  append(message, parser.finish());
  std::string all = message.content + "|";
  for (const ToolCall& call : message.tool_calls) all += call.name + call.arguments;
  return all;
}

// The scripted text is not a valid call of the tool, so the constraint changes it; the white space is the model's own.
TEST(ConstrainedCalls, ACallIsHeldAndTextIsFree) {
  Fixture f("{x}: ok <c>{\"name\":\"g\",\"arguments\":{\"a\":3}}</c>; bye", 256);
  const Asked asked = ask();
  const auto result = f.generate("ab", asked.options).value();
  EXPECT_TRUE(result.text.starts_with("{x}: ok <c>")) << result.text;
  const std::string message = read_reply(asked, result.text);
  EXPECT_TRUE(message.contains("|f{")) << message;
  EXPECT_FALSE(message.contains("g")) << message;
  EXPECT_TRUE(message.starts_with("{x}: ok ")) << message;
}

// Calls between marks are held in the same way; the value is of the parameter's type.
TEST(ConstrainedCalls, ACallOfPairsIsHeld) {
  using Kind = CallPiece::Kind;
  ToolCallFormat calls;
  calls.marked = MarkedCalls{.pieces = {{.kind = Kind::kText, .text = "<c>f="},
                                        {.kind = Kind::kName},
                                        {.kind = Kind::kText, .text = ">"},
                                        {.kind = Kind::kArguments},
                                        {.kind = Kind::kText, .text = "</c>"}},
                             .values = MarkedCalls::Values::kText,
                             .key_begin = "<p=",
                             .key_end = ">",
                             .value_end = "</p>",
                             .key_end_other = ">"};
  const ChatFormat format = {.calls = calls};
  Fixture f("{x}: ok <c>f=g><p=b>3</p></c>; bye", 256);
  const Asked asked = ask(format);
  const auto result = f.generate("ab", asked.options).value();
  const std::string message = read_reply(asked, result.text);
  EXPECT_TRUE(message.starts_with("{x}: ok ")) << message;
  EXPECT_TRUE(message.contains(R"(|f{"a": 1})") || message.contains(R"(|f{"a": 2})")) << message;
}

TEST(ConstrainedCalls, TextWithoutACallIsAsItWas) {
  const std::string text = "a <b> is no {\"name\": \"g\"}, nor is < c>";
  Fixture f(text, 256);
  EXPECT_EQ(f.generate("ab", ask().options).value().text, text);
}

TEST(ConstrainedCalls, AMarkInAThoughtIsNone) {
  const std::string text = "<t>I may write <c> and {}</t>no";
  Fixture f(text, 256);
  EXPECT_EQ(f.generate("ab", ask().options).value().text, text);
}

// The script has two calls: both are made, unless only one is allowed.
TEST(ConstrainedCalls, TwoCallsUnlessOneIsAskedFor) {
  const std::string call = "<c>{\"name\":\"f\",\"arguments\":{\"a\":1}}</c>";
  Fixture f(call + call + "!", 256);
  const Asked both = ask();
  const auto result = f.generate("ab", both.options).value();
  EXPECT_EQ(result.text, call + call + "!");
  EXPECT_EQ(read_reply(both, result.text), "!|f{\"a\":1}f{\"a\":1}");
  Fixture g(call + call + "!", 256);
  const auto one = g.generate("ab", ask(kMarked, false).options).value();
  EXPECT_EQ(one.text, call);
  EXPECT_EQ(one.reason, FinishReason::kStopToken);
}

TEST(ConstrainedCalls, ACallThatIsCutOff) {
  Fixture f("<c>{\"name\":\"f\",\"arguments\":{\"a\":1}}</c>", 256);
  Asked asked = ask();
  asked.options.max_tokens = 20;
  const auto result = f.generate("ab", asked.options).value();
  EXPECT_EQ(result.reason, FinishReason::kMaxTokens);
  EXPECT_EQ(read_reply(asked, result.text), result.text + "|");
}

// Some models have no mark for calls; then a call is at the start of the reply.
TEST(ConstrainedCalls, WithoutAMark) {
  const ChatFormat bare = {.think_begin = {}, .think_end = {}, .calls = ToolCallFormat{.arguments = "parameters"}};
  for (const char* begin :
       {"{  \"type\":\"function\",\"name\":\"g", "{\"name\": \"", "{\n\"name\":\"f\",\"parameters\":{\"b\""}) {
    Fixture f(begin, 256);
    const Asked asked = ask(bare);
    auto options = asked.options;
    options.ignore_eos = true;
    const std::string message = read_reply(asked, f.generate("ab", options).value().text);
    EXPECT_TRUE(message.contains("|f{")) << begin << " became " << message;
  }
  for (const char* text : {"{\"answer\": 1}", "{x}", "[1]"}) {
    Fixture f(text, 256);
    EXPECT_EQ(f.generate("ab", ask(bare).options).value().text, text);
  }
  // Text that was not constrained is not a call, even if it looks like one.
  EXPECT_TRUE(read_reply(ask(bare), R"({"parameters": {"a": 7}, "name": "f"})").ends_with("|"));
  EXPECT_EQ(read_reply(ask(bare), R"({"name": "f", "parameters": {"a": 2}})"), "|f{\"a\": 2}");
}

TEST(ConstrainedCalls, GuessesAndStreamsEndWhereACallBegins) {
  const std::string wanted = "xyxyxyxyxyxy<c>{\"name\":\"g\"";
  Fixture plain(wanted, 256);
  const std::string text = plain.generate("ab", ask().options).value().text;
  Fixture guesses(wanted, 256, {.next = {}, .max_batch = 8, .max_logit_rows = 8});
  Asked asked = ask();
  asked.options.speculate = 4;
  const auto result = guesses.generate("ab", asked.options).value();
  EXPECT_EQ(result.text, text);
  EXPECT_GT(result.stats.n_guessed_right, 0);
  Fixture streams(wanted, 256, {.next = {}, .decodes = true, .runs_ahead = 2});
  EXPECT_EQ(streams.generate("ab", ask().options).value().text, text);
  EXPECT_FALSE(streams.log.streams.empty());
  EXPECT_TRUE(text.contains("\"f\"")) << text;
}

TEST(ConstrainedCalls, GoOnAfterWhatThereIsOfTheReply) {
  const std::string wanted = "ok<c>{\"name\":\"g\"";
  Fixture f(wanted, 256);
  const auto whole = f.generate("ab", ask().options).value();
  Asked asked = ask();
  asked.options.reply_so_far.assign(whole.tokens.begin(), whole.tokens.begin() + 9);
  Fixture again(wanted, 256);
  EXPECT_EQ(again.generate("ab", asked.options).value().text, whole.text);
  asked.options.reply_so_far = ids("ok<c>}");
  EXPECT_FALSE(again.generate("ab", asked.options));
}

TEST(ConstrainedCalls, NotBesideAGrammar) {
  Fixture f("x");
  Asked asked = ask();
  asked.options.grammar = Grammar::json_object().value();
  EXPECT_EQ(f.generate("ab", asked.options).error().message,
            "a reply is held to a grammar, or its calls of tools are: give one of them");
}

}  // namespace
}  // namespace tern
