// `tern chat` without a terminal: plain lines in, plain text out. Most tests use the default model without its
// template, so that it continues texts.
#include <gtest/gtest.h>

#include <algorithm>

#include "end_to_end/corrupt_gguf.h"
#include "end_to_end/run_program.h"
#include "support/plain_model.h"

namespace tern::test {
namespace {

RunResult chat(const std::string& input, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"chat", "-m", plain_model(), "--temp", "0", "-n", "30"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_tern(arguments, {.input = input});
}

TEST(Chat, SaysInOneLineThatThereIsNoTemplate) {
  const RunResult result = chat("");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("no chat template"), std::string::npos) << result.err;
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
}

TEST(Chat, ContinuesEachLineAndKeepsTheContext) {
  const RunResult one = chat("Once upon a time, there was a bear.\n");
  const RunResult two = chat("Once upon a time, there was a bear.\nThen he saw\n");
  const RunResult fresh = chat("Then he saw\n");
  EXPECT_EQ(two.exit_code, 0) << two.err;
  ASSERT_GT(one.out.size(), 10u);
  ASSERT_TRUE(two.out.starts_with(one.out)) << one.out << "---\n" << two.out;
  EXPECT_NE(two.out.substr(one.out.size()), fresh.out) << "the second line was read without the first";
}

TEST(Chat, ResetForgets) {
  const RunResult first = chat("The dog\n");
  const RunResult again = chat("Once upon a time\n/reset\nThe dog\n");
  ASSERT_GT(first.out.size(), 10u);
  EXPECT_TRUE(again.out.ends_with(first.out)) << first.out << "---\n" << again.out;
}

TEST(Chat, CommandsGoToStandardErrorAndQuitEndsIt) {
  const RunResult result = chat("/help\n/stats\n/nonsense\n/quit\nOnce upon a time\n");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  for (const char* word : {"/reset", "no reply yet", "/nonsense"}) {
    EXPECT_NE(result.err.find(word), std::string::npos) << word << " is missing from " << result.err;
  }
}

TEST(Chat, SettingsChangeTheReplies) {
  const RunResult result = chat("/set\n/set temp 5\n/set nonsense 1\n/set max-tokens 2\n/set temp\nOnce upon a time\n");
  EXPECT_EQ(result.exit_code, 0);
  for (const char* word : {"top-k", "temp is 5", "there is no setting 'nonsense'", "max-tokens is 2"}) {
    EXPECT_NE(result.err.find(word), std::string::npos) << word << " is missing from " << result.err;
  }
  EXPECT_LT(result.out.size(), 40u) << result.out;
  EXPECT_NE(chat("/set temp -1\n").err.find("'-1' is not a number from 0 to 100"), std::string::npos);
}

TEST(Chat, AStoryIsSavedAndGoesOnWhereItWas) {
  const ScratchFolder folder;
  const std::string path = folder.path("story.json");
  const RunResult whole = chat("Once upon a time, there was a bear.\nThen he saw\n");
  const RunResult first = chat("Once upon a time, there was a bear.\n/save " + path + "\n");
  const RunResult second = chat("/load " + path + "\nThen he saw\n");
  EXPECT_EQ(first.out + second.out, whole.out) << second.err;
}

TEST(Chat, SaysWhatIsWrongWithAFile) {
  const ScratchFolder folder;
  const auto load = [](const std::string& path) { return chat("/load " + path + "\n").err; };
  EXPECT_NE(load("/nowhere/x.json").find("/nowhere/x.json"), std::string::npos);
  EXPECT_NE(load(folder.write("a", "hello")).find("not JSON"), std::string::npos);
  EXPECT_NE(load(folder.write("b", "{}")).find("no list of messages"), std::string::npos);
  EXPECT_NE(load(folder.write("c", "[{}]")).find("message 1"), std::string::npos);
  EXPECT_NE(load(folder.write("d", R"([{"role": "user", "content": "x"}])")).find("no chat template"),
            std::string::npos);
  EXPECT_NE(chat("/save /nowhere/x.json\n").err.find("No such file"), std::string::npos);
}

TEST(Chat, TwoSlashesBeginAMessageWithOne) {
  const RunResult result = chat("//help me\n/helpme\n/quit now\n");
  EXPECT_GT(result.out.size(), 3u);
  EXPECT_EQ(result.err.find("/save FILE"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("there is no command /helpme"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("/quit takes nothing after it"), std::string::npos) << result.err;
}

TEST(Chat, GoesOnWhenTheContextIsFull) {
  std::string input;
  for (int i = 0; i < 12; ++i) input += "and then he went on and on to the next house of the town\n";
  const RunResult result = chat(input, {"--ctx", "128", "--ignore-eos"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("forgotten"), std::string::npos) << result.err;
  EXPECT_GE(std::ranges::count(result.out, '\n'), 12) << result.out;
}

TEST(Chat, LineLongerThanTheContext) {
  std::string line;
  for (int i = 0; i < 1200; ++i) line += "cat and ";
  EXPECT_EQ(chat(line + "\n").exit_code, 2);
}

constexpr const char* kNote = "tells short children's stories and knows little else; -m names another)";

// The default model chats with its own template, and prints its name and limits to standard error.
TEST(Chat, TheDefaultModelTalks) {
  const std::string asked = "Tell me a story about a hedgehog and a key.";
  const RunResult result = run_tern({"chat", "--temp", "0"}, {.input = asked + "\n"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GT(result.out.size(), 100u) << result.out;
  EXPECT_FALSE(result.out.contains("<|")) << result.out;
  EXPECT_TRUE(result.err.contains("(the default model, Tern Stories 34M: it ")) << result.err;
  EXPECT_TRUE(result.err.contains(kNote)) << result.err;
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  const RunResult once = run_tern({"run", "--chat", "--temp", "0", asked});
  EXPECT_EQ(once.out, result.out);
  EXPECT_EQ(once.err, result.err);
}

TEST(Chat, OnlyTheModelThatNobodyNamedIsExplained) {
  EXPECT_EQ(run_tern({"chat", "-m", default_model()}).err, "");
  EXPECT_EQ(run_tern({"run", "-m", default_model(), "-n", "1", "Once"}).err, "");
  EXPECT_EQ(run_tern({"chat"}, {.variables = {{"TERN_MODEL", default_model()}}}).err, "");
  EXPECT_TRUE(run_tern({"run", "-n", "1", "Once"}).err.contains(kNote));
  EXPECT_TRUE(run_tern({"models"}).out.contains("tells short children's stories"));
}

// The default model with another template. Its answers make no sense; the tests check what it is asked.
class TemplateChat : public testing::Test {
 protected:
  TemplateChat() {
    GgufImage model = GgufImage::parse(read_file(default_model()));
    model.set_string(
        "tokenizer.chat_template",
        "{{ bos_token }}{% for message in messages %}<{{ message.role }}> {{ message.content }}\n{% endfor %}"
        "{% if add_generation_prompt %}<assistant>{% endif %}");
    path_ = folder_.write("chat.gguf", model.bytes());
  }

  RunResult chat(const std::string& input, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"chat", "-m", path_, "--temp", "0", "-n", "20", "--ignore-eos"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_tern(arguments, {.input = input});
  }

  ScratchFolder folder_;
  std::string path_;
};

TEST_F(TemplateChat, FirstReplyIsWhatTheRenderedTextContinuesWith) {
  const RunResult reply = chat("Hello\n", {"--system", "Be kind"});
  EXPECT_EQ(reply.exit_code, 0) << reply.err;
  EXPECT_EQ(reply.err, "");
  const RunResult raw = run_tern({"run", "-m", default_model(), "--temp", "0", "-n", "20", "--ignore-eos", "--no-echo",
                                  "-p", "<system> Be kind\n<user> Hello\n<assistant>"});
  const size_t start = raw.out.find_first_not_of(" \n");
  ASSERT_NE(start, std::string::npos);
  EXPECT_EQ(reply.out, raw.out.substr(start));
  const RunResult once = run_tern(
      {"run", "-m", path_, "--chat", "--system", "Be kind", "-p", "Hello", "--temp", "0", "-n", "20", "--ignore-eos"});
  EXPECT_EQ(once.out, raw.out);
}

TEST_F(TemplateChat, ThePromptCanBeSeen) {
  const std::vector<std::string> arguments = {"run", "-m",    path_, "--chat", "--system",      "Be kind",
                                              "-p",  "Hello", "-n",  "20",     "--print-prompt"};
  const RunResult shown = run_tern(arguments);
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_NE(shown.out.find("<system> Be kind\\n\n<user> Hello\\n\n<assistant>\n\n"), std::string::npos) << shown.out;
  EXPECT_TRUE(failed_with(run_tern({"run", "-m", plain_model(), "--chat", "-p", "Hello", "--print-prompt"}), 1,
                          {"no chat template", "--chat"}));
}

TEST_F(TemplateChat, ToolsAreOfferedWhereTheTemplateHasThem) {
  const std::string tools = folder_.write("tools.json", R"([{"type": "function", "function": {"name": "add"}}])");
  std::vector<std::string> arguments = {"run", "-m", path_, "--chat", "--tools", tools, "-p", "Hello", "-n", "5"};
  EXPECT_TRUE(failed_with(run_tern(arguments), 1, {"the model's chat template has no tools"}));
  arguments.insert(arguments.end(), {"--template", folder_.write("tools.jinja", R"({% for tool in tools or [] -%}
{{ tool | tojson }}|{% endfor %}{{ messages[0].content }}{% if messages[1] %}<tool_call>
{{ messages[1].tool_calls[0].function | tojson }}
</tool_call>{% endif %})")});
  std::vector<std::string> shown = arguments;
  shown.push_back("--print-prompt");
  EXPECT_NE(run_tern(shown).out.find(R"({"type": "function", "function": {"name": "add"}}|Hello)"), std::string::npos);
  arguments.push_back("--json");
  const RunResult reply = run_tern(arguments);
  EXPECT_EQ(reply.exit_code, 0) << reply.err;
  EXPECT_NE(reply.out.find("\"tool_calls\": []"), std::string::npos) << reply.out;
  EXPECT_NE(reply.out.find("\"content\": "), std::string::npos) << reply.out;
  EXPECT_TRUE(failed_with(run_tern({"run", "--tools", tools, "-p", "Hello"}), 2, {"--tools", "needs --chat"}));
  EXPECT_TRUE(failed_with(run_tern({"run", "-m", path_, "--chat", "--tools", folder_.write("x", "{}"), "-p", "Hello"}),
                          2, {"tools: no list"}));
}

TEST_F(TemplateChat, RemembersUntilTheContextIsFullThenForgetsTheOldestTurns) {
  std::string input;
  for (int i = 0; i < 8; ++i) input += "What did the bear say to the fox?\n";
  const RunResult roomy = chat(input);
  EXPECT_EQ(roomy.err, "");
  const RunResult tight = chat(input, {"--ctx", "100"});
  EXPECT_EQ(tight.exit_code, 0) << tight.err;
  EXPECT_NE(tight.err.find("forgotten"), std::string::npos) << tight.err;
}

TEST_F(TemplateChat, SystemMessagesAndSavedConversations) {
  const std::string path = folder_.path("chat.json");
  const RunResult option = chat("Hello\nAnd again\n", {"--system", "Be kind"});
  const RunResult command = chat("/system Be kind\nHello\nAnd again\n");
  EXPECT_EQ(command.out, option.out);
  const RunResult first = chat("/system Be kind\nHello\n/save " + path + "\n");
  const RunResult second = chat("/load " + path + "\n/system\nAnd again\n");
  EXPECT_EQ(first.out + second.out, option.out) << second.err;
  EXPECT_NE(second.err.find("system: Be kind"), std::string::npos) << second.err;
  const std::string two =
      folder_.write("two.json", R"([{"role": "user", "content": "x"}, {"role": "user", "content": "y"}])");
  EXPECT_NE(chat("/load " + two + "\n").err.find("message 2 has the role 'user'"), std::string::npos);
}

TEST_F(TemplateChat, EmptyLinesAreNoMessages) { EXPECT_EQ(chat("\n  \n\n").out, ""); }

}  // namespace
}  // namespace tern::test
