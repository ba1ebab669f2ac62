#include "text/chat/chat_template.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "text/chat/chat_template_test_support.h"
#include "text/jinja/join_templates.h"

namespace tern {
namespace {

using namespace chat_template_test;

TEST(BitnetTemplate, ExactText) {
  const ChatTemplate bitnet(std::string(bitnet_chat_template()), "<|begin_of_text|>", "<|end_of_text|>");
  const std::vector<ChatMessage> messages = {{"system", "You are helpful."}, {"user", "Hi"}};
  EXPECT_EQ(bitnet.render(messages).value().text,
            "<|begin_of_text|>System: You are helpful.<|eot_id|>User: Hi<|eot_id|>Assistant: ");
  EXPECT_EQ(bitnet.render(messages, {.add_generation_prompt = false}).value().text,
            "<|begin_of_text|>System: You are helpful.<|eot_id|>User: Hi<|eot_id|>");

  const std::vector<ChatMessage> turns = {{"user", " a\n"}, {"assistant", "\u3000b {{ c }}\t"}, {"uSER", ""}};
  EXPECT_EQ(bitnet.render(turns).value().text,
            "<|begin_of_text|>User: a<|eot_id|>Assistant: b {{ c }}<|eot_id|>User: <|eot_id|>Assistant: ");
}

TEST(BitnetTemplate, RecognizesThePlaceholder) {
  EXPECT_TRUE(is_placeholder_chat_template(
      "{% for message in messages %}{% if message['role'] == 'user' %}{{ 'Human: ' + message['content'] + "
      "'\\n\\nBITNETAssistant: ' }}{% endif %}{% endfor %}"));
  EXPECT_FALSE(is_placeholder_chat_template(bitnet_chat_template()));
  EXPECT_FALSE(is_placeholder_chat_template(""));
}

TEST(ChatTemplate, SelectingFromNoneGivesNothing) {
  const std::string none = "{% set x = none %}";
  EXPECT_EQ(render(none + "{{ x | selectattr('type', 'equalto', 'a') | list | length }}{{ x | rejectattr('b') | list }}"
                          "{{ x | select | list }}{{ x | reject('none') | list }}{{ x | map('upper') | list }}",
                   {}),
            "0[][][][]");
  EXPECT_EQ(render(none + "{{ x | list }}", {}), "error: chat template: a none has no items");
}

// transformers' tojson has the options of json.dumps().
TEST(ChatTemplate, JsonHasPythonsOptions) {
  EXPECT_EQ(render("{{ {'b': 'ü😀', 'a': 1} | tojson(ensure_ascii=True) }}", {}),
            R"({"b": "\u00fc\ud83d\ude00", "a": 1})");
  EXPECT_EQ(render("{{ {'b': 'ü', 'a': {'d': 1, 'c': 2}} | tojson(sort_keys=True) }}", {}),
            R"({"a": {"c": 2, "d": 1}, "b": "ü"})");
  EXPECT_EQ(render("{{ {'a': [1, 2]} | tojson(separators=(',', ':')) }}", {}), R"({"a":[1,2]})");
  EXPECT_EQ(render("{{ {'a': [1, 2]} | tojson(indent=1, separators=(' ,', ' = ')) }}", {}),
            "{\n \"a\" = [\n  1 ,\n  2\n ]\n}");
  EXPECT_EQ(render("{{ [1] | tojson(separators=(',',)) }}", {}),
            "error: chat template: tojson() with 1 separators; two are needed");
}

// Lists do not change, but a namespace can get another one.
TEST(ChatTemplate, ListsOfNamespacesGrow) {
  EXPECT_EQ(render("{% set ns = namespace(ids=[]) %}{% for m in messages %}{% set _ = ns.ids.append(m.content) %}"
                   "{% endfor %}{{ ns.ids }}{{ ns.ids.pop(0) }}{{ ns.ids.pop() }}{{ ns.ids }}",
                   {{"user", "a"}, {"user", "b"}, {"user", "c"}}),
            "['a', 'b', 'c']ac['b']");
  for (const char* wrong : {"{{ namespace(a=[]).a.pop() }}", "{{ namespace(a=1).a.append(1) }}", "{{ [].append(1) }}",
                            "{% set ns = namespace() %}{{ ns.a.append(1) }}"}) {
    EXPECT_TRUE(render(wrong, {}).starts_with("error: chat template: ")) << wrong << render(wrong, {});
  }
}

TEST(ChatTemplate, OneOfTwoThatIsForTools) {
  const std::string both = join_chat_templates("\n B {{ tools | length }}\n", " A\n\n");
  EXPECT_EQ(render(both, {}, {.tools = R"([{"type": "function", "function": {"name": "f"}}])"}), "\n B 1");
  EXPECT_EQ(render(both, {}), " A\n");
}

TEST(ChatTemplate, FormatsTexts) {
  EXPECT_EQ(render("{% for m in messages %}{{ '<{}|{}>'.format(m.role, m.content) }}{% endfor %}", {{"user", "a{b}"}}),
            "<user|a{b}>");
  EXPECT_EQ(render("{{ '{1}{0}{{x}}{n}'.format('a', 2, n=none) }}", {}), "2a{x}None");
  EXPECT_EQ(render("{{ '%s is %d %% (%s)' % ('a', 2.9, true) }}{{ '<%s>' % 'b' }}{{ '%(k)s' % {'k': 1} }}", {}),
            "a is 2 % (True)<b>1");
  EXPECT_EQ(render("{{ '%s-%s' | format('a', 1) }}{{ '%(k)s' | format(k=3) }}", {}), "a-13");
  for (const char* wrong :
       {"{{ '{}{}'.format(1) }}", "{{ '{x}'.format(1) }}", "{{ '{:>5}'.format(1) }}", "{{ '{'.format(1) }}",
        "{{ '%s' % ('a', 'b') }}", "{{ '%s%s' % 'a' }}", "{{ '%5.1f' % 1 }}", "{{ '%' % 1 }}", "{{ '%d' % 'a' }}",
        "{{ '%(k)s' % {} }}", "{{ '%(k' % {'k': 1} }}", "{{ '}'.format() }}"}) {
    EXPECT_TRUE(render(wrong, {}).starts_with("error: chat template: ")) << wrong << render(wrong, {});
  }
}

TEST(ChatTemplate, HasWhatPublishedTemplatesUse) {
  EXPECT_EQ(render("{{ bos_token }}{% for m in messages %}{{ loop.index0 % 2 }}{{ m['role'] | upper }}{% endfor %}{{ "
                   "eos_token }}",
                   {{"user", "x"}, {"assistant", "y"}}),
            "<s>0USER1ASSISTANT</s>");
  EXPECT_EQ(render("{% set ns = namespace(n=0) %}{% for m in messages[::-1] %}{% set ns.n = ns.n + 1 %}{{ m.content "
                   "}}{% endfor %}{{ ns.n }}",
                   {{"user", "x"}, {"assistant", "y"}}),
            "yx2");
  EXPECT_EQ(render("{% macro f(x) %}<{{ x }}>{% endmacro %}{{ f('a') }}{#- gone -#}  {{ f('b') }}", {}), "<a><b>");
  EXPECT_EQ(render("{{ strftime_now('%Y') | length }}", {}), "4");
  EXPECT_EQ(render("{{ messages[0].content }}", {{"user", "\xFF\xC3"}}), "\xFF\xC3");  // bytes are kept
}

TEST(ChatTemplate, PrintsFloatsAsPythonDoes) {
  const std::pair<std::string, std::string> cases[] = {
      {"0.1", "0.1"},
      {"5.0", "5.0"},
      {"0.0", "0.0"},
      {"12345.678", "12345.678"},
      {"100.0 * 1.0", "100.0"},
      {"0.0001", "0.0001"},
      {"0.00001", "1e-05"},
      {"0.0000125", "1.25e-05"},
      {"1000000000000000.0", "1000000000000000.0"},
      {"10000000000000000.0", "1e+16"},
      {"123456789.0 * 1000000000000.0", "1.23456789e+20"},
      {"4503599627370497.5", "4503599627370498.0"},
      {"1.0 / 3", "0.3333333333333333"},
      {"0.1 + 0.2", "0.30000000000000004"},
      {"0.0 - 2.5", "-2.5"},
      {"0.0 - 1.0 / 4194304", "-2.384185791015625e-07"},
  };
  for (const auto& [expression, text] : cases) {
    EXPECT_EQ(render("{{ " + expression + " }}", {}), text) << expression;
  }
}

TEST(ChatTemplateErrors, AreOneLine) {
  EXPECT_EQ(render("{{ raise_exception('roles must alternate') }}", {}).substr(0, 42),
            "error: chat template: roles must alternate");
  for (const std::string bad : {"{{ ",
                                "{% if x %}",
                                "{% endfor %}",
                                "{{ 1 + }}",
                                "{% nonsense %}",
                                "{{ messages[0].content.nope() }}",
                                "{{ undefined_function() }}",
                                "{# open",
                                "{{ 'x' | nofilter }}",
                                "{{ messages[5].role }}",
                                "{{ 'x' is notest }}",
                                "{% raw %}",
                                "{{ 'open }}",
                                "{{ 1 if }}",
                                "{% break %}",
                                "{{ (1] }}",
                                "{{ 99999999999999999999 }}",
                                "{% include 'x' %}",
                                "{{ 1 < 'a' }}",
                                "{% for a, b in [1] %}{% endfor %}",
                                "{% set x.y = 1 %}",
                                "\x01{{ \x01 }}"}) {
    const std::string text = render(bad, {{"user", "x"}});
    EXPECT_TRUE(text.starts_with("error: chat template: ")) << bad << " -> " << text;
    EXPECT_FALSE(text.contains('\n')) << text;
    EXPECT_LT(text.size(), 300u);
  }
}

TEST(ChatTemplateErrors, SayWhere) {
  EXPECT_EQ(render("a\n{% if 1 %}\n{{ 1 + }}", {}), "error: chat template: line 3: unexpected '}}'");
  EXPECT_EQ(render("\n{# {{", {}), "error: chat template: line 2: a comment does not end");
  EXPECT_EQ(render("{{ (1 }}", {}), "error: chat template: line 1: unexpected '}'");
  EXPECT_EQ(render("{% if 1 %}", {}), "error: chat template: line 1: 'endif' expected before the end");
  EXPECT_EQ(render("{{ m.role }}", {}), "error: chat template: m is undefined");
}

// check() finds wrong syntax, but a template's own errors appear only when it is rendered.
TEST(ChatTemplateErrors, OfTheSyntaxAreFoundWithoutAConversation) {
  EXPECT_TRUE(ChatTemplate("{{ raise_exception('no') }}", "", "").check());
  const auto wrong = ChatTemplate("{% if %}", "", "").check();
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kNotSupported);
  EXPECT_EQ(ChatTemplate("{{ raise_exception('no') }}", "", "").render({}).error().code, ErrorCode::kInvalidArgument);
}

TEST(ChatTemplate, LongConversationsAreNoAttack) {
  std::vector<ChatMessage> messages;
  for (int i = 0; i < 2000; ++i) messages.push_back({i % 2 ? "assistant" : "user", std::string(2000, 'x')});
  const std::string source =
      "{% set ns = namespace(last=0) %}{% for m in messages[::-1] %}{% if m.role == 'user' %}{% set ns.last = "
      "loop.index "
      "%}{% endif %}{% endfor %}{% for m in messages %}{% set content = m.content %}<{{ m.role }}>{{ content | trim "
      "}}{{ content.replace('y', 'zz') }}{% endfor %}";
  EXPECT_EQ(render(source, messages).size(), 2000u * 4000 + 1000 * 6 + 1000 * 11);
}

TEST(ChatTemplate, ThinkingIsTheTemplatesVariable) {
  const ChatTemplate chat(
      "{% if enable_thinking is defined and enable_thinking is false %}off{% elif enable_thinking is defined %}on{% "
      "else %}default{% endif %}",
      "", "");
  EXPECT_EQ(chat.render({}).value().text, "default");
  EXPECT_EQ(chat.render({}, {.think = false}).value().text, "off");
  EXPECT_EQ(chat.render({}, {.think = true}).value().text, "on");
}

// The goldens are transformers' output (tests/golden/make_chat_goldens.py).
void check_chat_goldens(bool is_published, size_t at_least) {
  check_goldens(read_goldens("chat.json"), is_published, at_least,
                [](const ChatTemplate& chat, const auto& golden, const auto& conversation) {
                  std::vector<ChatMessage> messages;
                  for (const auto& message : conversation) {
                    messages.push_back({message.at("role"), message.at("content")});
                  }
                  ChatOptions options{.add_generation_prompt = golden.at("prompt")};
                  if (!golden.at("think").is_null()) options.think = golden.at("think").template get<bool>();
                  return chat.render(messages, options);
                });
}

TEST(ChatTemplate, RendersAsInPython) { check_chat_goldens(false, 60); }

// Each part of the language works as in Jinja.
TEST(ChatTemplate, SpeaksJinja) {
  const auto file = read_goldens("chat.json");
  const ChatMessage messages[] = {
      {"user", "a"}, {"assistant", "<think>\nhm\n</think>\n\nb"}, {"user", "c {{ d }} <|im_end|>"}};
  for (const auto& golden : file.at("language")) {
    const std::string name = golden.at("name");
    const auto text = ChatTemplate(golden.at("source"), "<BOS>", "<EOS>").render(messages);
    EXPECT_EQ(text.has_value(), golden.contains("text")) << name << ": " << (text ? text->text : text.error().message);
    if (text && golden.contains("text")) {
      EXPECT_EQ(text->text, golden.at("text").get<std::string>()) << name;
    }
  }
  EXPECT_GE(file.at("language").size(), 30u);
}

// A template may read all messages for each message.
TEST(ChatTemplate, SquaresOfOrdinaryConversationsAreNoAttack) {
  const std::vector<ChatMessage> messages(400, {"user", "hello"});
  EXPECT_EQ(
      render("{% for m in messages %}{% set ns = namespace(n=0) %}{% for o in messages %}{% if o.role == m.role %}"
             "{% set ns.n = ns.n + 1 %}{% endif %}{% endfor %}{{ ns.n }}{% endfor %}",
             messages)
          .size(),
      1200u);
}

TEST(ChatTemplate, PublishedTemplatesRenderAsInPython) {
  if (!std::filesystem::exists(kShared)) GTEST_SKIP() << "the published templates are not here: " << kShared;
  check_chat_goldens(true, 120);
}

}  // namespace
}  // namespace tern
