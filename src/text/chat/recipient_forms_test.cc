// Messages whose headers name their recipient: the model itself, the user, or a function.
#include <gtest/gtest.h>

#include "text/chat/call_forms_test_support.h"
#include "text/chat/chat_reply_test_support.h"

namespace tern {
namespace {

constexpr const char* kRecipients =
    "{{ tools | tojson if tools }}{% for m in messages %}{% if m.role == 'assistant' %}"
    "{% if m.reasoning_content %}<|start|>assistant to=self<|message|>{{ m.reasoning_content }}<|eom|>{% endif %}"
    "{% if m.tool_calls %}{% for c in m.tool_calls %}<|start|>assistant to={{ c.function.name }}<|message|><x:calls>\n"
    "<x:invoke name=\"{{ c.function.name }}\">\n{% for k, v in c.function.arguments.items() %}<x:p name=\"{{ k }}\">"
    "{{ v if v is string else v | tojson }}</x:p>\n{% endfor %}</x:invoke>\n</x:calls>"
    "{{ '<|eot|>' if loop.last else '<|eom|>' }}{% endfor %}{% else %}<|start|>assistant to=user<|message|>"
    "{{ m.content }}<|eot|>{% endif %}{% else %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|eot|>{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<|start|>assistant{% endif %}";

ChatFormat with_recipients() { return find_chat_format(ChatTemplate(kRecipients, "", "")); }

ChatReplyOptions reading_of(bool streams) {
  return {.tool_names = tool_names(call_forms_test::kTools).value(),
          .tools = call_forms_test::kTools,
          .stream_arguments = streams,
          .id_seed = 3};
}

constexpr std::string_view kLook =
    " to=look<|message|><x:calls>\n<x:invoke name=\"look\">\n<x:p name=\"place\">Rome <b></x:p>\n<x:p name=\"days\">3"
    "</x:p>\n</x:invoke>\n</x:calls>";
constexpr std::string_view kNow = " to=now<|message|><x:calls>\n<x:invoke name=\"now\">\n</x:invoke>\n</x:calls>";
constexpr std::string_view kRead = "look{\"place\": \"Rome <b>\", \"days\": 3}";

TEST(Recipients, AreReadWhereverTheTextIsCut) {
  const ChatFormat format = with_recipients();
  EXPECT_EQ(format.think_begin, "to=self<|message|>");
  EXPECT_EQ(format.content_begin, "to=user<|message|>");
  ASSERT_TRUE(format.calls && format.calls->marked);
  const std::string next = "<|eom|><|start|>assistant", thought = " to=self<|message|>Hm." + next;
  const std::string look(kLook), now(kNow), read(kRead);
  const std::vector<std::pair<std::string, std::string>> replies = {
      {" to=user<|message|>Hi, to=look at.", "|Hi, to=look at.|"},
      {thought + " to=user<|message|>Hi.", "Hm.|Hi.|"},
      {look, "||" + read},
      {thought + look, "Hm.||" + read},
      {look + next + now, "||" + read + "now{}"},
      {" to=user<|message|>So:" + next + look, "|So:|" + read}};
  for (const auto& [text, expected] : replies) {
    for (const bool streams : {false, true}) {
      for (size_t n = 1; n < text.size() + 9; n += n < 12 ? 1 : 17) {
        std::vector<std::string_view> pieces;
        for (size_t at = 0; at < text.size(); at += n) pieces.push_back(std::string_view(text).substr(at, n));
        ASSERT_EQ(summary(read_pieces(format, reading_of(streams), pieces)), expected) << text << "\n" << n;
      }
    }
  }
  // A call of no known function, or of two functions, is content.
  const std::string wrong = " to=other<|message|>x";
  EXPECT_EQ(summary(read_pieces(format, reading_of(false), {wrong})), "|" + wrong + "|");
  std::string two = look;
  two.replace(two.find("\"look"), 5, "\"now\"");
  EXPECT_TRUE(read_pieces(format, reading_of(false), {two}).message.tool_calls.empty());
}

TEST(Recipients, CallsAreForcedAndHeld) {
  const ChatFormat format = with_recipients();
  const auto forced = tool_call_grammar(format, call_forms_test::kTools, {.parallel = true}).value();
  EXPECT_EQ(forced.begin, " to=");
  const auto grammar = Grammar::tool_call(forced.schema, "").value();
  const std::string look(kLook.substr(4)), now(kNow.substr(4));
  EXPECT_TRUE(grammar->matches(look));
  EXPECT_TRUE(grammar->matches(now)) << forced.schema;
  EXPECT_TRUE(grammar->matches(look + "<|eom|><|start|>assistant to=" + now));
  std::string wrong = look;
  EXPECT_FALSE(grammar->matches(wrong.replace(wrong.find("\"look"), 5, "\"now\"")));
  GenerateOptions generate;
  const auto turn = chat_turn(format, {}, {.tools = call_forms_test::kTools}, generate);
  ASSERT_TRUE(turn) << turn.error().message;
  ASSERT_TRUE(generate.calls);
  for (const std::string& text :
       {std::string(kLook), " to=user<|message|>So:<|eom|><|start|>assistant" + std::string(kLook)}) {
    ChatReplyParser parser(turn->format, turn->reply);
    size_t n_held = 0;
    for (const char c : text) {
      parser.feed(std::string_view(&c, 1));
      const auto begun = parser.partial_call();
      n_held += begun ? 1 : 0;
      if (begun) EXPECT_TRUE(turn->reply.grammar->may_begin(*begun)) << *begun;
    }
    EXPECT_GT(n_held, 50u);
    EXPECT_EQ(parser.n_calls(), 1);
  }
}

}  // namespace
}  // namespace tern
