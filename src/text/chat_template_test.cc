#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"

namespace tern {
namespace {

std::string render(std::string source, const std::vector<ChatMessage>& messages, bool prompt = true) {
  const auto parsed = ChatTemplate::parse(std::move(source), "<s>", "</s>");
  if (!parsed) return "error: " + parsed.error().message;
  const auto text = parsed->render(messages, prompt);
  return text ? *text : "error: " + text.error().message;
}

TEST(BitnetTemplate, ExactText) {
  const auto bitnet =
      ChatTemplate::parse(std::string(bitnet_chat_template()), "<|begin_of_text|>", "<|end_of_text|>").value();
  const std::vector<ChatMessage> messages = {{"system", "You are helpful."}, {"user", "Hi"}};
  EXPECT_EQ(bitnet.render(messages, true).value(),
            "<|begin_of_text|>System: You are helpful.<|eot_id|>User: Hi<|eot_id|>Assistant: ");
  EXPECT_EQ(bitnet.render(messages, false).value(),
            "<|begin_of_text|>System: You are helpful.<|eot_id|>User: Hi<|eot_id|>");

  const std::vector<ChatMessage> turns = {{"user", " a\n"}, {"assistant", "\u3000b {{ c }}\t"}, {"uSER", ""}};
  EXPECT_EQ(bitnet.render(turns, true).value(),
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

// Rendered by Python's Jinja with the settings of transformers (tests/golden/make_tokenizer_goldens.py).
TEST(ChatTemplate, PublishedTemplatesRenderAsInPython) {
  const std::string directory = TERN_SOURCE_DIR "/../shared/data/templates/";
  if (!std::filesystem::exists(directory)) GTEST_SKIP() << "the published templates are not here: " << directory;
  const auto goldens =
      nlohmann::json::parse(read_text_file(TERN_SOURCE_DIR "/tests/golden/tokenizer/chat.json").value());
  ASSERT_GE(goldens.size(), 16u);
  for (const auto& golden : goldens) {
    const auto source = read_text_file(directory + golden.at("template").get<std::string>());
    ASSERT_TRUE(source) << source.error().message;
    std::vector<ChatMessage> messages;
    for (const auto& message : golden.at("messages")) messages.push_back({message.at("role"), message.at("content")});
    const auto chat = ChatTemplate::parse(*source, "<BOS>", "<EOS>");
    ASSERT_TRUE(chat) << golden.at("template") << ": " << chat.error().message;
    const auto text = chat->render(messages, golden.at("add_generation_prompt").get<bool>());
    ASSERT_TRUE(text) << golden.at("template") << ": " << text.error().message;
    EXPECT_EQ(*text, golden.at("text").get<std::string>()) << golden.at("template");
  }
}

}  // namespace
}  // namespace tern
