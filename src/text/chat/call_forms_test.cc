// Each form of tool calls: what a template writes is read back as the same calls, however it is cut, and is what the
// grammar allows.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "text/chat/call_forms_test_support.h"
#include "text/chat/chat_reply_test_support.h"
#include "text/chat/forms/json_scanner.h"

namespace tern {
namespace {

using namespace call_forms_test;
ChatReplyOptions reading(bool streams = false) {
  return {.tool_names = tool_names(kTools).value(), .tools = kTools, .stream_arguments = streams, .id_seed = 3};
}

// Without the order of members, which some templates change.
nlohmann::json value_of(const ToolCall& call) { return nlohmann::json::parse(call.arguments); }

struct Probed {
  ChatTemplate chat;
  ChatFormat format;
};
Probed probed(const Form& form) {
  ChatTemplate chat(template_of(form.calls), "<s>", "</s>");
  return {chat, find_chat_format(chat)};
}

void expect_calls(const ReadReply& read, const std::vector<ToolCall>& calls, const std::string& text) {
  EXPECT_EQ(read.wrong, "");
  EXPECT_EQ(read.message.content, "") << text;
  ASSERT_EQ(read.message.tool_calls.size(), calls.size()) << text << summary(read);
  for (size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(read.message.tool_calls[i].name, calls[i].name);
    EXPECT_EQ(value_of(read.message.tool_calls[i]), value_of(calls[i])) << text;
  }
}

TEST(CallForms, AreReadBackFromWhatTheTemplateWrites) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    const auto [chat, format] = probed(form);
    ASSERT_TRUE(format.calls);
    EXPECT_TRUE(format.has_tools && format.has_tool_calls && format.has_tool_results && format.has_parallel_calls);
    for (const std::vector<ToolCall>& calls : conversations()) {
      const std::string text = rendered(chat, calls);
      expect_calls(read_pieces(format, reading(), {text}), calls, text);
      const ReadReply after = read_pieces(format, reading(), {"So:\n\n", text, "\n\nDone"});
      EXPECT_EQ(after.message.tool_calls.size(), calls.size()) << text;
      EXPECT_TRUE(after.message.content.starts_with("So:")) << after.message.content;
      EXPECT_TRUE(after.message.content.ends_with("Done")) << after.message.content;
      EXPECT_LE(after.message.content.size(), 9u) << after.message.content;
    }
  }
}

TEST(CallForms, EveryCutGivesTheSame) {
  std::mt19937 random(5);
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    const auto [chat, format] = probed(form);
    for (const bool streams : {false, true}) {
      for (const std::vector<ToolCall>& calls : conversations()) {
        const std::string text = "a\n" + rendered(chat, calls) + "\nb";
        const std::string whole = summary(read_pieces(format, reading(streams), {text}));
        EXPECT_EQ(whole, summary(read_pieces(format, reading(), {text})));
        std::vector<std::string_view> bytes;
        for (size_t i = 0; i < text.size(); ++i) bytes.push_back(std::string_view(text).substr(i, 1));
        EXPECT_EQ(summary(read_pieces(format, reading(streams), bytes)), whole);
        for (int round = 0; round < 12; ++round) {
          std::vector<std::string_view> pieces;
          for (std::string_view rest = text; !rest.empty();) {
            const size_t n = std::min<size_t>(rest.size(), 1 + random() % 12);
            pieces.push_back(rest.substr(0, n));
            rest.remove_prefix(n);
          }
          ASSERT_EQ(summary(read_pieces(format, reading(streams), pieces)), whole);
        }
      }
    }
  }
}

// A reply may be cut by its length. A call of which only a part of its last marks is missing is whole, and the other
// part is no content.
TEST(CallForms, ACallWhoseEndIsCutIsWhole) {
  for (const Form& form : kForms) {
    const auto [chat, format] = probed(form);
    if (!format.calls->marked) continue;
    SCOPED_TRACE(form.name);
    const std::vector<ToolCall> calls = conversations()[0];
    const std::string text(without_json_space(rendered(chat, calls)));
    for (const bool streams : {false, true}) {
      size_t n_whole = 0;
      for (size_t n = 1; n <= text.size(); ++n) {
        const ReadReply read = read_pieces(format, reading(streams), {text.substr(0, n)});
        const bool is_whole = read.message.tool_calls.size() == 1 &&
                              nlohmann::json::accept(read.message.tool_calls[0].arguments) &&
                              value_of(read.message.tool_calls[0]) == value_of(calls[0]);
        const bool is_told = streams && !read.message.tool_calls.empty();  // what is cut is no content then either
        if (is_whole || is_told) EXPECT_EQ(read.message.content, "") << text.substr(0, n);
        if (n_whole > 0) EXPECT_TRUE(is_whole) << text.substr(0, n);
        n_whole += is_whole ? 1 : 0;
      }
      const std::string& end = format.calls->marked->pieces.back().text;
      EXPECT_GE(n_whole, std::min<size_t>(end.size(), 4));
    }
  }
}

// Arguments arrive in parts.
TEST(CallForms, ArgumentsAreStreamed) {
  for (const Form& form : kForms) {
    const auto [chat, format] = probed(form);
    if (format.calls->is_list) continue;  // reported at the list's end
    SCOPED_TRACE(form.name);
    const std::string text = rendered(chat, conversations()[0]);
    ChatReplyParser parser(format, reading(true));
    size_t n_parts = 0;
    for (const char c : text) {
      for (const ChatDelta& delta : parser.feed(std::string_view(&c, 1))) {
        n_parts += delta.kind == ChatDelta::Kind::kCallArguments ? 1 : 0;
      }
    }
    EXPECT_GT(n_parts, 20u);
  }
}

// The grammar of a forced call allows exactly what the template writes behind the call's beginning.
TEST(CallForms, GrammarAllowsWhatTheTemplateWrites) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    const auto [chat, format] = probed(form);
    const auto call = tool_call_grammar(format, kTools, {.parallel = true}).value();
    const auto grammar = Grammar::tool_call(call.schema, "");
    ASSERT_TRUE(grammar) << grammar.error().message;
    for (const std::vector<ToolCall>& calls : conversations()) {
      std::string text = rendered(chat, calls);
      text.erase(0, text.find_first_not_of('\n'));
      if (calls.size() > 1 && !format.calls->marked && !format.calls->is_list) continue;  // one call is forced
      ASSERT_TRUE(text.starts_with(call.begin)) << text;
      text.erase(0, call.begin.size());
      ASSERT_TRUE(text.ends_with(call.end)) << text;
      text.resize(text.size() - call.end.size());
      EXPECT_TRUE((*grammar)->matches(text)) << text << "\n" << call.schema;
      EXPECT_FALSE((*grammar)->matches(text + "x"));
      EXPECT_FALSE((*grammar)->matches(text.substr(0, text.size() - 1)));
    }
  }
}

// In a reply that calls by the model's choice, the same text is held to the tools' schemas.
TEST(CallForms, ChosenCallsAreHeldToTheirGrammar) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    const auto [chat, format] = probed(form);
    GenerateOptions generate;
    const auto turn = chat_turn(format, {}, {.tools = kTools}, generate);
    ASSERT_TRUE(turn) << turn.error().message;
    ASSERT_TRUE(generate.calls);
    for (const std::vector<ToolCall>& calls : conversations()) {
      const std::string text = rendered(chat, calls);
      expect_calls(read_pieces(turn->format, turn->reply, {text}), calls, text);
    }
    const std::string wrong = rendered(chat, {{.id = "abcdefghi", .name = "look", .arguments = R"({"days": 1})"}});
    ChatReplyOptions whole = turn->reply;
    whole.stream_arguments = false;  // a reply that no constraint holds
    const ReadReply read = read_pieces(turn->format, whole, {wrong});
    EXPECT_TRUE(read.message.tool_calls.empty()) << wrong;
    EXPECT_EQ(read.message.content, wrong);
  }
}

// Nor does what has begun become content in a reply that must be a call.
TEST(CallForms, RequiredCallsThatBreakOffAreNoContent) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    const auto [chat, format] = probed(form);
    const std::string text = rendered(chat, conversations()[0]);
    const std::string mark(format.calls->begin.empty() ? std::string() : without_json_space(format.calls->begin));
    if (mark.empty()) continue;
    for (size_t n = text.find(mark) + mark.size(); n <= text.size(); ++n) {
      const ReadReply read = read_pieces(format, reading(true), {text.substr(0, n)});
      EXPECT_EQ(without_json_space(read.message.content), "") << text.substr(0, n);
    }
  }
}

// Replies that end anywhere, and calls of other functions, stay content byte for byte.
TEST(CallForms, WhatIsNoCallStaysContent) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    const auto [chat, format] = probed(form);
    const std::string text = rendered(chat, conversations()[0]);
    for (size_t n = 0; n < text.size(); ++n) {
      const ReadReply read = read_pieces(format, reading(), {std::string_view(text).substr(0, n)});
      EXPECT_EQ(read.wrong, "");
      if (read.message.tool_calls.empty()) {
        ASSERT_EQ(read.message.content, text.substr(0, n));
      }
      for (const ToolCall& call : read.message.tool_calls) {
        EXPECT_EQ(value_of(call), value_of(conversations()[0][0]));
      }
    }
    const std::string other = rendered(chat, {{.id = "abcdefghi", .name = "unknown", .arguments = "{\"a\": 1}"}});
    EXPECT_EQ(summary(read_pieces(format, reading(), {other})), "|" + other + "|");
  }
}

// Tags of words around thoughts and content, which the template writes whether there are any or not.
constexpr const char* kTags =
    "{{ tools | tojson if tools }}{% for m in messages %}<|open|>message role=\"{{ m.role }}\"<|sep|>"
    "{% if m.role == 'assistant' %}<|open|>think<|sep|>{{ m.reasoning_content }}<|close|>think<|sep|>"
    "<|open|>response<|sep|>{% endif %}{{ m.content or '' }}{% if m.role == 'assistant' %}<|close|>response<|sep|>"
    "{% endif %}{% if m.tool_calls %}<|open|>tools<|sep|>{% for c in m.tool_calls %}<|open|>call tool=\""
    "{{ c.function.name }}\" index=\"{{ loop.index }}\"<|sep|>{% for k, v in c.function.arguments.items() "
    "%}<|open|>argument "
    "key=\"{{ k }}\" type=\"{{ 'string' if v is string else 'number' }}\"<|sep|>{{ v }}<|close|>argument<|sep|>"
    "{% endfor %}<|close|>call<|sep|>{% endfor %}<|close|>tools<|sep|>{% endif %}<|close|>message<|sep|><|end|>"
    "{% endfor %}{% if add_generation_prompt %}<|open|>message role=\"assistant\"<|sep|><|open|>think<|sep|>{% endif "
    "%}";

TEST(CallForms, TagsAroundTheContentAreNoPartOfIt) {
  const ChatTemplate chat(kTags, "", "");
  const ChatFormat format = find_chat_format(chat);
  EXPECT_EQ(format.think_begin, "<|open|>think<|sep|>");
  EXPECT_EQ(format.think_end, "<|close|>think<|sep|>");
  EXPECT_EQ(format.content_begin, "<|open|>response<|sep|>");
  EXPECT_EQ(format.content_end, "<|close|>response<|sep|>");
  EXPECT_EQ(format.reply_end, "<|close|>message<|sep|>");
  ASSERT_TRUE(format.calls);
  ChatReplyOptions options = reading();
  options.in_thought = true;
  const std::string thought = "Hm.<|close|>think<|sep|><|open|>response<|sep|>", end = "<|close|>message<|sep|>";
  const std::string reply = thought + "It is <b>.<|close|>response<|sep|>";
  const std::string call =
      "<|open|>tools<|sep|><|open|>call tool=\"look\" index=\"1\"<|sep|><|open|>argument key=\"place\" "
      "type=\"string\"<|sep|>5<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>";
  const std::string plain_text = reply + end, with_call = reply + call + end,
                    only_call = thought + "<|close|>response<|sep|>" + call + end;
  for (const size_t n : {size_t{1}, size_t{7}, size_t{1000}}) {
    const auto read = [&](const std::string& text) {
      std::vector<std::string_view> pieces;
      for (size_t at = 0; at < text.size(); at += n) pieces.push_back(std::string_view(text).substr(at, n));
      return summary(read_pieces(format, options, pieces));
    };
    EXPECT_EQ(read(plain_text), "Hm.|It is <b>.|");
    EXPECT_EQ(read(thought + "a" + end + "b<|close|>response<|sep|>"), "Hm.|ab|");
    EXPECT_EQ(read(with_call), "Hm.|It is <b>.|look{\"place\": \"5\"}");
    EXPECT_EQ(read(only_call), "Hm.||look{\"place\": \"5\"}");
  }
  GenerateOptions generate;
  ChatPrompt prompt{.text = "<|open|>message role=\"assistant\"<|sep|><|open|>think<|sep|>"};
  const ToolUse use{.tools = kTools, .choice = ToolUse::Choice::kRequired};
  EXPECT_EQ(chat_turn(format, prompt, use, generate)->prompt.text,
            prompt.text + "<|close|>think<|sep|><|open|>response<|sep|><|close|>response<|sep|><|open|>tools<|sep|>");
  prompt.text = "<|open|>message role=\"assistant\"<|sep|><|open|>response<|sep|>";
  EXPECT_EQ(chat_turn(format, prompt, use, generate)->prompt.text,
            prompt.text + "<|close|>response<|sep|><|open|>tools<|sep|>");
}

// What begins like a marked string is one, so the grammar has no other string that does.
TEST(CallForms, MarkedStringsAreToldFromOthers) {
  const Form* const form = std::ranges::find_if(
      kForms, [](const Form& one) { return one.name == std::string_view("XML parameters with CDATA"); });
  const ChatTemplate chat(template_of(form->calls), "", "");
  const ChatFormat format = find_chat_format(chat);
  ASSERT_EQ(format.calls->marked->text_begin, "<![CDATA[");
  const auto call = tool_call_grammar(format, kTools, {.name = "look"}).value();
  const auto grammar = Grammar::tool_call(call.schema, "").value();
  const auto allows = [&](const std::string& value) {
    return grammar->matches("look\"><param name=\"place\">" + value + "</param></function>");
  };
  EXPECT_TRUE(allows("a & b"));
  EXPECT_TRUE(allows("<![CDATA[<![CDATA[</param>]]>"));
  EXPECT_FALSE(allows("<![CDATA[a"));
  EXPECT_FALSE(allows("<b>"));
  EXPECT_FALSE(allows("<![CDATA[a]]>b"));
}

// A text by a grammar, in every form: what a template writes is allowed if the grammar allows the text, and the mark
// behind a text cannot be a part of it.
TEST(CallForms, TextsByAGrammar) {
  const std::string tools =
      R"([{"type": "function", "function": {"name": "patch", "description": "c", "parameters": {"type": "object",
          "properties": {"input": {"type": "string", "$lark": "start: line+\nline: \"+\" /.*/ \"\\n\""}},
          "required": ["input"], "additionalProperties": false}}}])";
  for (const Form& form : kForms) {
    if (form.name == std::string_view("Python")) continue;  // this one writes single quotes, grammars have JSON's
    SCOPED_TRACE(form.name);
    const auto [chat, format] = probed(form);
    const auto call = tool_call_grammar(format, tools, {.parallel = false}).value();
    const auto grammar = Grammar::tool_call(call.schema, "");
    ASSERT_TRUE(grammar) << grammar.error().message;
    const auto is_allowed = [&](const std::string& input) {
      const std::string arguments = nlohmann::json{{"input", input}}.dump();
      std::string text = rendered(chat, {{.id = "abcdefghi", .name = "patch", .arguments = arguments}});
      text.erase(0, text.find_first_not_of('\n'));
      EXPECT_TRUE(text.starts_with(call.begin)) << text;
      text.erase(0, std::min(call.begin.size(), text.size()));
      text.resize(text.size() - std::min(call.end.size(), text.size()));
      return (*grammar)->matches(text);
    };
    EXPECT_TRUE(is_allowed("+a <b> \"c\"\n+\n+é\\d\n"));
    EXPECT_FALSE(is_allowed("+a\n-b\n"));
    EXPECT_FALSE(is_allowed("+a"));
    EXPECT_FALSE(is_allowed(""));
    const auto* marked = format.calls->marked ? &*format.calls->marked : nullptr;
    if (!marked || marked->values != MarkedCalls::Values::kText || !marked->text_begin.empty()) continue;
    EXPECT_FALSE(is_allowed("+a" + std::string(without_json_space(marked->value_end)) + "\n"));
  }
}

// With a schema that says so, arguments come in any order.
TEST(CallForms, ArgumentsInAnyOrder) {
  std::string tools = kTools;
  const std::string_view parameters = "\"parameters\": {\"type\"";
  for (size_t at = tools.find(parameters); at != std::string::npos; at = tools.find(parameters, at + 20)) {
    tools.replace(at, parameters.size(), "\"parameters\": {\"$anyOrder\": true, \"type\"");
  }
  const ToolCall call = {.id = "abcdefghi",
                         .name = "look",
                         .arguments = R"({"more": {"unit": "C", "list": [1]}, "exact": true, "place": "Rome"})"};
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    const auto [chat, format] = probed(form);
    const auto allows = [&](const std::string& list) {
      const auto forced = tool_call_grammar(format, list, {.parallel = true}).value();
      const auto grammar = Grammar::tool_call(forced.schema, "").value();
      std::string text = rendered(chat, {call});
      text.erase(0, text.find_first_not_of('\n') + forced.begin.size());
      text.resize(text.size() - forced.end.size());
      return grammar->matches(text);
    };
    EXPECT_TRUE(allows(tools));
    EXPECT_EQ(allows(kTools), form.name == std::string_view("Gemma"));  // this one sorts
  }
}

}  // namespace
}  // namespace tern
