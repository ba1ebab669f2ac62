#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"

namespace tern {
namespace {

const std::string kTemplates = TERN_SOURCE_DIR "/../shared/data/templates/";

std::string render(std::string source, const std::vector<ChatMessage>& messages, bool prompt = true) {
  const auto parsed = ChatTemplate::parse(std::move(source), "<s>", "</s>");
  if (!parsed) return "error: " + parsed.error().message;
  const auto text = parsed->render(messages, {.add_generation_prompt = prompt});
  return text ? *text : "error: " + text.error().message;
}

TEST(BitnetTemplate, ExactText) {
  const auto bitnet =
      ChatTemplate::parse(std::string(bitnet_chat_template()), "<|begin_of_text|>", "<|end_of_text|>").value();
  const std::vector<ChatMessage> messages = {{"system", "You are helpful."}, {"user", "Hi"}};
  EXPECT_EQ(bitnet.render(messages).value(),
            "<|begin_of_text|>System: You are helpful.<|eot_id|>User: Hi<|eot_id|>Assistant: ");
  EXPECT_EQ(bitnet.render(messages, {.add_generation_prompt = false}).value(),
            "<|begin_of_text|>System: You are helpful.<|eot_id|>User: Hi<|eot_id|>");

  const std::vector<ChatMessage> turns = {{"user", " a\n"}, {"assistant", "\u3000b {{ c }}\t"}, {"uSER", ""}};
  EXPECT_EQ(bitnet.render(turns).value(),
            "<|begin_of_text|>User: a<|eot_id|>Assistant: b {{ c }}<|eot_id|>User: <|eot_id|>Assistant: ");
}

TEST(BitnetTemplate, RecognisesThePlaceholder) {
  EXPECT_TRUE(is_placeholder_chat_template(
      "{% for message in messages %}{% if message['role'] == 'user' %}{{ 'Human: ' + message['content'] + "
      "'\\n\\nBITNETAssistant: ' }}{% endif %}{% endfor %}"));
  EXPECT_FALSE(is_placeholder_chat_template(bitnet_chat_template()));
  EXPECT_FALSE(is_placeholder_chat_template(""));
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
  EXPECT_EQ(render("{{ messages[0].content }}", {{"user", "\xFF\xC3"}}), "\xFF\xC3");  // bytes go through
}

TEST(ChatTemplateErrors, AreOneLine) {
  EXPECT_EQ(render("{{ raise_exception('roles must alternate') }}", {}).substr(0, 42),
            "error: chat template: roles must alternate");
  for (const std::string bad :
       {"{{ ", "{% if x %}", "{% endfor %}", "{{ 1 + }}", "{% nonsense %}", "{{ messages[0].content.nope() }}",
        "{{ undefined_function() }}", "{# open", "{{ 'x' | nofilter }}", "{{ messages[5] }}"}) {
    const std::string text = render(bad, {{"user", "x"}});
    EXPECT_TRUE(text.starts_with("error: chat template: ")) << bad << " -> " << text;
    EXPECT_FALSE(text.contains('\n')) << text;
    EXPECT_LT(text.size(), 300u);
  }
}

std::string repeat(std::string_view unit, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += unit;
  return out;
}

TEST(ChatTemplateErrors, HostileTemplatesAreRefused) {
  const auto refused = [](const std::string& source) { return render(source, {{"user", "x"}}); };
  const std::string e = "error: chat template: ";
  EXPECT_EQ(refused(repeat("x", 70'000)), e + "70000 bytes; at most 65536 are accepted");
  EXPECT_EQ(refused("{{ " + repeat("(", 100) + "1" + repeat(")", 100) + " }}"),
            e + "brackets nested more than 64 deep");
  EXPECT_EQ(refused(repeat("{% if 1 %}", 100) + repeat("{% endif %}", 100)), e + "blocks nested more than 64 deep");
  EXPECT_EQ(refused(repeat("{% set x %}", 100) + repeat("{% endset %}", 100)), e + "blocks nested more than 64 deep");
  EXPECT_EQ(refused("{{ a" + repeat("|a", 3000) + " }}"), e + "more than 4000 characters of code in one block");
  EXPECT_EQ(refused("x" + repeat(" ", 2000) + "x"), e + "a run of more than 1024 blanks");
  EXPECT_EQ(refused("{% for x in messages recursive %}{{ loop(messages) }}{% endfor %}"), e + "a recursive loop");
  for (const char* division : {"1 // 0", "1 % 0", "1 / (0)", "1 % x", "{'a': 7 %0}", "1 //\n0"}) {
    EXPECT_EQ(refused("{{ " + std::string(division) + " }}"),
              e + "a division by something other than a positive number");
  }
  EXPECT_EQ(refused("{{ 'abc'[9:0:-1] }}"), e + "a slice with a step other than [::-1]");
  EXPECT_EQ(refused("{{ 'abc'[ : 99 : 2] }}"), e + "a slice with a step other than [::-1]");
  EXPECT_EQ(refused("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), e + "it calls itself too often");
  EXPECT_EQ(refused("{% macro f(g) %}{{ g(g) }}{% endmacro %}{{ f(f) }}"), e + "it calls itself too often");
  EXPECT_EQ(refused("{% set r = range(1100) %}{% for a in r %}{% for b in r %}{% if nothing %}{% endif %}{% endfor "
                    "%}{% endfor %}"),
            e + "it runs for too long");
  EXPECT_EQ(refused("{% for m in messages %}{% macro f() %}{% endmacro %}{% endfor %}"),
            e + "a macro block inside a loop or a macro");
  EXPECT_EQ(refused("{#" + repeat("c", 60'000) + "#}ok"), "ok");  // harmless: the comment is emptied first
}

// Whatever a template tries, it is stopped within a second or two and a few hundred megabytes.
TEST(ChatTemplateErrors, TimeAndMemoryAreBounded) {
  const auto refused = [](const std::string& source) { return render(source, {{"user", "x"}}); };
  const std::string e = "error: chat template: ";
  const std::string much = e + "it produces too much text from the conversation";
  EXPECT_EQ(
      refused("{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}"),
      much);
  EXPECT_EQ(refused("{% for i in range(60) %}{% set s = (s or 'x') + (s or 'x') %}{% endfor %}"), much);
  EXPECT_EQ(refused("{% macro f(s, n) %}{% if n %}{{ f(s + s, n - 1) }}{% endif %}{% endmacro %}{{ f('x', 60) }}"),
            much);
  EXPECT_EQ(refused("{% set l = [1] %}{% for i in range(60) %}{% set l = l + l %}{% endfor %}"), much);
  EXPECT_EQ(refused("{% set l = [1] %}{% for i in range(60) %}{% set l = [l, l] %}{% endfor %}{{ l }}"), much);
  EXPECT_EQ(refused("{% for i in range(2000000000) %}{% endfor %}"), much);
  EXPECT_EQ(refused("{% for i in range(0, -2000000000, -1) %}{% endfor %}"), much);
  EXPECT_EQ(refused("{% set x = range(9000) | join('" + std::string(3000, 'x') + "') %}"), much);
  EXPECT_EQ(refused("{{ 'a\nb' | indent(2000000000) }}"), much);
  EXPECT_EQ(refused("{{ [1] | tojson(indent=2000000000) }}"), much);
  EXPECT_EQ(refused("{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}"), e + "its values are nested too deep");
  EXPECT_EQ(refused("{% for a in range(900) %}{% for b in range(900) %}" + std::string(40'000, 'x') +
                    "{% endfor %}{% endfor %}"),
            much);
  const std::string list = "[" + repeat("1,", 900) + "1]";
  EXPECT_EQ(refused("{% for a in " + list + " %}{% for b in " + list + " %}{% for c in " + list +
                    " %}{% endfor %}{% endfor %}{% endfor %}"),
            much);
  EXPECT_EQ(refused("{{ 'x' * 1000000000 }}"), e + "a multiplication");
  EXPECT_EQ(refused("{{ 'x' " + repeat("+ s", 300) + " }}"), e + "more than 200 additions in one block");
  EXPECT_EQ(refused("{% set l = [] %}{% set _ = l.append(l) %}{{ l }}"),
            e + "a call of append(), which changes what it is given");
  for (const char* split : {"split('')", "split(s)", "split()"}) {
    EXPECT_EQ(refused("{{ 'abc'." + std::string(split) + " }}"),
              e + "split() by something other than a text in quotes");
  }
  for (const char* replace : {"replace('', 'x')", "replace('a', s)", "replace('a', 'bbbbb')",
                              "replace('a','b').replace('a','b').replace('a','b').replace('a','b').replace('a','b')"}) {
    EXPECT_EQ(refused("{{ 'abc'." + std::string(replace) + " }}"),
              e + "replace() by something other than a short text in quotes, or too many of them");
  }
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
  const auto chat = ChatTemplate::parse(
                        "{% if enable_thinking is defined and enable_thinking is false %}off{% elif enable_thinking is "
                        "defined %}on{% else %}default{% endif %}",
                        "", "")
                        .value();
  EXPECT_EQ(chat.render({}).value(), "default");
  EXPECT_EQ(chat.render({}, {.think = false}).value(), "off");
  EXPECT_EQ(chat.render({}, {.think = true}).value(), "on");
}

// What transformers renders, or where it raises an error, some error (tests/golden/make_chat_goldens.py).
void check_goldens(bool published, size_t at_least) {
  const auto file = nlohmann::json::parse(read_text_file(TERN_SOURCE_DIR "/tests/golden/tokenizer/chat.json").value());
  std::map<std::string, ChatTemplate> parsed;
  size_t n = 0;
  for (const auto& golden : file.at("goldens")) {
    if (golden.at("published") != published) continue;
    ++n;
    const auto name = golden.at("template").get<std::string>();
    if (!parsed.contains(name)) {
      const auto source =
          published ? read_text_file(kTemplates + name).value() : file.at("templates").at(name).get<std::string>();
      auto chat = ChatTemplate::parse(source, "<BOS>", "<EOS>");
      ASSERT_TRUE(chat) << name << ": " << chat.error().message;
      parsed.emplace(name, *std::move(chat));
    }
    std::vector<ChatMessage> messages;
    for (const auto& message : file.at("conversations").at(golden.at("conversation").get<size_t>())) {
      messages.push_back({message.at("role"), message.at("content")});
    }
    ChatOptions options{.add_generation_prompt = golden.at("prompt")};
    if (!golden.at("think").is_null()) options.think = golden.at("think").get<bool>();
    const auto text = parsed.at(name).render(messages, options);
    if (golden.contains("error")) {
      EXPECT_FALSE(text) << golden;
    } else {
      ASSERT_TRUE(text) << golden << text.error().message;
      EXPECT_EQ(*text, golden.at("text").get<std::string>()) << golden;
    }
  }
  EXPECT_GE(n, at_least);
}

TEST(ChatTemplate, RendersAsInPython) { check_goldens(false, 60); }

TEST(ChatTemplate, PublishedTemplatesRenderAsInPython) {
  if (!std::filesystem::exists(kTemplates)) GTEST_SKIP() << "the published templates are not here: " << kTemplates;
  check_goldens(true, 60);
}

}  // namespace
}  // namespace tern
