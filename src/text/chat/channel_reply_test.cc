// Replies in channels, as gpt-oss writes them, with and without tools.
#include <gtest/gtest.h>

#include "text/chat/call_forms_test_support.h"
#include "text/chat/chat_reply_test_support.h"

namespace tern {
namespace {

using namespace call_forms_test;

// As small as a template can be whose replies have channels.
constexpr const char* kTemplate =
    "{{ tools | tojson if tools }}{% for m in messages %}<|start|>{{ m.role }}{% if m.tool_calls %}"
    "{% if m.thinking %}<|channel|>analysis<|message|>{{ m.thinking }}<|end|><|start|>assistant{% endif %}"
    "{% for c in m.tool_calls %} to=functions.{{ c.function.name }}<|channel|>commentary json<|message|>"
    "{{ c.function.arguments | tojson }}<|call|>{% endfor %}{% elif m.role == 'assistant' %}"
    "<|channel|>final<|message|>{{ m.content }}<|end|>{% else %}<|message|>{{ m.content }}<|end|>{% endif %}{% endfor "
    "%}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}";

ChatFormat channels() { return find_chat_format(ChatTemplate(kTemplate, "", "")); }

ChatReplyOptions in_channels(bool streams = false) {
  return {.tool_names = {"look", "now"}, .tools = kTools, .stream_arguments = streams, .id_seed = 3};
}

constexpr const char* kThought = "<|channel|>analysis<|message|>hm <|x\n\n<|end|>";

struct Reply {
  std::string text, summary;
};

std::vector<Reply> replies() {
  const std::string thought = kThought, start = "<|start|>assistant";
  const std::string call =
      "<|channel|>commentary to=functions.look <|constrain|>json<|message|>{\"place\":\"<|end|>\"}";
  return {
      {"<|channel|>final<|message|>Hi.<|return|>", "|Hi.|"},
      {thought + start + "<|channel|>final<|message|>Hi.", "hm <|x\n\n|Hi.|"},
      {thought + start + thought + start + "<|channel|>final<|message|>Hi.", "hm <|x\n\n\n\nhm <|x\n\n|Hi.|"},
      {thought + start + "<|channel|>commentary<|message|>First a look.<|end|>" + start + call + "<|call|>",
       "hm <|x\n\n|First a look.|look{\"place\":\"<|end|>\"}"},
      {call, "||look{\"place\":\"<|end|>\"}"},
      {" to=functions.now<|channel|>commentary json<|message|>{}<|call|>", "||now{}"},
      {call + "<|call|>" + start + " to=functions.now<|channel|>commentary<|message|> {} ",
       "||look{\"place\":\"<|end|>\"}now{}"},
      // No call: another function, no JSON, or no end of it.
      {"<|channel|>commentary to=functions.other<|message|>{}<|call|>",
       "|<|channel|>commentary to=functions.other<|message|>{}|"},
      {" to=functions.now<|channel|>commentary<|message|>[1]<|call|>",
       "| to=functions.now<|channel|>commentary<|message|>[1]|"},
      {" to=functions.now<|channel|>commentary<|message|>{\"a\": 1",
       "| to=functions.now<|channel|>commentary<|message|>{\"a\": 1|"},
      // A model that writes no channels.
      {"Hi <there> {}\n", "|Hi <there> {}\n|"},
      {"", "||"},
  };
}

TEST(ChannelReply, IsFoundByTheTemplate) {
  const ChatFormat format = channels();
  EXPECT_TRUE(format.has_channels && format.has_tools && format.has_tool_calls);
  EXPECT_EQ(format.think_begin, "");
  ASSERT_TRUE(format.calls && format.calls->marked);
  EXPECT_TRUE(format.calls->marked->in_channels);
}

TEST(ChannelReply, IsSplitIntoItsParts) {
  for (const Reply& reply : replies())
    EXPECT_EQ(parse(channels(), reply.text, in_channels()), reply.summary) << reply.text;
}

// Without tools, thoughts and content are told apart all the same.
TEST(ChannelReply, IsSplitWithoutTools) {
  EXPECT_EQ(parse(channels(), std::string(kThought) + "<|start|>assistant<|channel|>final<|message|>Hi.<|return|>", {}),
            "hm <|x\n\n|Hi.|");
}

TEST(ChannelReply, EveryCutGivesTheSame) {
  const ChatFormat format = channels();
  for (const Reply& reply : replies()) {
    const std::string_view text = reply.text;
    for (const bool streams : {false, true}) {
      const std::string whole = summary(read_pieces(format, in_channels(streams), {text}));
      if (!streams) {
        EXPECT_EQ(whole, reply.summary);
      }
      std::vector<std::string_view> bytes;
      for (size_t i = 0; i < text.size(); ++i) {
        bytes.push_back(text.substr(i, 1));
        ASSERT_EQ(summary(read_pieces(format, in_channels(streams), {text.substr(0, i), text.substr(i)})), whole) << i;
      }
      EXPECT_EQ(summary(read_pieces(format, in_channels(streams), bytes)), whole);
    }
  }
}

// No mark gets into the content, wherever a reply in channels ends.
TEST(ChannelReply, EndingAnywhereLeaksNoMark) {
  const ChatFormat format = channels();
  const std::string text = replies()[3].text;
  for (size_t n = 20; n <= text.size(); ++n) {
    const ReadReply read = read_pieces(format, in_channels(), {std::string_view(text).substr(0, n)});
    const bool is_in_call = text.substr(0, n).contains("to=functions.look <|constrain|>json<|message|>");
    if (is_in_call && read.message.tool_calls.empty()) continue;  // a call that is cut off is content
    EXPECT_FALSE(read.message.content.contains("|>")) << n;
  }
}

// Whichever header the model writes, the call is held to the function's parameters.
TEST(ChannelReply, CallsAreHeld) {
  GenerateOptions generate;
  const auto turn = chat_turn(channels(), {.text = "<|start|>assistant"}, {.tools = kTools}, generate);
  ASSERT_TRUE(turn && generate.calls) << (turn ? "" : turn.error().message);
  const std::string body = R"({"place": "Rome"})";
  for (const std::string header :
       {"<|channel|>commentary to=functions.look <|constrain|>json<|message|>",
        "<|channel|>commentary to=functions.look<|message|>", " to=functions.look<|channel|>commentary json<|message|>",
        " to=functions.look<|channel|>commentary <|constrain|>json<|message|>"}) {
    ChatReplyParser parser(turn->format, turn->reply);
    parser.feed(header.substr(0, header.find("look")));
    ASSERT_EQ(parser.partial_call(), "") << header;
    EXPECT_EQ(parse(turn->format, header + body + "<|call|>", turn->reply), "||look" + body) << header;
    EXPECT_TRUE(turn->reply.grammar->matches(header.substr(header.find("look")) + body + "<|call|>")) << header;
    EXPECT_FALSE(turn->reply.grammar->matches(header.substr(header.find("look")) + "{}<|call|>")) << header;
  }
}

TEST(ChannelReply, CallsAreForced) {
  GenerateOptions generate;
  const ToolUse use = {.tools = kTools, .choice = ToolUse::Choice::kRequired, .required = "look"};
  const auto turn = chat_turn(channels(), {.text = "<|start|>assistant"}, use, generate);
  ASSERT_TRUE(turn) << turn.error().message;
  EXPECT_EQ(turn->prompt.text, "<|start|>assistant to=functions.");
  const std::string reply = "look<|channel|>commentary json<|message|>{\"place\": \"Rome\"}<|call|>";
  EXPECT_TRUE(generate.grammar->matches(reply));
  EXPECT_EQ(parse(turn->format, turn->begin + reply + turn->end, turn->reply), "||look{\"place\": \"Rome\"}");
}

TEST(ChannelReply, HarmIsReadInLinearTime) {
  const ChatFormat format = channels();
  for (const std::string_view part :
       {"<|channel|>", "<|start|>assistant", "<|", "<|channel|>analysis<|message|>",
        "<|channel|>commentary to=functions.now<|message|>{", " to=functions.now<|message|>{}"}) {
    std::string text;
    while (text.size() < 1 << 20) text += part;
    ChatReplyParser parser(format, in_channels());
    for (size_t at = 0; at < text.size(); at += 100) parser.feed(std::string_view(text).substr(at, 100));
    parser.finish();
  }
}

}  // namespace
}  // namespace tern
