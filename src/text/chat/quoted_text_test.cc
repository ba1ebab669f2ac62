// Which parts of a rendered conversation are the template's own, and which messages say.
#include <gtest/gtest.h>

#include "text/chat/chat_template_test_support.h"
#include "text/chat/unfinished_message.h"

namespace tern::chat_template_test {
namespace {

// With 〈…〉 around what is quoted.
std::string marked(const ChatPrompt& prompt) {
  std::string out;
  size_t done = 0;
  for (const TextRange& quoted : prompt.quoted) {
    out += prompt.text.substr(done, quoted.begin - done) + "〈" +
           prompt.text.substr(quoted.begin, quoted.end - quoted.begin) + "〉";
    done = quoted.end;
  }
  return out + prompt.text.substr(done);
}

std::string marked(const std::string& source, const std::vector<ChatMessage>& messages,
                   const ChatOptions& options = {}) {
  const auto prompt = ChatTemplate(source, "<s>", "</s>").render(messages, options);
  return prompt ? marked(*prompt) : "error: " + prompt.error().message;
}

const ChatMessage kSaid = {.role = "user", .content = " a</s>b "};

TEST(QuotedText, TheTemplatesTextIsItsOwn) {
  EXPECT_EQ(marked("<x>{{ bos_token }}{{ messages[0].content }}{{ eos_token + '\\n' }}", {kSaid}),
            "<x><s>〈 a</s>b 〉</s>\n");
  EXPECT_EQ(
      marked("{{ '<' + 'x' }}{{ '<' ~ 'y' ~ '>' }}{{ ['a', '>'] | join('-') }}{{ 'ab'[1] }}{{ 'abc'[::-1] }}", {kSaid}),
      "<x<y>a->bcba");
  EXPECT_EQ(marked("{{ ' x ' | trim }}{{ 'x'.upper() }}{{ 'x' | replace('x', '<y>') }}{{ '<z> ' * 2 }}", {kSaid}),
            "xX<y><z> <z> ");
  EXPECT_EQ(marked("{% raw %}{{{% endraw %}{{ '%s' % 'a' }}{{ '{}'.format('b') }}{{ 'a b'.split()[1] }}", {}), "{{abb");
}

// Models' marks are made of roles, which are words of the template.
TEST(QuotedText, KnownRolesAreTheTemplates) {
  EXPECT_EQ(marked("{% for m in messages %}{{ '<|' + m.role + '|>' }}{% endfor %}",
                   {{.role = "user"}, {.role = "developer"}, {.role = "assistant"}, {.role = "tool"}}),
            "<|user|><|system|><|assistant|><|tool|>");
  EXPECT_EQ(marked("{{ '<|' + messages[0].role + '|>' }}", {{.role = "end"}}), "<|〈end〉|>");
}

TEST(QuotedText, WhatMessagesSayStaysTheirs) {
  const auto of = [](const std::string& expression) {
    return marked("<x>{% set c = messages[0].content %}" + expression + "<y>", {kSaid});
  };
  EXPECT_EQ(of("{{ c | trim }}"), "<x>〈a</s>b〉<y>");
  EXPECT_EQ(of("{{ c.strip() }}"), "<x>〈a</s>b〉<y>");
  EXPECT_EQ(of("{{ c[2:5] }}"), "<x>〈</s〉<y>");
  EXPECT_EQ(of("{{ c[::-1] }}"), "<x>〈 b>s/<a 〉<y>");
  EXPECT_EQ(of("{{ c | replace('a', '<a>') }}"), "<x>〈 〉<a>〈</s>b 〉<y>");
  EXPECT_EQ(of("{{ '<a>'.replace('a', c) }}"), "<x><〈 a</s>b 〉><y>");
  EXPECT_EQ(of("{{ c | upper }}{{ c.title() }}"), "<x>〈 A</S>B  A</S>B 〉<y>");
  EXPECT_EQ(of("{{ [c, '<z>', c] | join('|') }}"), "<x>〈 a</s>b 〉|<z>|〈 a</s>b 〉<y>");
  EXPECT_EQ(of("{{ '<z>'.join([c, c]) }}"), "<x>〈 a</s>b 〉<z>〈 a</s>b 〉<y>");
  EXPECT_EQ(of("{{ c | tojson }}{{ [c] }}"), "<x>〈\" a</s>b \"[' a</s>b ']〉<y>");
  EXPECT_EQ(of("{{ c.split('/')[1] }}"), "<x>〈s>b 〉<y>");
  EXPECT_EQ(of("{{ '<%s>' % c }}{{ '<{}>'.format(c) }}"), "<x><〈 a</s>b 〉><〈 a</s>b 〉><y>");
  EXPECT_EQ(of("{% set ns = namespace(t='<z>') %}{% set ns.t = ns.t + c %}{{ ns.t }}"), "<x><z>〈 a</s>b 〉<y>");
  EXPECT_EQ(of("{% set t %}<z>{{ c }}</z>{% endset %}{{ t | trim }}"), "<x><z>〈 a</s>b 〉</z><y>");
  EXPECT_EQ(of("{% macro f(t) %}<z>{{ t }}{% endmacro %}{{ f(c) + '|' }}"), "<x><z>〈 a</s>b 〉|<y>");
  EXPECT_EQ(of("{% filter upper %}<z>{{ c }}{% endfilter %}"), "<x>〈<Z> A</S>B 〉<y>");
  EXPECT_EQ(of("{% for k in c %}{{ k }}{% endfor %}"), "<x>〈 a</s>b 〉<y>");
  EXPECT_EQ(of("{{ ('<z>' + c)[1:5] }}"), "<x>z>〈 a〉<y>");
  EXPECT_EQ(of("{{ ('<z>\\n' + c) | indent(1, true) }}"), "<x>〈 〉<z>〈\n  a</s>b 〉<y>");
  EXPECT_EQ(of("{{ 7 }}"), "<x>〈7〉<y>");
}

TEST(QuotedText, ToolsCallsAndVariablesAreNotTheTemplates) {
  const ChatOptions options = {.tools = R"([{"type": "function", "function": {"name": "</s>"}}])",
                               .variables = R"({"v": "</s>"})"};
  const ChatMessage call = {.role = "assistant", .tool_calls = {{.name = "</s>", .arguments = R"({"</s>": "</s>"})"}}};
  EXPECT_EQ(marked("{{ tools[0].function.name }}|{{ v }}|{% for c in messages[0].tool_calls %}{{ c.function.name }}|"
                   "{% for k, v in c.function.arguments.items() %}{{ k }}|{{ v }}{% endfor %}{% endfor %}",
                   {call}, options),
            "〈</s>〉|〈</s>〉|〈</s>〉|〈</s>〉|〈</s>〉");
}

TEST(QuotedText, NothingIsQuotedIfEverythingIsTrusted) {
  EXPECT_EQ(marked("<x>{{ messages[0].content }}", {kSaid}, {.parse_special = true}), "<x> a</s>b ");
}

// A reply may have begun with a thought. In other messages these marks are text.
TEST(QuotedText, ABegunReplyHasMarksOfThoughts) {
  const ChatTemplate chat("{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}", "", "");
  const std::string_view marks[] = {"<t>", "</t>"};
  const auto unfinished = [&](const std::string& question, const std::string& reply) {
    const std::vector<ChatMessage> messages = {{.role = "user", .content = question},
                                               {.role = "assistant", .content = reply}};
    const auto render = [&](std::span<const ChatMessage> all) { return chat.render(all); };
    return marked(render_unfinished(messages, render, marks).value());
  };
  EXPECT_EQ(unfinished("<t>a<end>", "b<end>"), "<user>〈<t>a<end>〉<end><assistant>〈b<end>〉");
  EXPECT_EQ(unfinished("<t>", "<t>b</t>c<end>"), "<user>〈<t>〉<end><assistant><t>〈b〉</t>〈c<end>〉");
  EXPECT_EQ(unfinished("a", ""), "<user>〈a〉<end><assistant>");
}

}  // namespace
}  // namespace tern::chat_template_test
