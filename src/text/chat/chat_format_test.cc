#include "text/chat/chat_format.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/mapped_file.h"
#include "support/checkout.h"
#include "text/tokenizer/vocab_test_support.h"

namespace tern {
namespace {

using Json = nlohmann::ordered_json;

const std::string kSharedData = source_path("../shared/data/");

ChatFormat format_of(const std::string& source) { return find_chat_format(ChatTemplate(source, "<s>", "</s>")); }

ChatFormat golden_format(const std::string& name) {
  const auto file = Json::parse(read_text_file(source_path("tests/golden/tokenizer/tool_chat.json")).value());
  return format_of(file.at("templates").at(name));
}

// "text NAME text ARGUMENTS text", and behind the pairs' marks in brackets.
std::string form_of(const MarkedCalls& form) {
  std::string text;
  for (const CallPiece& piece : form.pieces) {
    const char* const kSlots[] = {"", "NAME", "ID", "INDEX", "ARGUMENTS"};
    text += piece.text + kSlots[static_cast<int>(piece.kind)];
  }
  if (form.values == MarkedCalls::Values::kJson) return text;
  return text + " [" + form.key_begin + "KEY" + form.key_end + "VALUE" + form.value_end + form.pair_between + "]";
}

// "begin|end|may_begin|arguments|list", or the parts of marked calls
std::string calls_of(const ChatFormat& format) {
  if (!format.calls) return "none";
  const ToolCallFormat& calls = *format.calls;
  if (calls.marked) return calls.begin + "|" + form_of(*calls.marked) + "|" + calls.end;
  return calls.begin + "|" + calls.end + "|" + calls.may_begin + "|" + calls.arguments +
         (calls.is_list ? "|list" : "|");
}

TEST(ChatFormat, OfCallsBetweenTags) {
  const ChatFormat format = golden_format("tagged");
  EXPECT_EQ(calls_of(format), "<tool_call>\n|\n</tool_call>||arguments|");
  EXPECT_EQ(format.think_begin, "<think>");
  EXPECT_EQ(format.think_end, "</think>");
  EXPECT_TRUE(format.has_tools && format.has_tool_calls && format.has_tool_results && format.has_parallel_calls);
}

TEST(ChatFormat, OfBareCalls) {
  const ChatFormat format = golden_format("bare");
  EXPECT_EQ(calls_of(format), "|||parameters|");
  EXPECT_EQ(format.think_begin, "");
  EXPECT_TRUE(format.has_tools && format.has_tool_calls && format.has_tool_results);
  EXPECT_FALSE(format.has_parallel_calls);
}

TEST(ChatFormat, OfLists) {
  const ChatFormat format = golden_format("listed");
  EXPECT_EQ(calls_of(format), "[TOOL_CALLS] |||arguments|list");
  EXPECT_TRUE(format.has_tools && format.has_tool_calls && format.has_tool_results && format.has_parallel_calls);
}

TEST(ChatFormat, OfMarksThatAreClosed) {
  EXPECT_EQ(calls_of(format_of("{{ tools | tojson if tools }}{% for m in messages %}[{{ m.role }}]{{ m.content }}"
                               "{% if m.tool_calls %}<|call|>[{% for c in m.tool_calls %}{{ c.function | tojson }}"
                               "{{ ', ' if not loop.last }}{% endfor %}]<|/call|>{% endif %}{% endfor %}")),
            "<|call|>|<|/call|>||arguments|list");
}

// Recognized from the template's source alone, as it renders no calls.
TEST(ChatFormat, OfTemplatesThatOnlyExplain) {
  const ChatFormat format = format_of(
      "{% if tools %}answer with <|tool_call|> and a list; {{ tools | tojson }}{% endif %}"
      "{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}");
  EXPECT_EQ(calls_of(format), "<|tool_call|>|||arguments|list");
  EXPECT_TRUE(format.has_tools);
  EXPECT_FALSE(format.has_tool_calls);
}

TEST(ChatFormat, OfUnknownCalls) {
  const ChatFormat format = format_of(
      "{{ tools | tojson if tools }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{% for c in m.tool_calls or [] "
      "%}run {{ c.function.name }} with {{ c.function.arguments.values() | join(' and ') }}{% endfor %}{% endfor %}");
  EXPECT_EQ(calls_of(format), "none");
  EXPECT_TRUE(format.has_tools && format.has_tool_calls);
}

// A template that writes the very words that the detection looks for in every conversation.
TEST(ChatFormat, OfTemplatesThatDeceive) {
  const std::string call = R"({"name": "tern_call", "arguments": {"k": "tern_value"}})";
  EXPECT_EQ(calls_of(format_of("{{ tools | tojson if tools }}" + call +
                               "{% for m in messages %}{{ m.content }}{% endfor %}")),
            "none");
  EXPECT_EQ(calls_of(format_of("{{ tools | tojson if tools }}tern_call {{ messages[1].content }}")), "none");
}

TEST(ChatFormat, OfPlainTemplates) {
  for (const ChatFormat& format : {golden_format("plain"), format_of(std::string(bitnet_chat_template())),
                                   format_of("{{ 1 +"), format_of("{{ raise_exception('no') }}")}) {
    EXPECT_EQ(calls_of(format), "none");
    EXPECT_FALSE(format.has_tools || format.has_tool_calls || format.has_parallel_calls);
    EXPECT_EQ(format.think_begin, "");
  }
}

TEST(ChatFormat, OfPublishedTemplates) {
  if (!std::filesystem::exists(kSharedData)) GTEST_SKIP() << "the published templates are not here: " << kSharedData;
  const auto published = [](const std::string& path) { return format_of(read_text_file(kSharedData + path).value()); };
  const std::string hermes = "<tool_call>\n|\n</tool_call>||arguments|";
  EXPECT_EQ(calls_of(published("templates/Qwen-Qwen3-0.6B.jinja")), hermes);
  EXPECT_EQ(calls_of(published("headers/bonsai_1.jinja")), hermes);
  EXPECT_EQ(calls_of(published("templates/Qwen-Qwen2.5-7B-Instruct.jinja")), hermes);
  EXPECT_EQ(published("templates/Qwen-Qwen2.5-7B-Instruct.jinja").think_begin, "");
  EXPECT_EQ(published("templates/Qwen-Qwen3-0.6B.jinja").think_begin, "<think>");
  const ChatFormat qwen35 = published("headers/Qwen3.5-4B.jinja");
  EXPECT_EQ(calls_of(qwen35),
            "|<tool_call>\n<function=NAME>\nARGUMENTS</function>\n</tool_call> "
            "[<parameter=KEY>\nVALUE\n</parameter>\n]|");
  EXPECT_TRUE(qwen35.has_tools && qwen35.has_tool_calls && qwen35.has_tool_results && qwen35.has_parallel_calls);
  EXPECT_TRUE(qwen35.opens_thought("<|im_start|>assistant\n<think>\n"));
  const ChatFormat gpt_oss = published("headers/openai-gpt-oss-120b.jinja");
  EXPECT_EQ(calls_of(gpt_oss), "| to=functions.NAME<|channel|>commentary json<|message|>ARGUMENTS<|call|>|");
  EXPECT_TRUE(gpt_oss.has_channels);
  EXPECT_TRUE(gpt_oss.has_tools && gpt_oss.has_tool_calls && gpt_oss.has_tool_results);
  const ChatFormat llama = published("templates/meta-llama-Llama-3.1-8B-Instruct.jinja");
  EXPECT_EQ(calls_of(llama), "||<|python_tag|>|parameters|");
  EXPECT_TRUE(llama.has_tool_results);
  EXPECT_FALSE(llama.has_parallel_calls);
  EXPECT_FALSE(published("templates/microsoft-Phi-3.5-mini-instruct.jinja").has_tools);
}

TEST(ChatFormat, OpensAThoughtWhereThePromptEndsWithOne) {
  const ChatFormat format = golden_format("tagged");
  EXPECT_TRUE(format.opens_thought("<assistant><think>\n"));
  EXPECT_FALSE(format.opens_thought("<assistant><think>\n\n</think>\n\n"));
  EXPECT_FALSE(format.opens_thought("<assistant>"));
  EXPECT_FALSE(ChatFormat().opens_thought("<think>"));
}

TEST(ChatFormat, ControlTokensAreShown) {
  TestVocab vocab;
  const TokenId calls = vocab.add("[TOOL_CALLS]", TokenType::kControl);
  vocab.add("<think>", TokenType::kUserDefined);
  vocab.add("</think>", TokenType::kUserDefined);
  const auto tokenizer = vocab.make();
  ChatFormat format = golden_format("listed");
  add_tokens(format, *tokenizer);
  EXPECT_EQ(format.shown_tokens, std::vector<TokenId>{calls});
  EXPECT_EQ(format.think_begin, "<think>");  // the vocabulary has it, though the template does not
}

// These templates take turns strictly, calls and results aside: only an assistant's message may follow a result.
TEST(ChatFormat, OfTemplatesThatTakeTurns) {
  const ChatFormat format = format_of(
      "{% set ns = namespace(n=0) %}{% for m in messages %}{% if m.role != 'tool' and not m.tool_calls %}"
      "{% if (m.role == 'user') != (ns.n % 2 == 0) %}{{ raise_exception('turns') }}{% endif %}{% set ns.n = ns.n + 1 %}"
      "{% endif %}{% endfor %}{{ '[TOOLS]' + tools | tojson if tools }}{% for m in messages %}{% if m.role == 'user' %}"
      "[INST]{{ m.content }}[/INST]{% elif m.tool_calls %}[TOOL_CALLS][{% for c in m.tool_calls %}{\"name\": "
      "\"{{ c.function.name }}\", \"arguments\": {{ c.function.arguments | tojson }}, \"id\": \"{{ c.id }}\"}"
      "{{ ', ' if not loop.last }}{% endfor %}]{% elif m.role == 'tool' %}[RESULT]{{ m.content }}[/RESULT]{% else %}"
      "{{ m.content }}</s>{% endif %}{% endfor %}");
  EXPECT_EQ(calls_of(format), "[TOOL_CALLS]|||arguments|list");
  EXPECT_EQ(format.calls->id, "id");
  EXPECT_TRUE(format.has_tools && format.has_tool_calls && format.has_tool_results && format.has_parallel_calls);
}

// Where the template shows no calls, the vocabulary may.
TEST(ChatFormat, CallsOfTheVocabulary) {
  TestVocab vocab;
  const TokenId begin = vocab.add("<|tool_call_start|>", TokenType::kControl);
  const TokenId end = vocab.add("<|tool_call_end|>", TokenType::kControl);
  ChatFormat format = format_of("{{ tools | tojson if tools }}{% for m in messages %}{{ m.content }}{% endfor %}");
  EXPECT_EQ(calls_of(format), "none");
  add_tokens(format, *vocab.make());
  EXPECT_EQ(calls_of(format), "<|tool_call_start|>[|NAME(ARGUMENTS) [KEY=VALUE, ]|]<|tool_call_end|>");
  EXPECT_EQ(format.shown_tokens, (std::vector<TokenId>{begin, end}));
}

// … or the mark around the list of tools.
TEST(ChatFormat, CallsOfAMarkInTheSource) {
  const ChatFormat format = format_of(
      "{{ '<|tool_list_start|>' ~ tools | tojson if tools }}{% for m in messages %}{{ m.content }}{% endfor %}");
  EXPECT_EQ(calls_of(format), "<|tool_call_start|>[|NAME(ARGUMENTS) [KEY=VALUE, ]|]<|tool_call_end|>");
}

std::string refusal(const ChatFormat& format, const ChatMessage& message, const ChatOptions& options = {}) {
  const auto good = check_expressible(format, std::span(&message, 1), options);
  return good ? "" : good.error().message;
}

TEST(ChatFormat, WhatATemplateHasNotIsRefusedByName) {
  const ChatFormat plain = golden_format("plain");
  const ChatFormat bare = golden_format("bare");
  const ChatMessage caller = {.role = "assistant", .tool_calls = {{.name = "f"}, {.name = "g"}}};
  const ChatOptions with_tools = {.tools = R"([{"type": "function"}])"};
  EXPECT_EQ(refusal(plain, {"user", "x"}), "");
  EXPECT_EQ(refusal(plain, {"user", "x"}, {.tools = " [] "}), "");
  EXPECT_TRUE(refusal(plain, {"user", "x"}, with_tools).starts_with("the model's chat template has no tools"));
  EXPECT_TRUE(refusal(plain, caller).starts_with("the model's chat template has no tool calls"));
  EXPECT_TRUE(refusal(bare, caller).starts_with("the model's chat template has no messages with more than one tool"));
  EXPECT_EQ(refusal(bare, {.role = "tool"}, with_tools), "");
  ChatFormat deaf = bare;
  deaf.has_tool_results = false;
  EXPECT_TRUE(
      refusal(deaf, {.role = "tool"}).starts_with("the model's chat template has no messages of the role 'tool'"));
}

}  // namespace
}  // namespace tern
